import { type JsonValue, toJson } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { effectiveInput } from '../../../agent/schema/compile-schema.ts';
import { previewOf } from '../../../engine/admit.ts';
import { digestNow } from '../../../engine/bind-request.ts';
import { parseCallerThread } from '../../../engine/caller-threads.ts';
import { votedChoices } from '../../../engine/choices.ts';
import { classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import { countsNow, readPasskeys } from '../../../engine/passkeys.ts';
import { PLAN_RULE, planDigest } from '../../../engine/plans.ts';
import {
  type Details,
  innerCalls,
  type PlannedSteps,
  type RequestOrigin,
  toDetails,
} from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { firstOfFacts } from '../../../policy/first-times.ts';
import { confirmFor, type Policy, type RiskLevel, riskOf } from '../../../policy/policy.ts';
import { reversibilityOf } from '../../../policy/reversible.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf, type Store } from '../../../store/port/store.ts';
import { approverOf, editorOf, previousPreviewOf } from '../../../tools/gate.ts';
import { elicitationOf, waitsForTask } from '../../../tools/mcp/server-pause.ts';
import { CALLER_ACTION_TOOL } from '../../../tools/toolbox/caller-action.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import { waitingAnswerOf } from '../../../tools/waiting-answer.ts';
import type { BotContext } from '../../context.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { parseThreadId, placeIn } from '../../slack/thread.ts';
import { ruleInWords } from '../../views/texts/cards.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { THREAD_VIEW } from '../../views/view-ids.ts';
import { resolveGroups } from '../approver-groups.ts';
import { snapshotOf } from '../policy-snapshot.ts';
import { standInsFor } from '../stand-ins.ts';
import {
  type EligibleApprovers,
  eligibleApprovers,
  escalatedAtOnce,
  otherViews,
  peopleToAsk,
  statusesOf,
} from './people-to-ask.ts';
import { planAnswer } from './plan-answer.ts';
import { planElicitation } from './plan-elicitation.ts';
import { planUnknown } from './plan-unknown.ts';
import {
  changesOf,
  coverageOf,
  firstInWords,
  inputWords,
  presentCall,
  presentPart,
  presentQuestion,
} from './present-call.ts';

const DAY_MS = 86_400_000;
/** A task ignores an answer that it has already, so that one may be sent again. */
const TASK_ANSWER = { idempotent: true, maxAttempts: 10, retryForMs: DAY_MS };

/** The parts of the context that a plan needs. */
export type PlanContext = Pick<BotContext, 'toolbox' | 'directory'> & {
  readonly store: Pick<Store, 'readDocument' | 'list' | 'load' | 'readTotals'>;
};

/** The part of a call in a plan: the policy that covers all of its steps stands in place of its own. */
export interface PlanPart {
  readonly policy: string;
  /** Set for the plan itself: its words, its risk, and its steps. */
  readonly plan?: {
    readonly presented: Details['presented'];
    readonly risk: RiskLevel;
    /** Why people are asked, in words. */
    readonly because: string;
    readonly details: Omit<PlannedSteps, 'shown'>;
    readonly steps: NonNullable<NewRequest['steps']>;
  };
}

const NO_LIMIT = { overLimit: undefined, because: undefined };

/** A plan is decided, and each of its steps started, within an hour, unless a policy says less. */
const PLAN_MS = 3_600_000;

/** Plans the request of one waiting call; returns a sentence if nobody could ever approve it. */
export async function planRequest(
  context: PlanContext,
  origin: RequestOrigin,
  call: CallPart,
  interrupt: Interrupt,
  part?: PlanPart,
): Promise<NewRequest | string> {
  const isUnknown = classifyInterrupt(interrupt).kind === 'unknown';
  const plan = isUnknown ? '' : await planKnown(context, origin, call, interrupt, part);
  // A task runs on at its server, whether we can follow it or not.
  if (typeof plan !== 'string' || !(isUnknown || waitsForTask(interrupt))) return plan;
  const entry = context.toolbox.find(interrupt.toolRequest.name);
  return planUnknown(context, origin, { call, interrupt, entry });
}

async function planKnown(
  { toolbox, directory, store }: PlanContext,
  origin: RequestOrigin,
  call: CallPart,
  interrupt: Interrupt,
  part?: PlanPart,
): Promise<NewRequest | string> {
  const { threadId, requesters, contextAuthors, why, files, undoes, link } = origin;
  const classified = classifyInterrupt(interrupt);
  const pause =
    classified.kind === 'plan'
      ? { kind: 'approval' as const, policy: part?.policy ?? '', rule: PLAN_RULE, own: false, ...NO_LIMIT }
      : classified;
  const entry = toolbox.find(interrupt.toolRequest.name);
  if (entry === undefined) return noticeTexts.noTool(interrupt.toolRequest.name);
  if (pause.kind === 'exit' || pause.kind === 'unknown') return noticeTexts.completedTwice;
  const asked = elicitationOf(interrupt);
  if (asked !== undefined)
    return planElicitation(
      { toolbox, directory },
      { threadId, requesters, contextAuthors, why, files },
      { call, interrupt, entry, asked },
    );
  if (pause.kind !== 'approval')
    return planAnswer({ toolbox, directory }, origin, { call, interrupt, entry, kind: pause.kind });
  const { tool } = entry;
  const { name: toolName, input } = interrupt.toolRequest;
  const editor = editorOf(interrupt);
  const inner = innerCalls(interrupt);
  const answer = waitingAnswerOf(interrupt);
  const isWhole = inner === undefined && answer === undefined;
  const [whole, preview] = await Promise.all([
    presentCall(directory, entry, input),
    isWhole ? previewOf(entry, input, { threadId, requesters, contextAuthors }) : undefined,
  ]);
  const isInside = isWhole && pause.own && approverOf(interrupt) !== null;
  const words =
    part?.plan?.presented ??
    (isInside ? presentQuestion(whole) : isWhole ? whole : presentPart(whole, inner, answer));
  // A default that the model left out is no change.
  const effective = (given: JsonValue) => effectiveInput(tool.inputSchema, given);
  const previousPreview = previousPreviewOf(interrupt);
  const first = isWhole ? firstInWords(entry, pause.first, requesters) : undefined;
  const presented = {
    ...words,
    ...(first !== undefined && { first }),
    ...(preview !== undefined && { preview }),
    ...(previousPreview !== undefined && { previousPreview }),
    ...(editor !== undefined && {
      changes: changesOf(entry.presentation, effective(call.toolRequest.input), effective(toJson(input))),
    }),
  };
  const { title, target } = presented;
  // The log has the arguments themselves.
  const fields = presented.fields.filter(({ argument }) => argument === undefined);
  const called = {
    tool: toolName,
    title,
    ...(target !== undefined && { target }),
    ...(fields.length > 0 && { fields: toJson(fields) }),
    arguments: toJson(input),
    ...(inner !== undefined && { inner: toJson(inner) }),
    ...(answer !== undefined && { answers: answer.words, answered_by: [...answer.by] }),
    ...(files.length > 0 && { files: toJson(files) }),
  };
  const [requester = NOBODY] = requesters;
  const base = { id: requestIdOf(threadId, interrupt.id), requester, requesters };
  const bound = { entry, interrupt, presented, threadId, requesters, contextAuthors };
  const threadView = { id: THREAD_VIEW, place: { ...placeIn(threadId) } };

  if (!entry.allows({ requesters, contextAuthors, channel: parseThreadId(threadId).channel }))
    return noticeTexts.notAllowedHere;
  const policy = toolbox.policy(part?.policy ?? pause.policy);
  if (policy === undefined) return noticeTexts.noPolicy(part?.policy ?? pause.policy);
  const { name, timeZone, excluded } = policy;
  const { channel } = parseThreadId(threadId);
  const reversible = reversibilityOf(entry, ...(inner ?? []).map((step) => toolbox.find(step.tool)));
  const judged = {
    ...{ tool: toolName, input: toJson(input), reversible, firstOf: firstOfFacts(pause.first) },
    ...{ requesters, contextAuthors, channel, timeZone },
  };
  const resolved = await resolveGroups({ directory, toolbox }, policy, { ...judged, threadId });
  if (!resolved.ok) return resolved.problem;
  const barred = [
    ...new Set([
      ...(policy.separation === 'thread' ? contextAuthors : []),
      ...excluded.filter(isSlackPerson),
      // Who answers decides what runs, like a requester.
      ...(policy.selfApproval ? [] : (answer?.by ?? [])),
    ]),
  ];
  const risk = part?.plan?.risk ?? riskOf(policy.risk, judged);
  const confirm = confirmFor(policy.confirm, risk);
  const lasting = {
    ...snapshotOf(policy, [...resolved.groups]),
    ...(confirm === 'passkey' && { passkey: true as const }),
  };
  const snapshot = part === undefined ? lasting : withinAnHour(lasting);
  const isCovered = part !== undefined && part.plan === undefined;
  // People are checked again at the click and before the start, so a look-up may be a little old, or fail.
  const found: EligibleApprovers = isCovered
    ? { approvers: [], places: 0, isSure: false }
    : await eligibleApprovers(directory.relaxed(), snapshot, { requesters, barred });
  const { approvers, isSure } = found;
  if (isSure && found.places < policy.quorum) {
    return noticeTexts.tooFewApprovers(policy.name, policy.quorum, found.places);
  }
  // Nobody is asked about a step by itself.
  const [told, standIns, statuses] = isCovered
    ? [{ people: [], isFull: false }, [], undefined]
    : await Promise.all([
        peopleToAsk({ store, directory }, policy, approvers, requesters),
        standInsFor({ store, directory }, { ...snapshot, policy: snapshot, requesters, barred }),
        statusesOf(directory.relaxed(), approvers),
      ]);
  const mayGrant =
    part === undefined &&
    toolName !== CALLER_ACTION_TOOL &&
    // Each request of a caller is a thread of its own.
    (policy.grants?.scope !== 'thread' || parseCallerThread(threadId) === undefined) &&
    risk !== 'high' &&
    isWhole &&
    !pause.own &&
    pause.overLimit !== true &&
    editor === undefined;
  const shown = {
    ...{ name, risk, confirm, own: pause.own },
    ...(mayGrant && policy.grants !== undefined && { grants: grantTerms(entry, policy.grants, input) }),
  };
  const keyed = confirm === 'passkey' && isSure ? await withPasskey(store, approvers) : undefined;
  const digest = digestNow(toolbox, { ...bound, policy: policy.name, barred });
  const own = toolbox.policy(pause.policy);
  return {
    ...base,
    labels: { tool: toolName, policy: name },
    barred,
    kind: 'approval',
    details: toDetails(call, interrupt, {
      presented,
      approvers: isSure ? approvers : undefined,
      ...(statuses !== undefined && { statuses }),
      ...(keyed !== undefined && { keyed }),
      description: tool.description,
      ...(entry.runsAsRequester !== undefined && {
        runsAs: { person: requester, server: entry.runsAsRequester.name },
      }),
      ...(pause.own && { rule: pause.rule }),
      ...(votedChoices(interrupt).length > 0 && { shown: digest }),
      because:
        part?.plan?.because ??
        ruleInWords(
          { rule: pause.rule, because: pause.because, isOverLimit: pause.overLimit === true },
          inputWords(entry.presentation),
        ),
      policy: shown,
      ...(isWhole && entry.answers !== undefined && { answers: entry.answers }),
      reversible,
      ...(reversible !== 'no' && entry.undo !== undefined && { undoMs: entry.undo.withinMs }),
      ...(undoes !== undefined && { undoes }),
      ...(link !== undefined && { link }),
      ...(editor !== undefined && { editedBy: editor }),
      ...(contextAuthors.length > 0 && { contextAuthors: [...contextAuthors] }),
      ...(why !== '' && { why }),
      ...(files.length > 0 && { files: [...files] }),
      ...(part?.plan !== undefined && { plan: { ...part.plan.details, shown: digest } }),
    }),
    policy: {
      ...(told.isFull ? escalatedAtOnce(snapshot) : snapshot),
      // Only the people of its own policy confirm the outcome of a step.
      ...(isCovered && own !== undefined && { resolvers: snapshotOf(own).resolvers }),
    },
    digest: part?.plan === undefined ? digest : planDigest(digest, numbered(part.plan.steps)),
    ...(part?.plan !== undefined && { steps: part.plan.steps }),
    audit: {
      ...called,
      rule: pause.rule,
      policy_name: name,
      reversible,
      ...(pause.first !== undefined && { first: toJson(pause.first) }),
      ...(contextAuthors.length > 0 && { context_authors: [...contextAuthors] }),
      ...(entry.runsAsRequester !== undefined && { runs_as: requester }),
      ...(undoes !== undefined && { undoes: undoes.requestId }),
    },
    execution: waitsForTask(interrupt) ? TASK_ANSWER : entry.execution,
    views: isCovered ? [] : [threadView, ...otherViews(policy, told.people, standIns)],
  };
}

/** Counts the people who have a passkey that counts now. */
async function withPasskey(store: PlanContext['store'], people: readonly string[]): Promise<number> {
  const held = await Promise.all(people.map((who) => readPasskeys(store, who)));
  return held.filter(({ keys }) => keys.some((key) => countsNow(key))).length;
}

/** Numbers the steps of a plan. */
function numbered(steps: NonNullable<NewRequest['steps']>) {
  return steps.map(({ digest }, index) => ({ number: index + 1, digest }));
}

function withinAnHour(snapshot: PolicySnapshot): PolicySnapshot {
  return {
    ...snapshot,
    expiresInMs: Math.min(snapshot.expiresInMs, PLAN_MS),
    startWithinMs: Math.min(snapshot.startWithinMs ?? PLAN_MS, PLAN_MS),
  };
}

/** Returns the terms of a grant, with what it covers in words: its tool and its policy stay as they are as long as it holds. */
function grantTerms({ presentation }: ToolEntry, terms: NonNullable<Policy['grants']>, input: unknown) {
  if (terms.when === undefined) return { ...terms };
  return { ...terms, covers: coverageOf(presentation, terms.when, toJson(input)) };
}
