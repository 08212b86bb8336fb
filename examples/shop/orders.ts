import { z } from 'zod';

/** An order of the shop; amounts are in cents. */
export const Order = z.object({
  id: z.string(),
  customer: z.string(),
  item: z.string(),
  amount: z.number().int(),
  refunded: z.number().int(),
});
export type Order = Readonly<z.infer<typeof Order>>;

/** The orders that the shop opens with. */
export const ORDERS: readonly Omit<Order, 'refunded'>[] = [
  { id: 'A-1001', customer: 'Hooper Ltd', item: 'Standing desk', amount: 45_000 },
  { id: 'A-1002', customer: 'Hooper Ltd', item: 'Desk lamp', amount: 8_900 },
  { id: 'A-1003', customer: 'Ines Marr', item: 'Office chair', amount: 32_000 },
  { id: 'A-1004', customer: 'Tomo Arai', item: 'Notebook, 10 pieces', amount: 2_400 },
  { id: 'A-1005', customer: 'Lund & Co', item: 'Meeting table', amount: 78_000 },
];

/** Customers who are paid by bank transfer, which takes seconds; the others get their money at once. */
export const PAID_BY_TRANSFER: readonly string[] = ['Lund & Co'];
