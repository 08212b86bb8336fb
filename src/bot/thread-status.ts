import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { RunningWork } from '../agent/util/running-work.ts';
import { limits } from './slack/limits.ts';
import { type SlackThread, threadIdOf } from './slack/thread.ts';
import { statusTexts } from './views/texts/replies.ts';
import { showLabel } from './views/texts/show-text.ts';

/** The lifecycle of a thread on Slack's agent surface. */
export type SessionStatus = 'active' | 'processing' | 'suspended' | 'closed';

/** The start of a turn. */
export interface TurnStart {
  /** The person for whom the session works. */
  readonly initiator: string;
  /** The title of a new session. */
  readonly title?: string;
  /** Whether the thread is new, so that Slack has no session of it. */
  readonly isNew: boolean;
  /** Whether the turn continues after a decision, which its card has just shown. */
  readonly isContinued?: boolean;
}

/** The end of a turn. */
export interface TurnStatusEnd {
  readonly session: 'active' | 'suspended';
  /** Whether a new message follows, with which Slack removes the line by itself. */
  readonly isFollowed: boolean;
  /** Whether the reply was streamed; a stream begins a session by itself, and its end sets the session's status. */
  readonly isStreamed: boolean;
}

/** The times of the status, in milliseconds. A session that is said to be processing has Slack's button Stop. */
export interface StatusTiming {
  /** A turn that is shorter shows no status; its reply is there as soon. */
  readonly showAfterMs: number;
  /** The same for a turn that continues after a decision. */
  readonly showContinuedAfterMs: number;
  /** Slack removes a line after two minutes; it is sent again before that. */
  readonly renewMs: number;
}

const TIMING: StatusTiming = {
  showAfterMs: 1_000,
  showContinuedAfterMs: 5_000,
  renewMs: 100_000,
};
/** A line that is replaced sooner is not sent. */
const SETTLE_MS = 1_000;
/** The threads whose last status is remembered; of the oldest it is forgotten, and then sent once more than needed. */
const MAX_REMEMBERED = 5_000;

interface ThreadState {
  /** The status that was set for the session; `none` if there was none, `undefined` if it is not known. */
  session: SessionStatus | 'none' | undefined;
  line: string;
  /** The wanted line is sent once `isShown`. */
  wanted: { session: SessionStatus | 'none' | undefined; line: string; isShown: boolean };
  start: TurnStart | undefined;
  isSending: boolean;
  timers: { show?: NodeJS.Timeout; line?: NodeJS.Timeout; renew?: NodeJS.Timeout };
}

/**
 * Shows in Slack what the agent does in a thread. A turn that takes a moment costs two calls: the status of its session, with which people
 * can stop it, and the line, which Slack removes with the next message. The calls of a thread are sent one after another, and only for
 * what has changed; a change that was replaced before it was sent is skipped. Nobody waits for these calls, and a failure is only logged.
 */
export class ThreadStatus {
  readonly #client: WebClient;
  readonly #logger: Logger;
  readonly #timing: StatusTiming;
  readonly #threads = new Map<string, ThreadState>();
  readonly #work = new RunningWork();

  constructor(client: WebClient, logger: Logger, timing: StatusTiming = TIMING) {
    this.#client = client;
    this.#logger = logger;
    this.#timing = timing;
  }

  /** Begins a turn. Its status is shown when it has taken a moment. */
  begin(thread: SlackThread, start: TurnStart): void {
    const state = this.#stateOf(thread, start.isNew);
    clearTimers(state);
    state.start = start;
    state.wanted = { ...state.wanted, line: statusTexts.thinking, isShown: false };
    const { showAfterMs, showContinuedAfterMs } = this.#timing;
    state.timers.show = setTimeout(
      () => {
        state.wanted.isShown = true;
        state.wanted.session = 'processing';
        this.#send(thread, state);
      },
      start.isContinued === true ? showContinuedAfterMs : showAfterMs,
    );
  }

  /** Changes the line under the thread, if the turn still runs. What is replaced within a second is skipped. */
  setLine(thread: SlackThread, line: string): void {
    const state = this.#stateOf(thread);
    if (state.start === undefined || state.wanted.line === line) return;
    state.wanted.line = line;
    state.timers.line ??= setTimeout(() => {
      delete state.timers.line;
      if (state.wanted.isShown) this.#send(thread, state);
    }, SETTLE_MS);
  }

  /** Ends a turn. */
  end(thread: SlackThread, { session, isFollowed, isStreamed }: TurnStatusEnd): void {
    const state = this.#stateOf(thread);
    clearTimers(state);
    state.start = undefined;
    if (isStreamed && state.session !== 'processing') state.session = session;
    state.wanted = { session: state.session === 'none' ? 'none' : session, line: '', isShown: true };
    if (isFollowed && !state.isSending) state.line = '';
    this.#send(thread, state);
  }

  /** Leaves a turn that has ended here without an end: nothing more is sent for it. */
  leave(thread: SlackThread): void {
    const state = this.#threads.get(threadIdOf(thread));
    if (state?.start === undefined) return;
    clearTimers(state);
    state.start = undefined;
  }

  /** Resolves when every status was sent, or after the time limit. */
  idle(timeoutMs: number): Promise<void> {
    for (const state of this.#threads.values()) clearTimers(state);
    return this.#work.idle(timeoutMs);
  }

  #stateOf(thread: SlackThread, isNew = false): ThreadState {
    const threadId = threadIdOf(thread);
    const session = isNew ? 'none' : undefined;
    const state: ThreadState = this.#threads.get(threadId) ?? {
      session,
      line: '',
      wanted: { session, line: '', isShown: false },
      start: undefined,
      isSending: false,
      timers: {},
    };
    this.#threads.delete(threadId);
    this.#threads.set(threadId, state);
    for (const [oldest, { start, isSending }] of this.#threads) {
      if (this.#threads.size <= MAX_REMEMBERED) break;
      if (start === undefined && !isSending) this.#threads.delete(oldest);
    }
    return state;
  }

  #send(thread: SlackThread, state: ThreadState): void {
    if (!state.isSending) this.#work.add(this.#sendAll(thread, state));
  }

  async #sendAll(thread: SlackThread, state: ThreadState): Promise<void> {
    state.isSending = true;
    for (let call = this.#nextCall(thread, state); call !== undefined; call = this.#nextCall(thread, state))
      await call.catch((err: unknown) =>
        this.#logger.debug({ threadId: threadIdOf(thread), err }, 'status not shown'),
      );
    state.isSending = false;
    if (state.line !== '' && state.start !== undefined) this.#renewLater(thread, state);
  }

  #renewLater(thread: SlackThread, state: ThreadState): void {
    clearTimeout(state.timers.renew);
    state.timers.renew = setTimeout(() => {
      state.line = '';
      this.#send(thread, state);
    }, this.#timing.renewMs);
    state.timers.renew.unref();
  }

  /** Sends the next difference: a session begins before its line, and a line is removed before the session changes. */
  #nextCall(thread: SlackThread, state: ThreadState): Promise<unknown> | undefined {
    const { session } = state.wanted;
    const isSessionNew = session !== undefined && session !== 'none' && session !== state.session;
    if (isSessionNew && session === 'processing') return this.#setSession(thread, state, session);
    const { line, isShown } = state.wanted;
    if (isShown && line !== state.line) {
      state.line = line;
      const status = line === '' ? '' : showLabel(line, limits.statusLine);
      const place = { channel_id: thread.channel, thread_ts: thread.threadTs };
      return this.#client.assistant.threads.setStatus({ ...place, status });
    }
    return isSessionNew ? this.#setSession(thread, state, session) : undefined;
  }

  #setSession(
    { channel, threadTs }: SlackThread,
    state: ThreadState,
    session: SessionStatus,
  ): Promise<unknown> {
    const place = { channel_id: channel, thread_ts: threadTs };
    state.session = session;
    const { initiator, title } = state.start ?? {};
    const shown = title === undefined ? undefined : showLabel(title, limits.sessionTitle);
    return this.#client.agents.sessions
      .setStatus({
        ...place,
        status: session,
        ...(shown !== undefined && { title: shown }),
        ...(session === 'processing' && initiator !== undefined && { initiator_user_id: initiator }),
      })
      .then((set) => {
        // A title counts only when Slack begins the session.
        if (shown === undefined || set.title === shown) return undefined;
        return this.#client.agents.sessions.rename({ ...place, title: shown });
      });
  }
}

function clearTimers({ timers }: ThreadState): void {
  for (const timer of Object.values(timers)) clearTimeout(timer);
  delete timers.line;
}
