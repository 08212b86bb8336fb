import { z } from 'zod';
import { isJsonObject, type JsonValue } from '../../agent/json.ts';
import { conditionInWords } from '../../policy/condition.ts';
import type { Presentation } from '../../tools/presentation/presentation.ts';
import { CALLER_ACTION_TOOL } from '../../tools/toolbox/caller-action.ts';
import { parseCallerThread } from '../caller-threads.ts';
import { grantIdOf } from '../grant-evidence.ts';
import type { Facet, FacetWords } from './facet.ts';
import { inputWords, inSentence } from './input-words.ts';

const Terms = z.object({
  forMs: z.number(),
  uses: z.number(),
  scope: z.enum(['thread', 'requester']),
  when: z.string().optional(),
  /** The calls that the condition covers, in words. */
  covers: z.string().optional(),
});

/** The terms on which approvers may allow the same again. */
export const grants = {
  name: 'grants',
  schema: Terms,
  prepare: ({ approval, entry, input, isWhole, editor, origin }, { words }) => {
    if (approval === undefined || entry === undefined) return undefined;
    const { pause, policy, part, risk } = approval;
    const terms = policy.grants;
    // Each request of a caller is a thread of its own.
    const isAlone = terms?.scope === 'thread' && parseCallerThread(origin.threadId) !== undefined;
    const isUsual = isWhole && !pause.own && pause.overLimit !== true && editor === undefined;
    if (terms === undefined || part !== undefined || risk === 'high' || isAlone || !isUsual) return undefined;
    if (entry.tool.name === CALLER_ACTION_TOOL) return undefined;
    const { when, ...kept } = terms;
    if (when === undefined) return { ...kept };
    // Its tool and its policy stay as they are as long as the grant holds.
    return { ...kept, when, covers: coverageOf(entry.presentation, when, input, words) };
  },
  readNow: async ({ request }, { store }) => {
    const given = request.granted ? await store.listGrants() : [];
    return given.find(({ id }) => id === grantIdOf(request.id))?.revokedBy;
  },
} satisfies Facet<'grants', z.infer<typeof Terms>, string>;

const MAX_OPEN = 3;
const NAMED_INPUT = /\binput\.([A-Za-z_]\w*)/g;

/** Says which calls a condition covers: the inputs that it leaves open, and the condition in the words of the card. */
function coverageOf(
  presentation: Presentation,
  when: string,
  input: JsonValue,
  { anyOf, anyOther }: FacetWords,
): string {
  const words = inputWords(presentation);
  const named = new Set([...when.matchAll(NAMED_INPUT)].map(([, name]) => name));
  // Which inputs a condition is about can only be told if it names each of them.
  const isClear = !/\binput\b/.test(when.replaceAll(NAMED_INPUT, '')) && isJsonObject(input);
  const open = isClear ? Object.keys(input).filter((name) => !named.has(name)) : [];
  const labels = open.map((name) => anyOf(inSentence(words.label([name]) ?? name)));
  // A name that is no plain word may be anybody's sentence.
  const isShort = labels.length <= MAX_OPEN && open.every((name) => /^[A-Za-z]\w{0,40}$/.test(name));
  const left = isShort ? labels : [anyOther];
  return [...left, inSentence(conditionInWords(when, words))].join(', ');
}
