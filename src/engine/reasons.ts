import { z } from 'zod';
import { OUTCOME_UNKNOWN } from '../agent/calls/journal.ts';
import { type JsonObject, toJson, tryParseJson } from '../agent/json.ts';
import { Json } from '../agent/json-schema.ts';
import type { Interrupt } from '../agent/messages.ts';
import { CalendarPeriod, type Limit } from '../policy/limits.ts';

const ExceededLimit = z
  .object({
    name: z.string(),
    match: z.string(),
    sum: z.string().optional(),
    per: z.enum(['requester', 'channel', 'tool']),
    windowMs: z.number(),
    calendar: CalendarPeriod.optional(),
    max: z.number(),
    shownMax: z.string().optional(),
    policy: z.string().optional(),
  })
  .transform(({ sum, policy, ...limit }): Limit => ({ ...limit, sum, policy }));

/** The change that makes an approval void: a rule denies the call, or asks for something else, or what would run is another. */
const Change = z.discriminatedUnion('what', [
  z.object({ what: z.literal('denied'), reason: z.string() }),
  z.object({ what: z.literal('quorum'), before: z.number(), after: z.number() }),
  z.object({ what: z.literal('rule') }),
  z.object({ what: z.literal('tool') }),
]);
export type Change = Readonly<z.infer<typeof Change>>;

/** The reasons why a Run may not start; each check of the list has one. */
const Refusals = [
  z.object({ code: z.literal('no-tool'), tool: z.string() }),
  /** One who asked for it is deactivated, or may no longer ask. */
  z.object({ code: z.literal('requester-inactive') }),
  /** Not everyone whose words led to it may use the tool any more. */
  z.object({ code: z.literal('not-allowed') }),
  /** The script that starts it may find this without knowing what has changed. */
  z.object({ code: z.literal('changed'), change: Change.optional() }),
  z.object({ code: z.literal('grant-revoked') }),
  /** It holds the preview that people approved. */
  z.object({ code: z.literal('preview-changed'), before: z.string(), after: z.string() }),
  z.object({ code: z.literal('over-limit'), limit: ExceededLimit }),
  /** The tool is frozen, with the words of the person who froze it, or the name of a freeze of the manifest. */
  z.object({ code: z.literal('frozen'), reason: z.string() }),
  /** The grant that admitted it does not hold any more. */
  z.object({ code: z.literal('ungranted') }),
  /** An approval needs a passkey, and that of these people does not prove it any more. */
  z.object({ code: z.literal('unproven'), people: z.array(z.string()).readonly() }),
  z.object({ code: z.literal('quorum-lost') }),
  z.object({ code: z.literal('stale-approval') }),
  /** Another step of its plan did not run. */
  z.object({ code: z.literal('held') }),
] as const;
const Refusal = z.discriminatedUnion('code', Refusals);

/** The reason why a Run may not start. */
export type Refusal = Readonly<z.infer<typeof Refusal>>;

const Reason = z.discriminatedUnion('code', [
  ...Refusals,
  /** A person changed the arguments. */
  z.object({
    code: z.literal('edited'),
    input: Json,
    by: z.string(),
  }),
  /** Its attempt ended with an error after it may have taken effect. */
  z.object({ code: z.literal('in-doubt'), error: z.string() }),
  /** It was started before, and may not be tried again: the task was stopped, a rule asks people now, or it may not run now. */
  z.object({ code: z.literal('stopped') }),
  z.object({ code: z.literal('asks-now') }),
  z.object({ code: z.literal('not-run'), why: z.string().optional() }),
  /** A caller started it and did not say what happened. */
  z.object({ code: z.literal('silent'), caller: z.string() }),
]);
/** The reason on record why a request or a call ended as it did, or why its outcome is unknown. */
export type Reason = Readonly<z.infer<typeof Reason>>;

/** What follows for a call whose request did not run: it ends, its rules deny it now, or people are asked again. */
type AfterEnd = 'ends' | 'denied' | 'asked-again';

const AFTER_END: {
  [Code in Reason['code']]: AfterEnd | ((reason: Extract<Reason, { code: Code }>) => AfterEnd);
} = {
  'no-tool': 'denied',
  'requester-inactive': 'ends',
  'not-allowed': 'ends',
  changed: ({ change }) => (change?.what === 'denied' ? 'denied' : 'asked-again'),
  'grant-revoked': 'asked-again',
  'preview-changed': 'asked-again',
  // A limit may name a policy that lets more through.
  'over-limit': ({ limit }) => (limit.policy === undefined ? 'denied' : 'asked-again'),
  frozen: 'denied',
  ungranted: 'asked-again',
  unproven: 'asked-again',
  'quorum-lost': 'asked-again',
  'stale-approval': 'asked-again',
  held: 'asked-again',
  edited: 'asked-again',
  'in-doubt': 'asked-again',
  stopped: 'asked-again',
  'asks-now': 'asked-again',
  'not-run': 'asked-again',
  silent: 'asked-again',
};

/** Tells what follows for a call whose request no longer holds. Without a known reason people are asked again. */
export function afterEnd(reason: Reason | undefined): AfterEnd {
  return reason === undefined ? 'asked-again' : afterReason(reason);
}

function afterReason<Code extends Reason['code']>(reason: Extract<Reason, { code: Code }>): AfterEnd {
  const after: AfterEnd | ((reason: Extract<Reason, { code: Code }>) => AfterEnd) = AFTER_END[reason.code];
  return typeof after === 'function' ? after(reason) : after;
}

/** Writes a reason for the record. One without further parts is its code alone, as the scripts write it. */
export function writeReason(reason: Reason): string {
  return Object.keys(reason).length === 1 ? reason.code : JSON.stringify(reason);
}

/** Reads the reason of a record; `undefined` if there is none. */
export function readReason(payload: string | undefined): Reason | undefined {
  if (payload === undefined || payload === '') return undefined;
  return Reason.safeParse(tryParseJson(payload) ?? { code: payload }).data;
}

/** The metadata key that says why a call of which nobody knows the outcome is not tried again. */
const DOUBT = 'doubt';

/** Builds the metadata of the interrupt of a call of which nobody knows the outcome; without a reason, its process died. */
export function doubtMetadata(reason?: Reason): JsonObject {
  return { [OUTCOME_UNKNOWN]: '', ...(reason !== undefined && { [DOUBT]: toJson(reason) }) };
}

/** Reads why nobody knows the outcome of a call; `undefined` if its process died. */
export function doubtIn(interrupt: Pick<Interrupt, 'metadata'> | undefined): Reason | undefined {
  const { [OUTCOME_UNKNOWN]: error, [DOUBT]: reason } = interrupt?.metadata ?? {};
  if (typeof error === 'string' && error !== '') return { code: 'in-doubt', error };
  return Reason.safeParse(reason).data;
}
