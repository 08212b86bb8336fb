import { z } from 'zod';
import { readableName } from '../../tools/presentation/formats.ts';
import type { Facet } from './facet.ts';
import { inputWords } from './input-words.ts';

const Text = z.string().min(1).optional().catch(undefined);
const Reason = z.object({
  /** The reason for which approval is needed, in words. */
  because: Text,
  /** The rule that requires approval, if the interrupt does not name it. */
  rule: Text,
});

/** The reason why people are asked. */
export const reason = {
  name: 'reason',
  schema: Reason,
  prepare: ({ approval, entry, call }, { words }) => {
    if (approval === undefined || entry === undefined) return undefined;
    const { pause, part } = approval;
    const asked = { act: readableName(call.toolRequest.name), inputs: inputWords(entry.presentation) };
    return {
      because: part?.plan?.because ?? words.whyAsked(pause, asked),
      ...(pause.own && { rule: pause.rule }),
    };
  },
  auditFields: ({ approval }) => (approval === undefined ? {} : { rule: approval.pause.rule }),
} satisfies Facet<'reason', z.infer<typeof Reason>>;
