import { z } from 'zod';
import { Order } from '../../../examples/shop/orders.ts';
import { askQuestion, type Question } from '../ask-question.ts';
import { describeOutcome, rejectionReason } from '../describe-outcome.ts';
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
  tool: 'refund_order',
  patterns: [/\brefund/i, /\bmoney back\b/i, /\b(?:pay|give) back\b/i, /\breimburse/i],

  next({ text, context, calls, approvalNote }) {
    const known = parseOrderId(text) ?? parseOrderId(context);
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

    const reason = parseReason(text);
    const [first, second] = calls.filter(({ tool }) => tool === 'refund_order');
    if (second !== undefined) return tellRefund(second);
    if (first !== undefined)
      return proposeLess(first, { orderId: order.id, reason }) ?? tellRefund(first, amount);
    return callTools(
      { name: 'refund_order', arguments: { orderId: order.id, amount, reason } },
      `Order ${order.id} is ${order.item} for ${order.customer}. I'd like to refund ${formatMoney(amount)} of ${formatMoney(order.amount)}.`,
      approvalNote('refund_order'),
    );
  },
};

/** Up to this many cents the shop's manifest asks nobody; what was rejected must not get through that way. */
const RUNS_AT_ONCE = 10_000;

/** Answers a rejection with a smaller refund: the amount in its reason, or else half. Only if that is asked for again. */
function proposeLess(
  { input, outcome }: PastCall,
  { orderId, reason }: { readonly orderId: string; readonly reason: string },
): NextStep | undefined {
  const why = outcome.kind === 'closed' ? rejectionReason(outcome) : undefined;
  if (why === undefined) return undefined;
  const asked = Input.parse(input).amount;
  const named = /[$€£]|\bdollars?\b|\bhalf\b/i.test(why) ? parseAmount(why, asked) : Math.floor(asked / 2);
  if (named === undefined || named >= asked || named <= RUNS_AT_ONCE) return undefined;
  return callTools(
    { name: 'refund_order', arguments: { orderId, amount: named, reason } },
    `The refund of ${formatMoney(asked)} was rejected: “${why}” I propose ${formatMoney(named)} instead.`,
  );
}

function tellRefund({ input, outcome }: PastCall, wanted?: number): NextStep {
  const asked = Input.parse(input);
  if (outcome.kind === 'closed')
    return reply(
      describeOutcome(`the refund of ${formatMoney(asked.amount)} for order ${asked.orderId}`, outcome),
    );
  const { orderId, refunded, total } = Ran.parse(outcome.output);
  return reply(
    `Refunded ${formatMoney(refunded)} of order ${orderId}.`,
    wanted === undefined || refunded === wanted
      ? ''
      : `You asked for ${formatMoney(wanted)}; it was changed before approval.`,
    total === refunded ? '' : `${formatMoney(total)} of this order refunded in total.`,
  );
}
