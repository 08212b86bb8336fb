import { z } from 'zod';
import { Order } from '../../../examples/shop/orders.ts';
import { askQuestion, type Question } from '../ask-question.ts';
import { describeOutcome } from '../describe-outcome.ts';
import { WHICH_ORDER } from '../orders.ts';
import { formatMoney, parseAmount, parseOrderId, parseReason } from '../parse-text.ts';
import { callTools, latestCall, type NextStep, type PastCall, type Rule, reply } from '../rule.ts';

const HOW_MUCH: Question = {
  question: 'How much should I refund?',
  choices: ['All of it', 'Half of it', '$20.00'],
};
const Ran = z.object({ orderId: z.string(), refunded: z.number(), total: z.number() });
const Input = z.object({ orderId: z.string(), amount: z.number() });

/** Reads the order, then calls the refund tool; whether approval is needed is not the model's decision. */
export const refundOrder: Rule = {
  example: 'Please refund 120 dollars of order A-1001, the top is scratched.',
  patterns: [/\brefund/i, /\bmoney back\b/i, /\b(?:pay|give) back\b/i, /\breimburse/i],

  next({ text, calls, approvalNote }) {
    const known = parseOrderId(text);
    const which = known === undefined ? askQuestion(calls, WHICH_ORDER) : { answer: known };
    if ('step' in which) return which.step;
    const orderId = parseOrderId(which.answer) ?? which.answer;

    const read = latestCall(calls, 'read_order');
    if (read === undefined)
      return callTools({ name: 'read_order', arguments: { orderId } }, `Looking up order ${orderId}.\n\n`);
    if (read.outcome.kind === 'closed')
      return reply(describeOutcome(`reading order ${orderId}`, read.outcome), 'Nothing was refunded.');
    const order = Order.parse(read.outcome.output);
    const left = order.amount - order.refunded;
    if (left === 0) return reply(`Order ${order.id} is already fully refunded.`);

    const given = parseAmount(text, left);
    const how = given === undefined ? askQuestion(calls, HOW_MUCH) : undefined;
    if (how !== undefined && 'step' in how) return how.step;
    const amount = given ?? parseAmount(how?.answer ?? '', left);
    if (amount === undefined)
      return reply(`I can't read “${how?.answer}” as an amount, so I didn't request a refund.`);
    if (amount > left)
      return reply(
        `Only ${formatMoney(left)} of order ${order.id} (${order.item}, ${formatMoney(order.amount)}) is left to refund, so I didn't request ${formatMoney(amount)}.`,
      );

    const refund = latestCall(calls, 'refund_order');
    if (refund !== undefined) return tellRefund(refund, amount);
    return callTools(
      { name: 'refund_order', arguments: { orderId: order.id, amount, reason: parseReason(text) } },
      `Order ${order.id} is ${order.item} for ${order.customer}. I'd like to refund ${formatMoney(amount)} of ${formatMoney(order.amount)}.`,
      approvalNote('refund_order'),
    );
  },
};

function tellRefund({ input, outcome }: PastCall, wanted: number): NextStep {
  const asked = Input.parse(input);
  if (outcome.kind === 'closed')
    return reply(
      describeOutcome(`the refund of ${formatMoney(asked.amount)} for order ${asked.orderId}`, outcome),
    );
  const { orderId, refunded, total } = Ran.parse(outcome.output);
  return reply(
    `Refunded ${formatMoney(refunded)} of order ${orderId}.`,
    refunded === wanted ? '' : `You asked for ${formatMoney(wanted)}; it was changed before approval.`,
    total === refunded ? '' : `${formatMoney(total)} of this order refunded in total.`,
  );
}
