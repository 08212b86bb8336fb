import { z } from 'zod';
import { askPerson, type Question } from '../ask-question.ts';
import { tellClosed } from '../describe-outcome.ts';
import { Order, WHICH_ORDER } from '../orders.ts';
import { amountIn, money, orderIn, reasonIn } from '../parse-text.ts';
import { call, latest, type Move, type Scene, type Step, say } from '../rule.ts';

const HOW_MUCH: Question = {
  question: 'How much is to be refunded?',
  choices: ['All of it', 'Half of it', '$20.00'],
};
const Ran = z.object({ orderId: z.string(), refunded: z.number(), total: z.number() });
const Input = z.object({ orderId: z.string(), amount: z.number() });

/** Reads the order, then asks for the refund; whether that has to be signed is not the model's to decide. */
export const refundOrder: Scene = {
  example: 'Please refund 120 dollars of order A-1001, the top is scratched.',
  takes: [/\brefund/i, /\bmoney back\b/i, /\b(?:pay|give) back\b/i, /\breimburse/i],

  play({ words, steps, ruleFor }) {
    const known = orderIn(words);
    const which = known === undefined ? askPerson(steps, WHICH_ORDER) : { answer: known };
    if ('move' in which) return which.move;
    const orderId = orderIn(which.answer) ?? which.answer;

    const read = latest(steps, 'read_order');
    if (read === undefined)
      return call(
        { name: 'read_order', arguments: { orderId } },
        `Let me look at order ${orderId} first.\n\n`,
      );
    if (read.outcome.kind === 'closed')
      return say(tellClosed(`reading order ${orderId}`, read.outcome), 'Nothing was refunded.');
    const order = Order.parse(read.outcome.output);
    const left = order.amount - order.refunded;
    if (left === 0) return say(`All of order ${order.id} has been refunded already, so I ask for nothing.`);

    const said = amountIn(words, left);
    const how = said === undefined ? askPerson(steps, HOW_MUCH) : undefined;
    if (how !== undefined && 'move' in how) return how.move;
    const amount = said ?? amountIn(how?.answer ?? '', left);
    if (amount === undefined)
      return say(`I cannot read “${how?.answer}” as an amount, so I ask for no refund.`);
    if (amount > left)
      return say(
        `Of order ${order.id} (${order.item}, ${money(order.amount)}) only ${money(left)} is left to refund, so I do not ask for ${money(amount)}.`,
      );

    const refund = latest(steps, 'refund_order');
    if (refund !== undefined) return tellRefund(refund, amount);
    return call(
      { name: 'refund_order', arguments: { orderId: order.id, amount, reason: reasonIn(words) } },
      `Order ${order.id} is ${order.item}, for ${order.customer}. I ask to refund ${money(amount)} of ${money(order.amount)}.`,
      ruleFor('refund_order'),
    );
  },
};

function tellRefund({ input, outcome }: Step, wanted: number): Move {
  const asked = Input.parse(input);
  if (outcome.kind === 'closed')
    return say(tellClosed(`the refund of ${money(asked.amount)} for order ${asked.orderId}`, outcome));
  const { orderId, refunded, total } = Ran.parse(outcome.output);
  return say(
    `Refunded ${money(refunded)} of order ${orderId}.`,
    refunded === wanted ? '' : `You had asked for ${money(wanted)}; it was changed before it was signed.`,
    total === refunded ? '' : `That makes ${money(total)} of this order in all.`,
  );
}
