/** Says of what cannot be drawn that it is there. */
export function Unknown({ what, type }: { readonly what: 'block' | 'element'; readonly type: string }) {
  return <div className="block-unknown">{`This page does not draw ${what}s of type “${type}”.`}</div>;
}
