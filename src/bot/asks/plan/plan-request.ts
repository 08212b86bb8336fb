import { type JsonValue, toJson } from '../../../agent/json.ts';
import type { CallPart, Interrupt } from '../../../agent/messages.ts';
import { effectiveInput } from '../../../agent/schema/compile-schema.ts';
import { previewOf } from '../../../engine/admit.ts';
import { digestNow } from '../../../engine/bind-request.ts';
import { type AnswerKind, classifyInterrupt } from '../../../engine/classify-interrupt.ts';
import { innerCalls, type RequestOrigin, toDetails } from '../../../engine/request-details.ts';
import { NOBODY } from '../../../engine/task-people.ts';
import { type Policy, riskOf } from '../../../policy/policy.ts';
import { type NewRequest, type PolicySnapshot, requestIdOf, type Store } from '../../../store/port/store.ts';
import { callerId } from '../../../tools/callers.ts';
import { editorOf, previousPreviewOf } from '../../../tools/gate.ts';
import { consentOf } from '../../../tools/mcp/auth/ask-for-consent.ts';
import { answerOf, answersInWords, elicitationOf, waitsForTask } from '../../../tools/mcp/server-pause.ts';
import { CALLER_ACTION_TOOL, type Elsewhere, elsewhereOf } from '../../../tools/toolbox/caller-action.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { BotContext } from '../../context.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { parseThreadId, placeIn } from '../../slack/thread.ts';
import { ruleInWords } from '../../views/texts/cards.ts';
import { connectionTexts } from '../../views/texts/connections.ts';
import { noticeTexts } from '../../views/texts/notices.ts';
import { THREAD_VIEW } from '../../views/view-ids.ts';
import { resolveGroups } from '../approver-groups.ts';
import { problemWithAsked, purposeOf } from '../awaited-schema.ts';
import { answerSnapshot, snapshotOf } from '../policy-snapshot.ts';
import { standInsFor } from '../stand-ins.ts';
import { eligibleApprovers, escalatedAtOnce, otherViews, peopleToAsk, statusesOf } from './people-to-ask.ts';
import { planElicitation } from './plan-elicitation.ts';
import { planUnknown } from './plan-unknown.ts';
import { changesOf, coverageOf, inputWords, presentCall, presentPart } from './present-call.ts';

const DAY_MS = 86_400_000;
const QUESTION_MS = DAY_MS;
const CALLBACK_MS = 7 * DAY_MS;
/** A task ignores an answer that it has already, so that one may be sent again. */
const TASK_ANSWER = { idempotent: true, maxAttempts: 10, retryForMs: DAY_MS };
const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** The parts of the context that a plan needs. */
export type PlanContext = Pick<BotContext, 'toolbox' | 'directory'> & {
  readonly store: Pick<Store, 'readDocument' | 'list' | 'load'>;
};

/** Plans the request of one waiting call; returns a sentence if nobody could ever approve it. */
export async function planRequest(
  context: PlanContext,
  origin: RequestOrigin,
  call: CallPart,
  interrupt: Interrupt,
): Promise<NewRequest | string> {
  const isUnknown = classifyInterrupt(interrupt).kind === 'unknown';
  const plan = isUnknown ? '' : await planKnown(context, origin, call, interrupt);
  // A task runs on at its server, whether we can follow it or not.
  if (typeof plan !== 'string' || !(isUnknown || waitsForTask(interrupt))) return plan;
  const entry = context.toolbox.find(interrupt.toolRequest.name);
  return planUnknown(context, origin, { call, interrupt, entry });
}

async function planKnown(
  { toolbox, directory, store }: PlanContext,
  { threadId, requesters, contextAuthors, why, files, undoes, link }: RequestOrigin,
  call: CallPart,
  interrupt: Interrupt,
): Promise<NewRequest | string> {
  const pause = classifyInterrupt(interrupt);
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
  const { tool } = entry;
  const { name: toolName, input } = interrupt.toolRequest;
  const editor = editorOf(interrupt);
  const inner = innerCalls(interrupt);
  const answer = answerOf(interrupt);
  const isWhole = inner === undefined && answer === undefined;
  const hasPreview = pause.kind === 'approval' && isWhole;
  const [whole, preview] = await Promise.all([
    presentCall(directory, entry, input),
    hasPreview ? previewOf(entry, input, { threadId, requesters, contextAuthors }) : undefined,
  ]);
  const words = isWhole ? whole : presentPart(whole, inner, answer);
  // A default that the model left out is no change.
  const effective = (given: JsonValue) => effectiveInput(tool.inputSchema, given);
  const previousPreview = previousPreviewOf(interrupt);
  const presented = {
    ...words,
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
    ...(answer !== undefined && { answers: answersInWords(answer), answered_by: answer.by }),
    ...(files.length > 0 && { files: toJson(files) }),
  };
  const [requester = NOBODY] = requesters;
  const base = {
    ...{ id: requestIdOf(threadId, interrupt.id), requester, requesters },
    labels: { tool: toolName, policy: '' },
  };
  const bound = { entry, interrupt, presented, threadId, requesters, contextAuthors };
  const threadView = { id: THREAD_VIEW, place: { ...placeIn(threadId) } };

  if (pause.kind !== 'approval') {
    const problem = problemWithAsked(interrupt);
    if (problem !== undefined) return problem;
    const consent = consentOf(interrupt);
    const purpose =
      consent === undefined
        ? purposeOf(interrupt)
        : connectionTexts.cardPurpose(consent.server, consent.host);
    const shown = { presented, description: tool.description, ...(purpose !== undefined && { purpose }) };
    const details = toDetails(call, interrupt, shown);
    const elsewhere = elsewhereOf(interrupt);
    const snapshot =
      elsewhere !== undefined
        ? callerPolicy(elsewhere)
        : consent === undefined
          ? answerPolicy(entry, requesters, pause.kind)
          : consentPolicy(consent.person);
    return {
      ...base,
      kind: pause.kind,
      details,
      audit: called,
      policy: snapshot,
      digest: digestNow(toolbox, { ...bound, policy: undefined, barred: [] }),
      execution: NO_EXECUTION,
      // The card of the approval says that the caller runs it.
      views: elsewhere === undefined ? [threadView] : [],
    };
  }
  if (!entry.allows({ requesters, contextAuthors, channel: parseThreadId(threadId).channel }))
    return noticeTexts.notAllowedHere;
  const policy = toolbox.policy(pause.policy);
  if (policy === undefined) return noticeTexts.noPolicy(pause.policy);
  const { name, confirm, timeZone, excluded } = policy;
  const { channel } = parseThreadId(threadId);
  const judged = { tool: toolName, input: toJson(input), requesters, contextAuthors, channel, timeZone };
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
  const snapshot = snapshotOf(policy, [...resolved.groups]);
  // People are checked again at the click and before the start, so a look-up may be a little old, or fail.
  const found = await eligibleApprovers(directory.relaxed(), snapshot, { requesters, barred });
  const { approvers, isSure } = found;
  if (isSure && found.places < policy.quorum) {
    return noticeTexts.tooFewApprovers(policy.name, policy.quorum, found.places);
  }
  const [told, standIns, statuses] = await Promise.all([
    peopleToAsk({ store, directory }, policy, approvers, requesters),
    standInsFor({ store, directory }, { ...snapshot, policy: snapshot, requesters, barred }),
    statusesOf(directory.relaxed(), approvers),
  ]);
  const risk = riskOf(policy.risk, judged);
  const mayGrant =
    toolName !== CALLER_ACTION_TOOL &&
    risk !== 'high' &&
    isWhole &&
    !pause.own &&
    pause.overLimit !== true &&
    editor === undefined;
  const shown = {
    ...{ name, risk, confirm, own: pause.own },
    ...(mayGrant && policy.grants !== undefined && { grants: grantTerms(entry, policy.grants, input) }),
  };
  return {
    ...base,
    labels: { tool: toolName, policy: name },
    barred,
    kind: 'approval',
    details: toDetails(call, interrupt, {
      presented,
      approvers: isSure ? approvers : undefined,
      ...(statuses !== undefined && { statuses }),
      description: tool.description,
      ...(entry.runsAsRequester !== undefined && {
        runsAs: { person: requester, server: entry.runsAsRequester.name },
      }),
      ...(pause.own && { rule: pause.rule }),
      because: ruleInWords(
        { rule: pause.rule, because: pause.because, isOverLimit: pause.overLimit === true },
        inputWords(entry.presentation),
      ),
      policy: shown,
      ...(isWhole && entry.answers !== undefined && { answers: entry.answers }),
      ...(answer === undefined && entry.undo !== undefined && { undoMs: entry.undo.withinMs }),
      ...(undoes !== undefined && { undoes }),
      ...(link !== undefined && { link }),
      ...(editor !== undefined && { editedBy: editor }),
      ...(contextAuthors.length > 0 && { contextAuthors: [...contextAuthors] }),
      ...(why !== '' && { why }),
      ...(files.length > 0 && { files: [...files] }),
    }),
    policy: told.isFull ? escalatedAtOnce(snapshot) : snapshot,
    digest: digestNow(toolbox, { ...bound, policy: policy.name, barred }),
    audit: {
      ...called,
      rule: pause.rule,
      policy_name: name,
      ...(contextAuthors.length > 0 && { context_authors: [...contextAuthors] }),
      ...(entry.runsAsRequester !== undefined && { runs_as: requester }),
      ...(undoes !== undefined && { undoes: undoes.requestId }),
    },
    execution: waitsForTask(interrupt) ? TASK_ANSWER : entry.execution,
    views: [threadView, ...otherViews(policy, told.people, standIns)],
  };
}

/** Returns the terms of a grant, with what it covers in words: its tool and its policy stay as they are as long as it holds. */
function grantTerms({ presentation }: ToolEntry, terms: NonNullable<Policy['grants']>, input: unknown) {
  if (terms.when === undefined) return { ...terms };
  return { ...terms, covers: coverageOf(presentation, terms.when, toJson(input)) };
}

function answerPolicy(entry: ToolEntry, requesters: readonly string[], kind: AnswerKind): PolicySnapshot {
  const limitToRequester = entry.answerableBy === 'requester';
  return answerSnapshot(requesters, {
    limitToRequester,
    expiresInMs: kind === 'callback' ? CALLBACK_MS : QUESTION_MS,
  });
}

/** Only the caller itself reports what it ran: until the last moment to start, and then as long as it has asked for. */
function callerPolicy({ caller, startWithinMs, reportWithinMs }: Elsewhere): PolicySnapshot {
  const expiresInMs = startWithinMs + reportWithinMs;
  return answerSnapshot([callerId(caller)], { limitToRequester: true, expiresInMs });
}

/** Only the person themselves can connect their account. */
function consentPolicy(person: string): PolicySnapshot {
  return answerSnapshot([person], { limitToRequester: true, expiresInMs: QUESTION_MS });
}
