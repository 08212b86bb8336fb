import { Order } from '../../../examples/shop/orders.ts';
import { askQuestion } from '../ask-question.ts';
import { describeOutcome } from '../describe-outcome.ts';
import { WHICH_ORDER } from '../orders.ts';
import { formatMoney, parseOrderId } from '../parse-text.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

/** Describes an order; asks which one when the message does not name it. */
export const lookUpOrder: Rule = {
  example: 'Please look up an order for me.',
  tool: 'read_order',
  patterns: [/\b(?<!\bin )orders?\b/i, /\bA-?\d{4,}\b/i, /\bwhat was (?:bought|sold)\b/i],

  next({ text, context, calls }) {
    const known = parseOrderId(text) ?? parseOrderId(context);
    const asked = known === undefined ? askQuestion(calls, WHICH_ORDER) : { answer: known };
    if ('step' in asked) return asked.step;

    const orderId = parseOrderId(asked.answer) ?? asked.answer;
    const read = latestCall(calls, 'read_order');
    if (read === undefined) return callTools({ name: 'read_order', arguments: { orderId } });
    if (read.outcome.kind === 'closed')
      return reply(describeOutcome(`reading order ${orderId}`, read.outcome));
    const { id, customer, item, amount, refunded } = Order.parse(read.outcome.output);
    return reply(
      `Order ${id}: ${item}, bought by ${customer} for ${formatMoney(amount)}.`,
      refunded === 0 ? 'No refunds so far.' : `Refunded so far: ${formatMoney(refunded)}.`,
    );
  },
};
