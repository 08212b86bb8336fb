import { type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import type { CallPart, Message } from '../agent/messages.ts';
import { countersOfDone } from '../policy/first-times.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { DoneCounter } from '../store/port/workspace.ts';
import { type CallPlace, grantOf } from '../tools/gate.ts';
import type { ToolEntry } from '../tools/toolbox/toolbox.ts';
import { digestNow } from './bind-request.ts';
import { choiceDigest, votedChoices } from './choices.ts';
import { GrantEvidence } from './grant-evidence.ts';
import type { ApprovedAs } from './passkeys.ts';
import { channelOf, type EngineContext, type Voter } from './ports.ts';
import { type Details, detailsOf } from './request-details.ts';
import { peopleOf } from './task-people.ts';

/** One call of one tool, with the people whose words led to it. */
interface Call {
  readonly threadId: string;
  /** The ref of the call, unique in its thread. */
  readonly ref: string;
  readonly tool: string;
  /** The tool as it is now; `undefined` if it is gone. */
  readonly entry: ToolEntry | undefined;
  readonly input: JsonValue;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  /** The number of starts on record. */
  readonly attempts: number;
}

/** A call with its request on record. */
interface AskedCall extends Call {
  readonly request: RequestRecord;
  readonly details: Details;
}

/** A Run that people have approved, or whose outcome they have confirmed so that it runs again. */
export interface ApprovedRun extends AskedCall {
  readonly basis: 'approval';
  /** The people whose approval it rests on, and in whose place. */
  readonly approvers: readonly Voter[];
  /** The request that they approved. */
  readonly approvedAs: ApprovedAs;
}

/** A Run that has paused for its server and goes on with an answer, on the approval or the grant that it was started with. */
export interface AnsweredRun extends AskedCall {
  readonly basis: 'answer';
  readonly grant: string | undefined;
}

/** A Run in a turn, which its rules or a grant let run; the gate has judged it. */
export interface TurnRun extends Call {
  readonly basis: 'rules';
  readonly call: CallPart;
  /** The body of its audit rows. */
  readonly evidence: JsonObject;
  /** The grant that admitted it. */
  readonly grant: GrantEvidence | undefined;
}

export type Run = ApprovedRun | AnsweredRun | TurnRun;

/** The grounds on which a Run may start. */
export type Basis = Run['basis'];

/** Returns the people and the channel of a Run. */
export function placeOf({ requesters, contextAuthors, threadId }: Call): CallPlace {
  return { requesters, contextAuthors, channel: channelOf(threadId) };
}

/**
 * Names a call in the counters of limits: the same for every attempt, in a turn and after an approval, so that it counts once although it
 * paused while it ran, or is tried again after a person has looked at its outcome.
 */
export function actionOf({ threadId, ref }: Pick<Call, 'threadId' | 'ref'>): string {
  return `${threadId}/${ref}`;
}

/** Lists what a Run counts for first times once it has succeeded; only those who asked for it have done it. */
export function doneBy({
  entry,
  tool,
  input,
  requesters,
}: Pick<Call, 'entry' | 'tool' | 'input' | 'requesters'>): readonly DoneCounter[] {
  if (entry?.firstDays === undefined) return [];
  const target = entry.presentation.targetOf(input);
  return countersOfDone({ tool, target, people: requesters }, entry.firstDays);
}

/**
 * Makes the Run of an approved request, with its tool as it is now; a vote that is about to be cast counts among the approvals. A step of a
 * plan was approved as its plan.
 */
export async function approvedRun(
  context: Pick<EngineContext, 'toolbox' | 'logger'>,
  request: RequestRecord,
  more: readonly Voter[] = [],
  approvedAs: ApprovedAs & Pick<RequestRecord, 'votes'> = request,
): Promise<ApprovedRun> {
  const approvals = approvedAs.votes.filter(({ decision }) => decision === 'approve');
  const asked = await askedCall(context, request);
  return { ...asked, basis: 'approval', approvers: [...approvals, ...more], approvedAs };
}

/** Makes the Run of a call whose server was answered. */
export async function answeredRun(
  context: Pick<EngineContext, 'toolbox' | 'logger'>,
  request: RequestRecord,
): Promise<AnsweredRun> {
  const asked = await askedCall(context, request);
  return { ...asked, basis: 'answer', grant: grantOf(asked.details.interrupt) };
}

/** Joins a request with its tool, after the tool's server was asked again. */
async function askedCall(
  { toolbox, logger }: Pick<EngineContext, 'toolbox' | 'logger'>,
  request: RequestRecord,
): Promise<AskedCall> {
  const details = detailsOf(request);
  const { name: tool, ref, input } = details.interrupt.toolRequest;
  // A server that cannot be asked is down, and a call of it fails before anything is sent.
  const { threadId, requesters, attempts } = request;
  const { context: contextAuthors = [] } = details.facets;
  await toolbox
    .refresh(tool, [...requesters, ...contextAuthors])
    .catch((err: unknown) => logger.warn({ requestId: request.id, err }, 'tool not refreshed'));
  const called = { threadId, ref, tool, input: toJson(input), requesters, contextAuthors, attempts };
  return { ...called, entry: toolbox.find(tool), request, details };
}

/** Makes the Run of a call in a turn; its people are those of the messages that led to it. */
export function turnRun(
  { toolbox }: Pick<EngineContext, 'toolbox'>,
  threadId: string,
  { call, input, messages, attempts, granted }: CallInTurn,
): TurnRun {
  const { name: tool, ref } = call.toolRequest;
  const { requesters, contextAuthors } = peopleOf(messages, toolbox);
  const evidence = {
    tool,
    arguments: input,
    requesters: [...requesters],
    ...(contextAuthors.length > 0 && { context_authors: [...contextAuthors] }),
    ref,
    idempotencyKey: call.idempotencyKey,
    ...(granted !== undefined && { granted }),
  };
  const called = { threadId, ref, tool, input, requesters, contextAuthors, attempts };
  const grant = GrantEvidence.safeParse(granted).data;
  return { ...called, entry: toolbox.find(tool), basis: 'rules', call, evidence, grant };
}

/** A call of a turn that is about to start. */
interface CallInTurn {
  readonly call: CallPart;
  /** The input that runs: the model's, or the one that replaced it. */
  readonly input: JsonValue;
  readonly messages: readonly Message[];
  readonly attempts: number;
  readonly granted?: JsonObject | undefined;
}

/** Computes the digest of a request by the manifest that is active now; `undefined` if its tool is gone. */
export function digestOf(
  { toolbox }: Pick<EngineContext, 'toolbox'>,
  { entry, request, details }: AskedCall,
): string | undefined {
  if (entry === undefined) return undefined;
  const { threadId, requesters, barred } = request;
  const { interrupt, facets, policy, presented, terms } = details;
  const { context: contextAuthors = [] } = facets;
  const digest = digestNow(toolbox, {
    entry,
    interrupt,
    presented,
    facets,
    terms,
    threadId,
    requesters,
    contextAuthors,
    barred,
    policy: policy?.name,
  });
  const choices = votedChoices(interrupt);
  return choices.length === 0 ? digest : choiceDigest(digest, request.chosen?.[0] ?? 0, choices);
}
