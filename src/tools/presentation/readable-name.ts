/** Turns the name of a tool or an argument into words: `refund_order` and `refundOrder` become "Refund order". */
export function readableName(name: string): string {
  const words = name
    .replaceAll(
      /([a-z0-9])([A-Z])(?=[a-z])/g,
      (_, before: string, after: string) => `${before} ${after.toLowerCase()}`,
    )
    .replaceAll(/[_-]+/g, ' ')
    .trim();
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
