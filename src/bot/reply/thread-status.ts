import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { showLabel } from '../cards/show-text.ts';
import { limits } from '../slack/limits.ts';
import { RunningWork } from '../slack/running-work.ts';
import { type SlackThread, threadIdOf } from '../slack/thread.ts';

/** The lifecycle of a thread on Slack's agent surface. */
export type SessionStatus = 'active' | 'processing' | 'suspended' | 'closed';

/** The status of a thread in Slack; an absent part stays as it is. */
export interface StatusChange {
  readonly session?: SessionStatus;
  /** The person for whom the session works. */
  readonly initiator?: string;
  /** The line under the thread; empty removes it. */
  readonly line?: string;
}

interface ThreadState {
  wanted: StatusChange;
  sent: StatusChange;
  isSending: boolean;
}

/**
 * Shows in Slack what the agent does in a thread. The calls of a thread are sent one after another, and a change that was replaced
 * before it was sent is skipped. Nobody waits for them, and a failure is only logged.
 */
export class ThreadStatus {
  readonly #client: WebClient;
  readonly #logger: Logger;
  readonly #threads = new Map<string, ThreadState>();
  readonly #work = new RunningWork();

  constructor(client: WebClient, logger: Logger) {
    this.#client = client;
    this.#logger = logger;
  }

  setStatus(thread: SlackThread, change: StatusChange): void {
    const threadId = threadIdOf(thread);
    const state = this.#threads.get(threadId) ?? { wanted: {}, sent: { line: '' }, isSending: false };
    this.#threads.set(threadId, state);
    state.wanted = { ...state.wanted, ...change };
    if (!state.isSending) this.#work.add(this.#send(thread, threadId, state));
  }

  /** Resolves when every status was sent, or after the time limit. */
  idle(timeoutMs: number): Promise<void> {
    return this.#work.idle(timeoutMs);
  }

  async #send(thread: SlackThread, threadId: string, state: ThreadState): Promise<void> {
    state.isSending = true;
    for (let call = this.#nextCall(thread, state); call !== undefined; call = this.#nextCall(thread, state))
      await call.catch((err: unknown) => this.#logger.debug({ threadId, err }, 'status not shown'));
    state.isSending = false;
    // Without a line nothing is left to remove later.
    if (state.sent.line === '') this.#threads.delete(threadId);
  }

  /** Sends the next difference; a line is removed before the session changes. */
  #nextCall({ channel, threadTs }: SlackThread, state: ThreadState): Promise<unknown> | undefined {
    const { session, initiator, line = '' } = state.wanted;
    const place = { channel_id: channel, thread_ts: threadTs };
    const hasNewLine = line !== state.sent.line;
    if (session !== undefined && session !== state.sent.session && !(hasNewLine && line === '')) {
      state.sent = { ...state.sent, session };
      return this.#client.agents.sessions.setStatus({
        ...place,
        status: session,
        ...(session === 'processing' && initiator !== undefined && { initiator_user_id: initiator }),
      });
    }
    if (!hasNewLine) return undefined;
    state.sent = { ...state.sent, line };
    const status = line === '' ? '' : showLabel(line, limits.statusLine);
    return this.#client.assistant.threads.setStatus({ ...place, status });
  }
}
