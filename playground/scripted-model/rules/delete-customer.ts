import { z } from 'zod';
import { askPerson, type Question } from '../ask-question.ts';
import { tellClosed } from '../describe-outcome.ts';
import { call, latest, type Scene, say } from '../rule.ts';

const CUSTOMERS = ['Hooper Ltd', 'Ines Marr', 'Tomo Arai'];
const WHICH_CUSTOMER: Question = { question: 'Which customer is to be deleted?', choices: CUSTOMERS };
const Deleted = z.object({ deletedOrders: z.number() });
const Input = z.object({ customer: z.string() });

/** Asks to delete a customer, which the shipped manifest has two people sign. */
export const deleteCustomer: Scene = {
  example: 'Please delete the customer Tomo Arai.',
  takes: [
    /\b(?:delete|erase|remove|forget)\b.*\bcustomer\b/i,
    new RegExp(`\\b(?:delete|erase|remove|forget)\\b.*\\b(?:${CUSTOMERS.join('|')})\\b`, 'i'),
  ],

  play({ words, steps, ruleFor }) {
    const known = customerIn(words);
    const asked = known === undefined ? askPerson(steps, WHICH_CUSTOMER) : { answer: known };
    if ('move' in asked) return asked.move;

    const deletion = latest(steps, 'delete_customer');
    if (deletion === undefined)
      return call(
        { name: 'delete_customer', arguments: { customer: asked.answer } },
        `I ask to delete ${asked.answer} with all their orders, which cannot be undone.`,
        ruleFor('delete_customer'),
      );
    const { customer } = Input.parse(deletion.input);
    if (deletion.outcome.kind === 'closed')
      return say(tellClosed(`the deletion of ${customer}`, deletion.outcome));
    const { deletedOrders } = Deleted.parse(deletion.outcome.output);
    if (deletedOrders === 0)
      return say(`There was nothing to delete: the shop has no orders of ${customer}.`);
    return say(`${customer} is deleted, with ${deletedOrders} ${deletedOrders === 1 ? 'order' : 'orders'}.`);
  },
};

function customerIn(words: string): string | undefined {
  const listed = CUSTOMERS.find((name) => words.toLowerCase().includes(name.toLowerCase()));
  const [, named] = /\bcustomer\s+(?:named\s+|called\s+)?([^.,!?]+)/i.exec(words) ?? [];
  return listed ?? named?.trim();
}
