import type { TakenTurn } from '../store/port.ts';
import type { BotParts } from './bot-parts.ts';
import { type Turn, workTurn } from './work-turn.ts';

/** Takes the turn of a thread, if there is anything to do in it that nobody else is doing. */
export async function takeTurn(parts: BotParts, threadId: string): Promise<void> {
  const { store, timing, logger } = parts;
  const taken = await store.take(threadId, timing.leaseMs);
  if (taken.outcome === 'quarantined')
    logger.error({ threadId, reason: taken.reason }, 'a thread is set aside');
  if (taken.outcome === 'taken') await playTurn(parts, taken.turn);
}

/** Plays a turn to its end, and writes it down. */
export async function playTurn(parts: BotParts, turn: TakenTurn): Promise<void> {
  await play(parts, grantedAlready(turn));
}

function grantedAlready(turn: TakenTurn): Turn {
  return { ...turn, granted: Promise.resolve(turn.token) };
}

/**
 * Plays a turn of which it is known what it will be, while the right to write it is on its way: the model is asked meanwhile. Where
 * another turn comes than was expected, what the model says is dropped and the one that came is played; whoever stopped the first
 * has stopped that one.
 */
export async function playAhead(
  parts: BotParts,
  expected: Omit<TakenTurn, 'token'>,
  coming: Promise<TakenTurn | undefined>,
): Promise<void> {
  const isExpected = (turn: TakenTurn): boolean =>
    turn.messages === expected.messages &&
    turn.inbox.length === expected.inbox.length &&
    turn.settled.length === expected.settled.length;
  const granted = coming.then((turn) => {
    if (turn === undefined || !isExpected(turn)) throw new NotGrantedError();
    return turn.token;
  });
  const { reason } = await play(parts, { ...expected, granted });
  const turn = await coming;
  if (turn === undefined || isExpected(turn)) return;
  await play(parts, grantedAlready(turn), reason instanceof NotGrantedError ? undefined : reason);
}

/** The turn that was expected did not come. */
class NotGrantedError extends Error {
  override readonly name = 'NotGrantedError';
}

/** Gives the signal that it was played under; with a reason to stop it is stopped from the beginning. */
async function play(parts: BotParts, turn: Turn, stopped?: unknown): Promise<AbortSignal> {
  const { store, turns, timing, logger } = parts;
  const { threadId } = turn;
  const running = turns.begin(threadId);
  if (stopped !== undefined) running.abort(stopped);
  let renewing: NodeJS.Timeout | undefined;
  turn.granted.then(
    (token) => {
      renewing = setInterval(() => void keepLease(parts, { ...turn, token }, running), timing.renewMs);
    },
    (error) => running.abort(error),
  );
  try {
    const end = await workTurn(parts, turn, running.signal);
    const written = await store.suspend({ ...turn, token: await turn.granted }, end);
    if (written.outcome !== 'suspended') logger.warn({ threadId, ...written }, 'a turn was given up');
  } catch (error) {
    const refused = await turn.granted.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(refused instanceof NotGrantedError)) throw refused ?? error;
  } finally {
    clearInterval(renewing);
    turns.end(threadId, running);
  }
  return running.signal;
}

async function keepLease(
  { store, timing, logger }: BotParts,
  turn: TakenTurn,
  running: AbortController,
): Promise<void> {
  try {
    const renewed = await store.renew(turn, timing.leaseMs);
    if (renewed.outcome !== 'renewed') running.abort(new Error(`the turn is ${renewed.outcome}`));
  } catch (err) {
    logger.warn({ threadId: turn.threadId, err }, 'a lease could not be renewed');
  }
}
