import { setInterval } from 'node:timers';
import { generate } from '../agent/generate.ts';
import { type Message, userMessage } from '../agent/messages.ts';
import { settle } from '../agent/settle.ts';
import { Transcript } from '../agent/transcript.ts';
import type { TakenTurn, TurnEnd } from '../store/port.ts';
import type { BotParts } from './bot-parts.ts';
import { openRequests } from './open-requests.ts';
import { repliesTo } from './replies-to.ts';
import { parseThreadId } from './thread.ts';
import { wordsFor } from './words-for.ts';

const LEASE_MS = 30_000;

/** The story of a turn: what people decided is settled, what they said is read, the model works, and what waits is asked. */
export async function takeTurn(parts: BotParts, threadId: string): Promise<void> {
  const taken = await parts.store.take(threadId, LEASE_MS);
  if (taken.outcome === 'quarantined')
    parts.logger.error({ threadId, reason: taken.reason }, 'thread set aside');
  if (taken.outcome !== 'taken') return;

  const { turn } = taken;
  const lost = new AbortController();
  const renewing = setInterval(() => void keepLease(parts, turn, lost), LEASE_MS / 3);
  try {
    const end = await work(parts, turn, lost.signal);
    const written = await parts.store.suspend(turn, end);
    if (written.outcome !== 'suspended') parts.logger.warn({ threadId, ...written }, 'a turn was given up');
  } finally {
    clearInterval(renewing);
  }
}

async function work(parts: BotParts, turn: TakenTurn, signal: AbortSignal): Promise<TurnEnd> {
  const { tools, model, instructions } = parts;
  const resume = repliesTo(turn.settled, turn.messages, tools);
  const { messages } = await settle({ messages: turn.messages, tools, resume, signal });
  // What paused again is asked before anything else is read.
  if (new Transcript(messages).isWaiting) return endOf(parts, turn, messages, { read: 0 });

  const said = turn.inbox.map(({ body }) => userMessage(String(body.text), { user: String(body.user) }));
  const response = await generate({
    model,
    system: instructions,
    messages: [...messages, ...said],
    tools,
    signal,
    onToolError: ({ name, ref, error }) =>
      parts.logger.warn({ threadId: turn.threadId, name, ref, err: error }, 'a tool failed'),
  });
  if (response.finishReason === 'model-error')
    parts.logger.error({ threadId: turn.threadId, err: response.error }, 'no model');
  return endOf(parts, turn, response.messages, { read: turn.inbox.length, words: wordsFor(response) });
}

function endOf(
  parts: BotParts,
  turn: TakenTurn,
  messages: readonly Message[],
  { read, words = '' }: { readonly read: number; readonly words?: string },
): TurnEnd {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  const added = messages.slice(turn.messages.length);
  // The token makes the row's id the same however often this turn's end is written.
  const row = { id: `${turn.threadId}/${turn.token}`, body: { channel, threadTs, text: words } };
  return {
    messages: added,
    read,
    requests: openRequests(parts, turn.threadId, messages),
    rows: words === '' ? [] : [row],
  };
}

async function keepLease(parts: BotParts, turn: TakenTurn, lost: AbortController): Promise<void> {
  try {
    const renewed = await parts.store.renew(turn, LEASE_MS);
    if (renewed.outcome === 'stale') lost.abort(new Error('another worker has this thread now'));
  } catch (err) {
    parts.logger.warn({ threadId: turn.threadId, err }, 'a lease could not be renewed');
  }
}
