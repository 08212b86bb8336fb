import { z } from 'zod';
import { defineInterrupt } from '../../agent/tool.ts';

/** Lets the model ask the person it works for; the loop waits for the answer. */
export const askQuestion = defineInterrupt({
  name: 'ask_question',
  description: 'Ask the user a clarifying question and wait for the answer.',
  inputSchema: z.object({
    question: z.string().min(1).describe('what to ask'),
    choices: z.array(z.string().min(1)).max(100).default([]).describe('the choices to display to the user'),
    allowOther: z.boolean().default(false).describe('when true, allow write-ins'),
    several: z.boolean().default(false).describe('when true, several choices may be taken together'),
  }),
  outputSchema: z.union([z.string(), z.array(z.string())]),
});
