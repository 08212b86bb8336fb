import { z } from 'zod';
import { OUTCOME_UNKNOWN } from '../agent/calls/journal.ts';
import { type JsonValue, toJson, tryParseJson } from '../agent/json.ts';
import { Json } from '../agent/json-schema.ts';
import type { Interrupt, Message, ResponsePart } from '../agent/messages.ts';
import { buildRestart, type RestartReply } from '../agent/replies.ts';
import { type SettleOptions, settle } from '../agent/settle.ts';
import type { Tool } from '../agent/tool.ts';
import { Transcript } from '../agent/transcript.ts';
import { interruptOf, requestIdOf } from '../store/port/keys.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { ClaimedTurn, Continued, Settlement } from '../store/port/values.ts';
import { continueWith } from '../tools/gate.ts';
import {
  answerOf,
  elicitationOf,
  isRunAsTask,
  PauseEnd,
  serverPauseOf,
  taskOf,
} from '../tools/mcp/server-pause.ts';
import { askOf, meaningOf } from '../tools/pause.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { waitingAnswerOf } from '../tools/waiting-answer.ts';
import { admit } from './admit.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import { channelOf, type EngineContext } from './ports.ts';
import { writeReason } from './reasons.ts';
import { answeredRun } from './run.ts';
import { peopleOf, type TaskPeople } from './task-people.ts';

const Paused = z.discriminatedUnion('paused', [
  /** Its server has asked these people. */
  z.object({ paused: z.literal('question'), server: z.string(), asked: z.array(z.string()) }),
  /** It goes on with an answer to its server, which has a request of its own: that one is approved, runs, and may end as unknown. */
  z.object({ paused: z.literal('answer'), server: z.string() }),
  /** Its server runs it as a task. */
  z.object({ paused: z.literal('task'), server: z.string() }),
  /** It was continued, and nobody knows whether it took effect; its resolvers are asked by a request of its own. */
  z.object({ paused: z.literal('unknown') }),
  /** Its tool has asked somebody. */
  z.object({ paused: z.literal('tool') }),
]);
/** The reason why an action paused while it ran. */
export type Paused = Readonly<z.infer<typeof Paused>>;

const Unanswered = z.strictObject({
  unanswered: z.enum(['declined', 'withdrawn', 'expired', 'rejected']),
  server: z.string(),
  result: Json,
});
/** The result of an action whose server went on without an answer. */
export type Unanswered = Readonly<z.infer<typeof Unanswered>>;

/** Returns what a request waits for whose action paused while it ran; `undefined` for any other. */
export function pausedIn({ state, payload = '' }: RequestRecord): Paused | undefined {
  if (state !== 'paused') return undefined;
  return Paused.safeParse(tryParseJson(payload)).data ?? { paused: 'tool' };
}

/** Returns the result of an action whose server got no answer; `undefined` for any other. */
export function unansweredIn({ state, payload = '' }: RequestRecord): Unanswered | undefined {
  return state === 'succeeded' ? Unanswered.safeParse(tryParseJson(payload)).data : undefined;
}

/** The result of an action that ran, and returned something that cannot be used. */
const Unusable = z.strictObject({ status: z.literal('ran'), problem: z.string() });

/** Returns what is wrong with the result of an action that ran; `undefined` for any other. */
export function resultProblemIn({ state, payload = '' }: RequestRecord): string | undefined {
  return state === 'succeeded' ? Unusable.safeParse(tryParseJson(payload)).data?.problem : undefined;
}

/** The place and the people of a call. */
type CallPeople = TaskPeople & { readonly threadId: string };

/** Finds the people to whom the questions of a tool's server are put, and the policy that its rules name for the call. */
export function peopleAsked(
  toolbox: Pick<Toolbox, 'policy'>,
  entry: ToolEntry,
  input: JsonValue,
  { threadId, requesters, contextAuthors }: CallPeople,
): { readonly people: readonly string[]; readonly policy: string | undefined } {
  const verdict = entry.judge(input, { requesters, contextAuthors, channel: channelOf(threadId) });
  const policy = verdict.outcome === 'ask' ? verdict.policy : undefined;
  const { ask = 'requester' } = entry.elicitation ?? {};
  const principals = ask === 'approvers' ? approversFor(toolbox, policy ?? entry.resolvedBy) : ask;
  const people = principals === undefined || principals === 'requester' ? requesters : principals;
  return { people, policy };
}

function approversFor(
  toolbox: Pick<Toolbox, 'policy'>,
  policyName: string | undefined,
): readonly string[] | undefined {
  const policy = toolbox.policy(policyName ?? '');
  return policy && [...new Set(policy.groups.flatMap(({ any }) => any))];
}

/** Says what a call waits for that paused while it ran. */
export function describePause(
  toolbox: Pick<Toolbox, 'policy' | 'find'>,
  interrupt: Interrupt,
  people: CallPeople,
): Paused {
  if (interrupt.metadata?.[OUTCOME_UNKNOWN] !== undefined) return { paused: 'unknown' };
  const answer = waitingAnswerOf(interrupt);
  if (answer?.server !== undefined) return { paused: 'answer', server: answer.server };
  const pause = serverPauseOf(interrupt);
  const { name, input } = interrupt.toolRequest;
  const entry = toolbox.find(name);
  if (pause === undefined || entry === undefined) return { paused: 'tool' };
  const { server } = pause;
  if (pause.kind === 'task') return { paused: 'task', server };
  const { people: asked } = peopleAsked(toolbox, entry, toJson(input), people);
  return { paused: 'question', server, asked: [...asked] };
}

/**
 * Returns the ended requests of a turn. An answer to a server's or a tool's question continues its call only if the call could still be started as it
 * was; by any other the request counts as superseded, and the call is asked anew. A task, which runs already, is told that its question
 * is cancelled.
 */
export async function admitAnswers(
  context: Pick<EngineContext, 'store' | 'toolbox' | 'people' | 'logger'>,
  { messages, settled }: ClaimedTurn,
): Promise<readonly Settlement[]> {
  if (settled.length === 0) return settled;
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  return Promise.all(
    settled.map(async (settlement): Promise<Settlement> => {
      const interrupt = interrupts.find(({ id }) => id === interruptOf(settlement.requestId));
      const asked = interrupt && elicitationOf(interrupt);
      // An interrupt has no function that an answer could let run.
      const goesOn = asked !== undefined || (interrupt && askOf(interrupt)?.reply === 'restart') === true;
      if (settlement.state !== 'answered' || !goesOn) return settlement;
      const loaded = await context.store.load(settlement.requestId);
      const admission =
        loaded.outcome === 'found'
          ? await admit(context, await answeredRun(context, loaded.request))
          : { outcome: 'refused' as const, refusal: { code: 'changed' as const } };
      if (admission.outcome !== 'refused') return settlement;
      const state = isRunAsTask(asked) ? 'withdrawn' : 'superseded';
      return { ...settlement, state, payload: writeReason(admission.refusal) };
    }),
  );
}

/** A call with all its pauses, oldest first, and its result if it has one. */
interface ContinuedCall {
  readonly pauses: Interrupt[];
  result?: ResponsePart;
}

/**
 * Brings the requests up to date whose actions paused while they ran: how the call ended, or what it waits for now. It is safe to do
 * so before the turn ends, since the journal has the result: a turn that takes over comes to the same.
 */
export async function finishPaused(
  { store, toolbox, logger }: Pick<EngineContext, 'store' | 'toolbox' | 'logger'>,
  turn: ClaimedTurn,
  settled: readonly Settlement[],
  messages: readonly Message[],
): Promise<void> {
  const { threadId } = turn;
  const people = { threadId, ...peopleOf(messages, toolbox) };
  for (const { pauses, result } of callsIn(messages)) {
    const latest = pauses.at(-1);
    if (latest === undefined) continue;
    const continued =
      result === undefined
        ? continuation(settled, pauses, () => toJson(describePause(toolbox, latest, people)))
        : endOf(result, unanswered(settled, pauses), rejection(settled, pauses));
    // The request of the last pause says by itself how it ended.
    for (const { id } of pauses
      .slice(0, -1)
      .filter((pause) => classifyInterrupt(pause).kind === 'approval')) {
      const requestId = requestIdOf(threadId, id);
      const finished = await store.finish(requestId, { turn, ...continued });
      if (finished.outcome === 'stale' || finished.outcome === 'malformed')
        logger.warn({ requestId, ...finished }, 'paused action not finished');
    }
  }
}

/** Lists the calls of the latest round that have paused. */
function callsIn(messages: readonly Message[]): readonly ContinuedCall[] {
  const calls = new Map<string, ContinuedCall>();
  const start = messages.findLastIndex(({ role }) => role === 'model');
  for (const message of messages.slice(start + 1)) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      const { ref } = 'interrupt' in part ? part.interrupt.toolRequest : part.toolResponse;
      const call = calls.get(ref) ?? { pauses: [] };
      calls.set(ref, call);
      if ('interrupt' in part) call.pauses.push(part.interrupt);
      else call.result = part;
    }
  }
  return [...calls.values()];
}

/** A call that the gate asks about anew is another one than that which ran; any other waits. */
function continuation(
  settled: readonly Settlement[],
  pauses: readonly Interrupt[],
  waiting: () => JsonValue,
): Continued {
  const latest = pauses.at(-1);
  const pause = latest && classifyInterrupt(latest);
  const isAnswer = latest !== undefined && waitingAnswerOf(latest) !== undefined;
  if (pause?.kind !== 'approval' || pause.own || isAnswer) return { state: 'paused', summary: waiting() };
  const replaced = settled.find(({ requestId, state }) => state === 'superseded' && isOf(pauses, requestId));
  return { state: 'superseded', reason: replaced?.payload ?? writeReason({ code: 'changed' }) };
}

const Closed = z.object({ status: z.string(), reason: z.string().catch('') });

function endOf(
  { status, toolResponse: { output } }: ResponsePart,
  missing: Missing | undefined,
  rejected: string | undefined,
): Continued {
  if (status === 'ok')
    return {
      state: 'succeeded',
      summary: missing === undefined ? output : ({ ...missing, result: output } satisfies Unanswered),
    };
  const closed = Closed.safeParse(output).data;
  if (status === 'closed' && closed?.status === 'ran') return { state: 'succeeded', summary: output };
  if (status === 'denied' && rejected !== undefined) return { state: 'failed', summary: rejected };
  return { state: 'failed', summary: closed === undefined || closed.reason === '' ? output : closed.reason };
}

/** Says that a person said no to what a call asked, in their words; the card of that request names them. */
function rejection(settled: readonly Settlement[], pauses: readonly Interrupt[]): string | undefined {
  const ended = settled.find((settlement) => pauses.some((pause) => isRejectionOf(pause, settlement)));
  if (ended === undefined) return undefined;
  return ended.state === 'answered' || ended.payload === '' ? 'Rejected' : `Rejected: ${ended.payload}`;
}

/** Tells whether a pause ended because a person said no: by a rejection, or by the answer to a tool that asked for a yes. */
export function isRejectionOf(pause: Interrupt, { requestId, state, payload }: Settlement): boolean {
  if (interruptOf(requestId) !== pause.id) return false;
  if (state !== 'answered') return state === 'rejected';
  const ask = askOf(pause);
  const answer = tryParseJson(payload);
  return ask !== undefined && answer !== undefined && meaningOf(ask, answer).reply === 'deny';
}

type Missing = Omit<Unanswered, 'result'>;

/** Finds the question of a server that ended in this turn without an answer. */
function unanswered(settled: readonly Settlement[], pauses: readonly Interrupt[]): Missing | undefined {
  for (const { requestId, state, payload } of settled) {
    const asked = pauses.find((pause) => interruptOf(requestId) === pause.id);
    const server = asked && (elicitationOf(asked) ?? answerOf(asked)?.pause)?.server;
    if (server === undefined) continue;
    if (state === 'withdrawn' || state === 'expired' || state === 'rejected')
      return { unanswered: state, server };
    if (PauseEnd.safeParse(tryParseJson(payload)).data?.action === 'decline')
      return { unanswered: 'declined', server };
  }
  return undefined;
}

function isOf(pauses: readonly Interrupt[], requestId: string): boolean {
  return pauses.some(({ id }) => id === interruptOf(requestId));
}

/**
 * Follows the tasks that servers run for the calls of a thread, to their ends. Each task is on record by then: in the messages, or in
 * the journal with the pause of its call.
 */
export async function followTasks(
  messages: readonly Message[],
  options: Omit<SettleOptions<readonly Tool[]>, 'messages' | 'resume'>,
): Promise<readonly Message[]> {
  let settled = messages;
  // A task whose questions nobody has to answer is followed on.
  for (;;) {
    const restart = repliesFor(settled, options.tools);
    if (restart.length === 0) return settled;
    ({ messages: settled } = await settle({ ...options, messages: settled, resume: { restart } }));
  }
}

function repliesFor(messages: readonly Message[], tools: readonly Tool[]): RestartReply[] {
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  return interrupts.flatMap((interrupt: Interrupt) => {
    const pause = taskOf(interrupt);
    const tool = tools.find(({ name }) => name === interrupt.toolRequest.name);
    if (pause === undefined || tool?.kind !== 'tool') return [];
    const metadata = continueWith(interrupt, { pause, end: { action: 'accept' } });
    return [buildRestart(tool, interrupt, metadata, {})];
  });
}
