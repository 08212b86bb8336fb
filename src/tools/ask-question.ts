import { z } from 'zod';
import { defineInterrupt } from '../agent/define-tool.ts';

/** Lets the model ask the person it works for; the loop waits for the answer. */
export const askQuestion = defineInterrupt({
  name: 'ask_question',
  description: 'Ask the user a clarifying question and wait for the answer.',
  inputSchema: z.object({
    question: z.string().min(1).describe('what to ask'),
    choices: z.array(z.string().min(1)).min(1).describe('the choices to display to the user'),
  }),
  outputSchema: z.string(),
});
