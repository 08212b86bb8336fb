import { z } from 'zod';
import { defineInterrupt } from '../../agent/tool.ts';
import { AskedSchema } from './asked-schema.ts';

/** Lets the model ask for several values at once; the loop waits for the submitted form. */
export const requestForm = defineInterrupt({
  name: 'request_form',
  description: 'Ask the user to fill in a form and wait for the values.',
  inputSchema: z.object({
    title: z.string().min(1).describe('what the form is for'),
    fields: AskedSchema.describe(
      'a JSON Schema of type object, without patterns; its properties become the fields of the form',
    ),
  }),
  outputSchema: z.record(z.string(), z.unknown()),
});
