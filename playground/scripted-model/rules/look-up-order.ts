import { askPerson } from '../ask-question.ts';
import { tellClosed } from '../describe-outcome.ts';
import { Order, WHICH_ORDER } from '../orders.ts';
import { money, orderIn } from '../parse-text.ts';
import { call, latest, type Scene, say } from '../rule.ts';

/** Tells what was bought; asks which order it was where the person did not say. */
export const lookUpOrder: Scene = {
  example: 'Please look up an order for me.',
  takes: [/\b(?<!\bin )orders?\b/i, /\bA-?\d{4,}\b/i, /\bwhat was (?:bought|sold)\b/i],

  play({ words, steps }) {
    const known = orderIn(words);
    const asked = known === undefined ? askPerson(steps, WHICH_ORDER) : { answer: known };
    if ('move' in asked) return asked.move;

    const orderId = orderIn(asked.answer) ?? asked.answer;
    const read = latest(steps, 'read_order');
    if (read === undefined) return call({ name: 'read_order', arguments: { orderId } });
    if (read.outcome.kind === 'closed') return say(tellClosed(`reading order ${orderId}`, read.outcome));
    const { id, customer, item, amount, refunded } = Order.parse(read.outcome.output);
    return say(
      `Order ${id}: ${item}, bought by ${customer} for ${money(amount)}.`,
      refunded === 0 ? 'Nothing of it was refunded.' : `${money(refunded)} of it was refunded.`,
    );
  },
};
