import { z } from 'zod';
import { Duration, Name, Text } from './values.ts';

/** The name of a tool, or a pattern of names. */
export const Pattern = z
  .string()
  .regex(/^[a-zA-Z0-9_*?-]{1,64}$/)
  .meta({ title: 'the name of a tool, or a pattern such as "refund_*"' });

export const LimitFile = z
  .strictObject({
    name: Name.optional().describe(
      'The name of the limit in count("…") and sum("…") of conditions (default: the name of the tool).',
    ),
    sum: Text.optional().describe(
      'CEL over the call that gives its amount: "input.amount"; without it calls are counted.',
    ),
    per: z
      .enum(['requester', 'channel', 'tool'])
      .optional()
      .describe(
        'For whom it counts: each requester, each channel, or the tool as a whole (default: requester).',
      ),
    window: Duration.describe('The time in which it counts, such as 1d; it moves on with the clock.'),
    max: z.number().min(0).describe('The most in that time.'),
    // biome-ignore lint/suspicious/noThenProperty: it is a key of the manifest, and never a function
    then: z
      .string()
      .regex(/^(deny|policy\s+[a-zA-Z0-9_-]{1,64})$/)
      .meta({ title: '"deny", or "policy" and the name of a policy' })
      .optional()
      .describe(
        'What happens to a call over the limit: "deny", or "policy boss" to ask that policy (default: deny).',
      ),
  })
  .describe('How much the calls of a tool may do in a time.');
export type LimitFile = z.output<typeof LimitFile>;
