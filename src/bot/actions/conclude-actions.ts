import { z } from 'zod';
import { type JsonValue, toJson } from '../../agent/json.ts';
import type { Interrupt, Message, ResponsePart } from '../../agent/messages.ts';
import { type ClaimedTurn, type Conclusion, requestIdOf, type Settlement } from '../../store/port/store.ts';
import { elicitationOf } from '../../tools/mcp/server-pause.ts';
import type { BotContext } from '../context.ts';
import { parseAnswerValue } from '../elicitation/answer-value.ts';
import { describePause } from '../elicitation/people-asked.ts';
import { classifyInterrupt } from '../requests/classify-interrupt.ts';
import type { Unanswered } from '../requests/paused-action.ts';
import { CHANGED } from '../requests/replies-to.ts';
import { peopleOf } from '../requests/task-people.ts';

/** A call with all its pauses, oldest first, and its result if it has one. */
interface ContinuedCall {
  readonly pauses: Interrupt[];
  result?: ResponsePart;
}

/**
 * Brings the requests up to date whose actions paused while they ran: how the call ended, or what it waits for now. It is safe to do
 * so before the turn ends, since the journal has the result: a turn that takes over comes to the same.
 */
export async function concludeActions(
  { store, toolbox, logger }: Pick<BotContext, 'store' | 'toolbox' | 'logger'>,
  turn: ClaimedTurn,
  settled: readonly Settlement[],
  messages: readonly Message[],
): Promise<void> {
  const { threadId } = turn;
  const people = { threadId, ...peopleOf(messages) };
  for (const { pauses, result } of callsIn(messages)) {
    const latest = pauses.at(-1);
    if (latest === undefined) continue;
    const conclusion =
      result === undefined
        ? continuation(settled, pauses, () => toJson(describePause(toolbox, latest, people)))
        : endOf(result, unanswered(settled, pauses));
    // The request of the last pause says by itself how it ended.
    for (const { id } of pauses
      .slice(0, -1)
      .filter((pause) => classifyInterrupt(pause).kind === 'approval')) {
      const concluded = await store.conclude(turn, requestIdOf(threadId, id), conclusion);
      if (concluded.outcome === 'stale' || concluded.outcome === 'malformed')
        logger.warn({ requestId: requestIdOf(threadId, id), ...concluded }, 'action not concluded');
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
): Conclusion {
  const latest = pauses.at(-1);
  const pause = latest && classifyInterrupt(latest);
  if (pause?.kind !== 'approval' || pause.own) return { state: 'paused', summary: waiting() };
  const replaced = settled.find(({ requestId, state }) => state === 'superseded' && isOf(pauses, requestId));
  return { state: 'superseded', reason: replaced?.payload ?? CHANGED };
}

const Closed = z.object({ status: z.string(), reason: z.string().catch('') });

function endOf({ status, toolResponse: { output } }: ResponsePart, missing: Missing | undefined): Conclusion {
  if (status === 'ok')
    return {
      state: 'succeeded',
      summary: missing === undefined ? output : ({ ...missing, result: output } satisfies Unanswered),
    };
  const closed = Closed.safeParse(output).data;
  if (status === 'closed' && closed?.status === 'ran') return { state: 'succeeded', summary: output };
  return { state: 'failed', summary: closed === undefined || closed.reason === '' ? output : closed.reason };
}

type Missing = Omit<Unanswered, 'result'>;

/** Finds the question of a server that ended in this turn without an answer. */
function unanswered(settled: readonly Settlement[], pauses: readonly Interrupt[]): Missing | undefined {
  for (const { requestId, state, payload } of settled) {
    const asked = pauses.find((pause) => requestId.endsWith(`~${pause.id}`));
    const server = asked && elicitationOf(asked)?.server;
    if (server === undefined) continue;
    if (state === 'withdrawn' || state === 'expired') return { unanswered: state, server };
    if (parseAnswerValue(payload)?.action === 'decline') return { unanswered: 'declined', server };
  }
  return undefined;
}

function isOf(pauses: readonly Interrupt[], requestId: string): boolean {
  return pauses.some(({ id }) => requestId.endsWith(`~${id}`));
}
