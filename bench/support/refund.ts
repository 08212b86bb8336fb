/** The tool of the bench in words; every side declares it in its own way. */
export const REFUND_TOOL = {
  name: 'refund_order',
  description: 'Refunds an order, in part or in full, and returns what was refunded.',
  order: 'the order number, as the customer gives it',
  amount: 'the amount in cents',
  reason: 'why, for the books',
} as const;

export const INSTRUCTIONS =
  'You help the people of a shop with their orders. Be brief, and ask when something is unclear.';
export const REQUEST_TEXT = 'Please refund order A-1001; it arrived damaged and the customer is waiting.';

/** Does the work of the tool. */
export function refund(order: string, amount: number): { readonly refunded: number; readonly order: string } {
  return { refunded: amount, order };
}
