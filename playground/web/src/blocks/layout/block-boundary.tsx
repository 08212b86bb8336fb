import { Component, type ReactNode } from 'react';

interface BoundaryProps {
  readonly type: string;
  readonly children: ReactNode;
}

/** Keeps a block that cannot be drawn from taking the page with it. */
export class BlockBoundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    return <div className="block-unknown">{`A block of type “${this.props.type}” could not be drawn.`}</div>;
  }
}
