import type { Message } from '../agent/messages.ts';
import { withMessages } from '../agent/transcript.ts';
import type { Outcome, SignedRequest, TakenTurn } from '../store/port.ts';
import { isInTime } from './is-in-time.ts';
import type { Started } from './run-action.ts';

/** For how long after a look at a thread it is likely that nobody has spoken there since. */
const FRESH_MS = 1_000;

/** The turn that follows an action, as far as it can be told before the record gives it. */
export interface ExpectedTurn {
  /** The thread's messages then; read once, and not before somebody needs them. */
  readonly messages: () => readonly Message[] | undefined;
  readonly turn: () => Omit<TakenTurn, 'token'> | undefined;
}

/**
 * Tells what the turn after an action will be, where nothing else stood open in its thread a moment ago. It may turn out otherwise,
 * and costs a call of the model then; so after a long run, or one that may have been given up, nothing is expected.
 */
export function expectTurn(
  { id, threadId, by = '' }: SignedRequest,
  { message, state, summary }: Outcome,
  { history, sentAt }: Started,
  silenceMs: number,
): ExpectedTurn | undefined {
  if (history === undefined || !isInTime(sentAt, Math.min(FRESH_MS, silenceMs))) return undefined;
  let read: readonly Message[] | undefined;
  let isRead = false;
  const messages = (): readonly Message[] | undefined => {
    if (!isRead) read = joined(history, message);
    isRead = true;
    return read;
  };
  return {
    messages,
    turn: () => {
      const then = messages();
      if (then === undefined) return undefined;
      const settled = [{ requestId: id, state, by, payload: JSON.stringify(summary) }];
      return { threadId, messages: then, inbox: [], settled };
    },
  };
}

/** What cannot be read is no ground to expect anything; the record says so to whoever takes the turn. */
function joined(
  history: () => readonly Message[] | undefined,
  message: Message,
): readonly Message[] | undefined {
  try {
    const before = history();
    return before && withMessages(before, [message]);
  } catch {
    return undefined;
  }
}
