import type { ReactNode } from 'react';

interface ScrollFrameProps {
  readonly className: string;
  readonly label: string;
  readonly children: ReactNode;
}

/** A scrollable area that can be focused with the keyboard. */
export function ScrollFrame({ className, label, children }: ScrollFrameProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset groups inputs, and this holds anything.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it nobody could scroll here with the keyboard.
    <div className={className} role="group" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}
