/** A call in words, of which only the title matters. */
export function presentedAs(title: string) {
  return { title, fields: [], hasTitle: false, isComplete: false };
}
