import { z } from 'zod';
import { notDone } from '../agent/errors.ts';
import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { JsonRecord } from '../agent/json-schema.ts';
import type { Interrupt } from '../agent/messages.ts';
import { toPauseMetadata } from '../agent/pause.ts';
import type { Admitted, Tool, ToolContext, ToolHelpers } from '../agent/tool.ts';
import type { GroupsOf, JudgedCall, ProfileOf } from '../policy/condition.ts';
import { type FirstFacts, type FirstOf, firstOfFacts } from '../policy/first-times.ts';
import { type CallUse, judgeWithLimits, type Limit, type ReadTotals } from '../policy/limits.ts';
import type { PolicyOf } from '../policy/policy.ts';
import type { Reversible } from '../policy/reversible.ts';
import {
  type ApprovalRules,
  type ApprovalVerdict,
  type Explanation,
  judgeStrictly,
} from '../policy/rules.ts';
import { callerNamed } from './callers.ts';
import {
  answerMetadata,
  answerOf,
  answersSent,
  type Resumed as PauseResumed,
  resumedFrom,
  SERVER_PAUSE,
} from './mcp/server-pause.ts';
import {
  type Answerers,
  type Ask,
  meaningOf,
  OWN_ANSWER,
  ownAnswerIn,
  ownAnswerOf,
  resumedWith,
  withAsk,
} from './pause.ts';

const FirstTimes = z.object({
  tool: z.boolean(),
  target: z.boolean().optional(),
  pair: z.boolean().optional(),
});

/** `overLimit` is set where the call is over a limit, so that nobody allows more of it beforehand. */
export const Approval = z.object({
  policy: z.string(),
  rule: z.string(),
  overLimit: z.literal(true).optional(),
  /** The rule's own words for approvers. */
  because: z.string().optional(),
  /** The first times of the call by person, as they were when it was judged; a start judges by the same. */
  first: z.record(z.string(), FirstTimes).optional().catch(undefined),
});
/** The policy that must approve a gated call, and the rule that requires it. */
export type Approval = Readonly<z.infer<typeof Approval>>;

/** The policy and the rule under which people approved a call; `null` if they only said that it runs again. */
const Under = z.object({ policy: z.string(), rule: z.string() }).nullable();

const FormerPreview = z.object({ before: z.string(), after: z.string() });

/**
 * The metadata of a restart: `approved` opens the gate, `edited` asks for approval of the new input even where no rule would. `own`
 * marks the reply to an interrupt of the tool itself; such a call has already passed the gate. `changed` asks anew because the preview
 * that people approved is no longer true; the former preview is kept beside the new one. `answered` continues a call that paused for
 * its server: on the approval that it was started with, or else only where no rule requires one. An answer to a call that was approved is
 * approved too, under the same policy, before the server gets it; `approved` then continues the call with it.
 */
const Resumed = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('approved'), by: z.string(), own: z.boolean(), under: Under }),
  z.object({
    decision: z.literal('answered'),
    approvedBy: z.string().nullable(),
    /** The approval that the call was started with. */
    under: Under,
    answeredBy: z.array(z.string()),
  }),
  z.object({ decision: z.literal('edited'), by: z.string(), policy: z.string() }),
  z.object({
    decision: z.literal('changed'),
    /** The person who edited the call before, if somebody did. */
    by: z.string().nullable(),
    policy: z.string(),
    previousPreview: FormerPreview,
  }),
]);
export type GateResumed = Readonly<z.infer<typeof Resumed>>;

/** The metadata key of a restart under which a tool that asked by itself finds the answer. */
const RESUMED = 'resumed';

const Caller = z.object({
  requester: z.string().catch(''),
  requesters: z.array(z.string()).min(1).optional().catch(undefined),
  contextAuthors: z.array(z.string()).catch([]),
  channel: z.string().catch(''),
  threadId: z.string().catch(''),
});

/** Begins what stands in place of a rule where only an edit asks for approval; the person follows. */
export const EDITED_RULE = 'edited by';

type Action = Extract<Tool, { kind: 'tool' }>;

/** The people and the channel of a call. */
export interface CallPlace {
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
  /** Their user groups, if not those of the workspace now. */
  readonly groupsOf?: GroupsOf | undefined;
  /** Their profiles, if not those of the workspace now. */
  readonly profileOf?: ProfileOf | undefined;
  /** Their first times, where they are known. */
  readonly firstOf?: FirstOf | undefined;
}

/** Reads the first times of everyone whose words led to a call; `undefined` if nobody can tell now. */
export type ReadFirst = (input: JsonValue, place: CallPlace) => Promise<FirstFacts | undefined>;

/** The user groups of the workspace. */
export interface UserGroups {
  /** Looks them up again, unless that was done a moment ago; what cannot be looked up is not known after a while. */
  refresh(): Promise<void>;
  readonly of: GroupsOf;
}

/** The profiles of the people of the workspace. */
export interface Profiles {
  /** Looks people up again, unless that was done a moment ago; what cannot be looked up is not known after a while. */
  refresh(people: readonly string[]): Promise<void>;
  readonly of: ProfileOf;
}

/** Finds a grant that allows a call without asking; returns the evidence for the record, or `undefined` if there is none. */
export type FindGrant = (
  call: JudgedCall & { readonly threadId: string; readonly key: string },
  policy: string,
) => Promise<JsonObject | undefined>;

export interface GateOptions {
  readonly policyOf?: PolicyOf;
  /** Tells whether everyone whose words led to a call may use the tool there. */
  readonly allows?: (place: CallPlace) => boolean;
  /** The user groups of the workspace, where the rules or `allows` ask for them. */
  readonly userGroups?: UserGroups | undefined;
  /** The profiles of the workspace, where the rules ask for them. */
  readonly profiles?: Profiles | undefined;
  /** Looks at the tool's source again before a call that nobody has approved, and returns the rules that apply then. */
  readonly refreshRules?: () => Promise<ApprovalRules>;
  /** The limits on what calls may do, and how much of them is used. */
  readonly limits?: readonly Limit[];
  readonly readTotals?: ReadTotals | undefined;
  readonly findGrant?: FindGrant | undefined;
  /** Reads the first times of a call; `undefined` if nobody can tell now. */
  readonly readFirst?: ReadFirst | undefined;
  /** Whether its calls can be taken back. */
  readonly reversible?: Reversible | undefined;
  /** Whether answers to the tool's server need the approval of those who approved the call. */
  readonly answers?: 'approved' | 'free' | undefined;
  /** The people who may answer when the tool itself asks in the middle of a call. */
  readonly answerers?:
    | ((way: Ask['way']['kind'], input: JsonValue, place: CallPlace) => Answerers)
    | undefined;
}

/** The parts that decide a call beside the rules of its tool. */
type Deciding = Pick<
  GateOptions,
  'limits' | 'readTotals' | 'policyOf' | 'userGroups' | 'profiles' | 'reversible'
>;

/**
 * Judges a call by the rules of its tool and by what its limits have left. The gate decides by this, and whatever says beforehand what the
 * gate will do: `explain`, `manifest test`, replay, the page and an edit.
 */
export function judgeGated(
  rules: ApprovalRules,
  given: JudgedCall,
  { limits = [], readTotals, policyOf = () => undefined, reversible, ...known }: Deciding,
): Promise<Explanation & { readonly uses?: readonly CallUse[] }> {
  const call = { ...withPeople(given, known), reversible };
  return judgeWithLimits({ limits, call, readTotals, policyOf }, (totals) =>
    judgeStrictly(rules, { ...call, totals }, policyOf),
  );
}

/** Adds to a call what is known of its people. A caller has the profile of the person for whom it asks, and without one none. */
export function withPeople(
  call: JudgedCall,
  { userGroups, profiles }: Pick<Deciding, 'userGroups' | 'profiles'>,
): JudgedCall {
  const { groupsOf = userGroups?.of, profileOf = profiles?.of, requesters } = call;
  // The owner is a requester as well.
  const [person, owner] = requesters.filter((id) => callerNamed(id) === undefined);
  return {
    ...call,
    groupsOf,
    profileOf: (id) => {
      const behind = callerNamed(id) === undefined ? id : owner && person;
      return behind === undefined ? undefined : profileOf?.(behind);
    },
  };
}

/**
 * Puts a tool behind its rules: it runs when they require no approval for anyone whose words led to the call, or in a restart that says
 * who approved it. It never runs where one of these people may not use it, or where a rule denies the call.
 */
export function gate(tool: Action, rules: ApprovalRules, options: GateOptions = {}): Action {
  const {
    allows = () => true,
    userGroups,
    profiles,
    refreshRules = async () => rules,
    findGrant,
    readFirst,
    reversible,
    answers = 'approved',
    answerers = () => 'requester',
  } = options;
  const admit = async (input: unknown, helpers: ToolHelpers): Promise<Admitted> => {
    const resumed = helpers.resumed === undefined ? undefined : Resumed.safeParse(helpers.resumed).data;
    const place = placeOf(helpers.context, resumed?.decision === 'edited' ? resumed.by : undefined);
    await Promise.all([
      userGroups?.refresh(),
      profiles?.refresh([...place.requesters, ...place.contextAuthors]),
    ]);
    if (!allows(place))
      return helpers.deny(
        "Someone taking part in this task isn't allowed to use this tool here. Ask an admin.",
      );
    const run = (kept: z.infer<typeof KeptApproval> | undefined, given: JsonObject | undefined) =>
      admittedRun(tool, { input, helpers, kept, given }, (way) => answerers(way, toJson(input), place));
    // A server's pause is resumed with the whole metadata, a tool's own with what it asked for.
    const given =
      helpers.resumed?.[SERVER_PAUSE] === undefined
        ? JsonRecord.safeParse(helpers.resumed?.[RESUMED]).data
        : helpers.resumed;
    requireFit(tool, given);
    const isAnswered = resumed?.decision === 'answered';
    const approvedBy = isAnswered ? resumed.approvedBy : resumed?.decision === 'approved' ? resumed.by : null;
    if (approvedBy !== null) {
      const isOwn = isAnswered || (resumed?.decision === 'approved' && resumed.own);
      const under = resumed !== undefined && 'under' in resumed ? resumed.under : null;
      const answeredBy = isAnswered ? resumed.answeredBy : [];
      const answer = isAnswered ? answerToApprove(helpers.resumed, answers, answeredBy) : undefined;
      if (answer !== undefined && under !== null)
        return helpers.interrupt({ approval: { ...under }, approvedBy, under, answeredBy, ...answer });
      return run({ approvedBy, under, answeredBy }, isOwn ? given : undefined);
    }
    const first = await readFirst?.(toJson(input), place);
    const call = {
      tool: tool.name,
      input: toJson(input),
      reversible,
      ...place,
      firstOf: firstOfFacts(first),
    };
    const { verdict } = await judgeGated(await refreshRules(), call, options);
    // An editor is on record with the pause, because they have to be known as a requester from then on.
    const editor = isAnswered ? undefined : (resumed?.by ?? undefined);
    const kept = {
      ...(editor !== undefined && { editedBy: editor }),
      ...(resumed?.decision === 'changed' && { previousPreview: resumed.previousPreview }),
    };
    if (verdict.outcome === 'deny') return helpers.deny(verdict.reason);
    // An edited call is a new one, and what is over a limit is never allowed beforehand.
    if (verdict.outcome === 'ask' && resumed === undefined && verdict.overLimit !== true) {
      const key = helpers.idempotencyKey;
      const { threadId } = Caller.parse(helpers.context);
      const evidence = await findGrant?.({ ...call, threadId, key }, verdict.policy);
      if (evidence !== undefined)
        return Object.assign(
          run(
            {
              approvedBy: `${GRANT}${Granted.parse(evidence).grant}`,
              under: { policy: verdict.policy, rule: verdict.rule },
              answeredBy: [],
            },
            undefined,
          ),
          // The start of the call takes the use; if there is none any more, this is asked for.
          { evidence: { ...evidence, approval: approvalFor(verdict, first) } },
        );
    }
    if (verdict.outcome === 'ask')
      return helpers.interrupt({ approval: approvalFor(verdict, first), ...kept });
    if (resumed !== undefined && 'policy' in resumed && editor !== undefined) {
      const rule = `${EDITED_RULE} ${editor}`;
      const approval = approvalFor({ outcome: 'ask', policy: resumed.policy, rule }, first);
      return helpers.interrupt({ approval, ...kept });
    }
    return run(undefined, isAnswered ? given : undefined);
  };
  return { ...tool, admit, run: async (input, helpers) => (await admit(input, helpers))() };
}

interface AdmittedCall {
  readonly input: unknown;
  readonly helpers: ToolHelpers;
  readonly kept: z.infer<typeof KeptApproval> | undefined;
  readonly given: JsonObject | undefined;
}

/** Builds the run of an admitted call; what the tool itself asks later is written down with the approval that it runs on. */
function admittedRun(
  tool: Action,
  { input, helpers, kept, given }: AdmittedCall,
  answerers: (way: Ask['way']['kind']) => Answerers,
): () => unknown {
  const interrupt: ToolHelpers['interrupt'] = (asks) => {
    const metadata = toPauseMetadata(asks, tool) ?? {};
    if (metadata[SERVER_PAUSE] !== undefined) return helpers.interrupt({ ...metadata, ...kept });
    const asking = { tool, input: toJson(input), before: given, answerers };
    return helpers.interrupt({ ...withAsk(metadata, asking), ...kept });
  };
  return () => tool.run(input, { ...helpers, resumed: given, interrupt });
}

/** Describes the approval that a verdict asks for, as it is kept with the pause. */
export function approvalFor(
  { policy, rule, overLimit, because }: Extract<ApprovalVerdict, { outcome: 'ask' }>,
  first?: FirstFacts,
): JsonObject {
  return {
    policy,
    rule,
    ...(overLimit === true && { overLimit }),
    ...(because !== undefined && { because }),
    ...(first !== undefined && { first: toJson(first) }),
  };
}

const KeptApproval = z.object({
  approvedBy: z.string(),
  under: Under,
  answeredBy: z.array(z.string()),
});

/** Fails a call whose tool cannot read the answer to its own question; it would ask the same again for ever. */
function requireFit({ name, resumedSchema }: Action, given: JsonObject | undefined): void {
  if (given === undefined || resumedSchema === undefined || given[SERVER_PAUSE] !== undefined) return;
  const { by: _by, at: _at, ...answer } = given;
  const parsed = resumedSchema.parse(answer);
  if (parsed.ok) return;
  const where = parsed.field === '' ? '' : ` at "${parsed.field}"`;
  throw notDone(`${name}: the answer does not fit its resumedSchema${where}: ${parsed.problem}`);
}

/** Returns the metadata of the pause in which people approve an answer: one that somebody gave to the call's server, or to the tool itself. */
function answerToApprove(
  resumed: JsonObject | undefined,
  answers: 'approved' | 'free',
  by: readonly string[],
): JsonObject | undefined {
  const own = ownAnswerIn(resumed);
  if (own !== undefined) return { [OWN_ANSWER]: toJson({ ...own, by: [...by] }) };
  const { pause, end } = resumedFrom(resumed) ?? {};
  if (answers === 'free' || pause?.kind !== 'elicitation' || end === undefined) return undefined;
  const isGiven = answersSent({ pause, end }).some(({ response }) => response.action === 'accept');
  return isGiven ? answerMetadata({ pause, end, by: [...by] }) : undefined;
}

/** Reads the approval on record with a pause, on which the call goes on. */
function keptIn(interrupt: Interrupt, answeredBy: readonly string[]) {
  const kept = KeptApproval.safeParse(interrupt.metadata).data;
  return {
    approvedBy: kept?.approvedBy ?? null,
    under: kept?.under ?? null,
    answeredBy: [...new Set([...(kept?.answeredBy ?? []), ...answeredBy])],
  };
}

/**
 * Builds the metadata that continues a call whose own question was answered. An answer that decides what an approved call does is approved
 * too; a yes says nothing that was not on the card, and a report is what the tool itself fetches.
 */
export function resumeWith(
  interrupt: Interrupt,
  { ask, answer, resumed }: { readonly ask: Ask; readonly answer: JsonValue; readonly resumed: JsonObject },
  by: string,
): JsonObject {
  const { kind } = ask.way;
  const reply: GateResumed = { decision: 'answered', ...keptIn(interrupt, kind === 'callback' ? [] : [by]) };
  const isDeciding = kind === 'choice' || kind === 'form';
  return {
    ...reply,
    [RESUMED]: resumedWith(resumed, by, new Date()),
    ...(isDeciding && { [OWN_ANSWER]: toJson({ ask, answer, by: [by] }) }),
  };
}

/** Builds the metadata that continues a call which paused for its server, on the approval that is on record with the pause. */
export function continueWith(
  interrupt: Interrupt,
  resumed: PauseResumed,
  answeredBy: readonly string[] = [],
): JsonObject {
  const reply: GateResumed = { decision: 'answered', ...keptIn(interrupt, answeredBy) };
  return { ...reply, [SERVER_PAUSE]: toJson(resumed) };
}

/**
 * Builds the metadata that opens the gate for an approved call. One with an answer goes on with that; one whose tool asked people gets
 * what they chose.
 */
export function openWith(
  interrupt: Interrupt,
  { by, own, under }: Pick<Extract<GateResumed, { decision: 'approved' }>, 'by' | 'own' | 'under'>,
  chosen?: JsonObject,
): JsonObject {
  const sent = answerOf(interrupt);
  const given = ownAnswerOf(interrupt);
  const meaning = given && meaningOf(given.ask, given.answer);
  const answer = meaning?.reply === 'restart' ? meaning.resumed : chosen;
  const resumed = answer && resumedWith(answer, given?.by.at(-1) ?? by, new Date());
  const isOwn = own || (sent ?? resumed) !== undefined;
  const reply: GateResumed = { decision: 'approved', by, own: isOwn, under };
  return {
    ...reply,
    ...(resumed !== undefined && { [RESUMED]: resumed }),
    ...(sent !== undefined && { [SERVER_PAUSE]: toJson(sent) }),
  };
}

/** Marks a call that runs under a grant, in the place of its approver. */
const GRANT = 'grant:';
const Granted = z.object({ grant: z.string().catch('') });

/** Returns the grant under which a call runs that paused for its server; `undefined` if it runs under none. */
export function grantOf(interrupt: Interrupt): string | undefined {
  const by = approverOf(interrupt);
  return by?.startsWith(GRANT) === true ? by.slice(GRANT.length) : undefined;
}

/** Returns the last approver of a call that paused for its server while it ran; `null` if it ran without approval. */
export function approverOf(interrupt: Interrupt): string | null {
  return KeptApproval.safeParse(interrupt.metadata).data?.approvedBy ?? null;
}

/** Tells whether a paused call was approved by an earlier request, which shows how the call ends; a grant has none. */
export function wasApprovedBefore(interrupt: Interrupt): boolean {
  return approverOf(interrupt) !== null && grantOf(interrupt) === undefined;
}

/** Returns the people of a call; a person who edited it counts as a requester. */
function placeOf(context: ToolContext, editor: string | undefined): CallPlace {
  const { requester, requesters = [requester], contextAuthors, channel } = Caller.parse(context);
  if (editor === undefined) return { requesters, contextAuthors, channel };
  return {
    requesters: [...new Set([...requesters, editor])],
    contextAuthors: contextAuthors.filter((person) => person !== editor),
    channel,
  };
}

const Previous = z.object({ previousPreview: FormerPreview.optional() });

/** Returns the preview that people approved before it changed, if the call is asked anew for that. */
export function previousPreviewOf(interrupt: Interrupt): z.infer<typeof FormerPreview> | undefined {
  return Previous.safeParse(interrupt.metadata).data?.previousPreview;
}

const Editor = z.object({ editedBy: z.string().optional() });

/** Returns the person who edited the call of an interrupt, if somebody did. */
export function editorOf(interrupt: Interrupt): string | undefined {
  return Editor.safeParse(interrupt.metadata).data?.editedBy;
}

/** Returns the approval that an interrupt waits for, if it is the gate's. */
export function approvalOf(interrupt: Interrupt): Approval | undefined {
  return Approval.safeParse(interrupt.metadata?.approval).data;
}
