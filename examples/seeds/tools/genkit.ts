import { defineInterrupt, defineTool } from 'countersign';
import { z } from 'zod';

/** Asks a multiple-choice question: its answer is its output. */
export const askQuestion = defineInterrupt({
  name: 'askQuestion',
  description: 'use this to ask the user a clarifying question',
  inputSchema: z.object({
    choices: z.array(z.string()).describe('the choices to display to the user'),
    allowOther: z.boolean().optional().describe('when true, allow write-ins'),
  }),
  outputSchema: z.string(),
});

/** Transfers money, and asks for a yes in the middle if it is much. */
export const transferMoney = defineTool(
  {
    name: 'transferMoney',
    description: 'Transfers money between accounts.',
    inputSchema: z.object({
      toAccountId: z.string().describe('the account id of the transfer destination'),
      amount: z.number().describe('the amount in integer cents (100 = $1.00)'),
    }),
    outputSchema: z.object({
      status: z.string().describe('the outcome of the transfer'),
      message: z.string().optional(),
    }),
  },
  async (input, { interrupt, resumed }) => {
    // if the user rejected the transaction
    if (resumed?.status === 'REJECTED') {
      return { status: 'REJECTED', message: 'The user rejected the transaction.' };
    }
    // trigger an interrupt to confirm if amount > $100
    if (resumed?.status !== 'APPROVED' && input.amount > 10_000) {
      return interrupt({ message: 'Please confirm sending an amount > $100.' });
    }
    // complete the transaction if not interrupted
    return doTransfer(input);
  },
);

function doTransfer({ toAccountId, amount }: { readonly toAccountId: string; readonly amount: number }) {
  return { status: 'DONE', message: `Sent ${amount} cents to ${toAccountId}.` };
}

/** Asks as the Python example does: a function that pauses without a word, and whose input has the choices. */
export const askInPython = defineTool(
  {
    name: 'ask_question',
    description: 'Use this to ask the user a clarifying question',
    inputSchema: z.object({
      choices: z.array(z.string()).describe('the choices to display to the user'),
      allow_other: z.boolean().describe('when true, allow write-ins'),
    }),
    outputSchema: z.string(),
    effect: 'none',
  },
  (_input, { interrupt }) => interrupt(),
);
