import { z } from 'zod';
import type { ToolContext } from '../../agent/tool.ts';

/** An order in the sample shop; amounts are in cents. */
export const Order = z.object({
  id: z.string(),
  customer: z.string(),
  item: z.string(),
  amount: z.number().int(),
  refunded: z.number().int(),
});
export type Order = Readonly<z.infer<typeof Order>>;

/** What the sample tools need of the shop's ledger; `src/store/redis-ledger.ts` keeps it in Redis. */
export interface Ledger {
  order(id: string): Promise<Order | undefined>;
  /** Books a refund once for a key, however often it is asked to. */
  refund(
    id: string,
    amount: number,
    key: string,
  ): Promise<{ readonly outcome: 'refunded' | 'too-much' | 'unknown-order'; readonly order?: Order }>;
  /** Removes a customer with all orders; gives how many there were. */
  deleteCustomer(customer: string): Promise<number>;
}

const Service = z.custom<Ledger>((value) => typeof value === 'object' && value !== null && 'refund' in value);

/** Finds the ledger among what the tool was given. */
export function ledgerIn(context: ToolContext): Ledger {
  const found = Service.safeParse(context.ledger);
  if (!found.success) throw new Error('This sample needs the ledger, which only the bot provides');
  return found.data;
}
