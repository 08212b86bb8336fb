import { Fragment, type ReactNode } from 'react';

/** Renders a list whose items have no identity except their index. */
export function renderList<T>(items: readonly T[], draw: (item: T, index: number) => ReactNode): ReactNode {
  return items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the place is all that there is.
    <Fragment key={index}>{draw(item, index)}</Fragment>
  ));
}
