import { z } from 'zod';
import { askQuestion, type Question } from '../ask-question.ts';
import { describeOutcome } from '../describe-outcome.ts';
import { callTools, latestCall, type Rule, reply } from '../rule.ts';

const CUSTOMERS = ['Hooper Ltd', 'Ines Marr', 'Tomo Arai'];
const WHICH_CUSTOMER: Question = { question: 'Which customer should I delete?', choices: CUSTOMERS };
const Deleted = z.object({ deletedOrders: z.number() });
const Input = z.object({ customer: z.string() });

/** Deletes a customer, which needs two approvals in the shipped manifest. */
export const deleteCustomer: Rule = {
  example: 'Please delete the customer Tomo Arai.',
  tool: 'delete_customer',
  patterns: [
    /\b(?:delete|erase|remove|forget)\b.*\bcustomer\b/i,
    new RegExp(`\\b(?:delete|erase|remove|forget)\\b.*\\b(?:${CUSTOMERS.join('|')})\\b`, 'i'),
  ],

  next({ text, calls, approvalNote }) {
    const known = customerIn(text);
    const asked = known === undefined ? askQuestion(calls, WHICH_CUSTOMER) : { answer: known };
    if ('step' in asked) return asked.step;

    const deletion = latestCall(calls, 'delete_customer');
    if (deletion === undefined)
      return callTools(
        { name: 'delete_customer', arguments: { customer: asked.answer } },
        `I'd like to delete ${asked.answer} and all their orders. This can't be undone.`,
        approvalNote('delete_customer'),
      );
    const { customer } = Input.parse(deletion.input);
    if (deletion.outcome.kind === 'closed')
      return reply(describeOutcome(`the deletion of ${customer}`, deletion.outcome));
    const { deletedOrders } = Deleted.parse(deletion.outcome.output);
    if (deletedOrders === 0) return reply(`There's nothing to delete: ${customer} has no orders.`);
    return reply(`Deleted ${customer} and ${deletedOrders} ${deletedOrders === 1 ? 'order' : 'orders'}.`);
  },
};

function customerIn(text: string): string | undefined {
  const listed = CUSTOMERS.find((name) => text.toLowerCase().includes(name.toLowerCase()));
  const [, named] = /\bcustomer\s+(?:named\s+|called\s+)?([^.,!?]+)/i.exec(text) ?? [];
  return listed ?? named?.trim();
}
