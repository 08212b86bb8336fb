/** Returns the items that a loop of assertions goes over; without any the test fails, because nothing would be asserted. */
export function nonEmpty<Item>(items: Iterable<Item>): readonly Item[] {
  const list = [...items];
  if (list.length === 0) throw new Error('the list is empty, so nothing would be asserted');
  return list;
}
