import { Order } from '../../../examples/shop/orders.ts';
import { SAMPLE_ORDERS } from '../orders.ts';
import { formatMoney } from '../parse-text.ts';
import { callTools, type Rule } from '../rule.ts';

/** Reads several orders in parallel and completes the task with its result as data. */
export const checkAllOrders: Rule = {
  example: 'Check all orders and sum up.',
  tool: 'read_order',
  patterns: [/\b(?:all|the|every) orders?\b.*\bsum\b/i, /\bcheck (?:all|every|the) orders?\b/i],

  next({ calls }) {
    const reads = calls.filter(({ tool }) => tool === 'read_order');
    if (reads.length === 0)
      return callTools(
        SAMPLE_ORDERS.map((orderId) => ({ name: 'read_order', arguments: { orderId } })),
        'Reading the orders.\n\n',
      );
    const found = reads.flatMap(({ outcome }) =>
      outcome.kind === 'output' ? [Order.parse(outcome.output)] : [],
    );
    const sold = found.reduce((sum, { amount }) => sum + amount, 0);
    const refunded = found.reduce((sum, { refunded: cents }) => sum + cents, 0);
    const missing = reads.length - found.length;
    return callTools({
      name: 'complete_task',
      arguments: {
        outcome: missing === 0 ? 'done' : 'partly-done',
        summary: `${found.length} orders worth ${formatMoney(sold)}, ${formatMoney(refunded)} refunded.${missing === 0 ? '' : ` ${missing} could not be read.`}`,
        result: { orders: found.length, notRead: missing, sold, refunded },
      },
    });
  },
};
