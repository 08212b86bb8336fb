import { z } from 'zod';
import { Json } from '../../agent/json-schema.ts';
import { previousPreviewOf } from '../../tools/gate.ts';
import type { PreviewOutcome } from '../../tools/presentation/linked-call.ts';
import type { ToolEntry } from '../../tools/toolbox/toolbox.ts';
import { channelOf } from '../ports.ts';
import { NOBODY, type TaskPeople } from '../task-people.ts';
import type { Facet } from './facet.ts';

const Sides = z.object({ before: z.string(), after: z.string() });
const Current = z.discriminatedUnion('outcome', [
  z.object({
    outcome: z.literal('shown'),
    before: z.string(),
    after: z.string(),
    value: Json.optional(),
    /** The paths that the answer does not have. */
    missing: z.array(z.string()).readonly().optional(),
  }),
  z.object({ outcome: z.literal('failed'), reason: z.enum(['too-slow', 'error']) }),
]);
const Preview = z.object({
  /** The change that the call would make, computed when the request was made. */
  current: Current.optional(),
  /** The preview that people approved before it changed. */
  former: Sides.optional(),
});

/** The change that a call would make. It is computed again before the first start, and a call whose change is another is asked again. */
export const preview = {
  name: 'preview',
  schema: Preview,
  isOfStep: true,
  prepare: async ({ interrupt, entry, input, isWhole, origin }) => {
    const current = isWhole && entry !== undefined ? await previewOf(entry, input, origin) : undefined;
    const former = previousPreviewOf(interrupt);
    if (current === undefined && former === undefined) return undefined;
    return { ...(current !== undefined && { current }), ...(former !== undefined && { former }) };
  },
  digested: (kept) => ({ preview: kept }),
  check: {
    code: 'preview-changed',
    // An earlier attempt may have made the change itself, so only the first one is compared with its preview.
    isOnlyFirst: true,
    isSlow: (kept) => kept?.current !== undefined,
    refuse: async (kept, run) => {
      const approved = kept?.current;
      if (approved === undefined) return undefined;
      const current = run.entry && (await previewOf(run.entry, run.input, run));
      if (JSON.stringify(current) === JSON.stringify(approved)) return undefined;
      const { before, after } = approved.outcome === 'shown' ? approved : { before: '', after: '' };
      return { code: 'preview-changed', before, after };
    },
  },
} satisfies Facet<'preview', z.infer<typeof Preview>>;

/** Computes what a call would change; `undefined` if neither its tool nor the manifest can say. */
async function previewOf(
  entry: Pick<ToolEntry, 'preview'>,
  input: unknown,
  { threadId, requesters, contextAuthors }: TaskPeople & { readonly threadId: string },
): Promise<PreviewOutcome | undefined> {
  const [requester = NOBODY] = requesters;
  const place = { threadId, channel: channelOf(threadId), requester, requesters, contextAuthors };
  return entry.preview?.(input, place);
}
