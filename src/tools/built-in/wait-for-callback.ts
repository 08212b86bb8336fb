import { z } from 'zod';
import { defineInterrupt } from '../../agent/tool.ts';
import { AskedSchema } from './asked-schema.ts';

/** Lets the model wait for something that is completed elsewhere; a signed call-back brings the result, days later if need be. */
export const waitForCallback = defineInterrupt({
  name: 'wait_for_callback',
  description: 'Wait until an outside system reports back. Use it after starting work that ends elsewhere.',
  inputSchema: z.object({
    awaited: z.string().min(1).describe('what is awaited, in words for people'),
    result: AskedSchema.optional().describe(
      'a JSON Schema, without patterns, that the reported result must fit',
    ),
  }),
  outputSchema: z.unknown(),
});
