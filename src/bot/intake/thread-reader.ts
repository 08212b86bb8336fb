import { setTimeout as sleep } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { judgeSlackFailure } from '../slack/slack-failure.ts';
import type { SlackThread } from '../slack/thread.ts';
import { readThreadMessage, type ThreadMessage } from './slack-message.ts';

/** The part of a thread to read: after `since`, if it is given, and before `before`. */
export interface ThreadRange {
  readonly since: string | undefined;
  readonly before: string;
  /** The most bytes of text to keep beside the first message. */
  readonly maxBytes: number;
}

export type ThreadRead =
  | {
      readonly outcome: 'read';
      readonly first: ThreadMessage | undefined;
      /** The newest messages after the first one, oldest first. */
      readonly messages: readonly ThreadMessage[];
      /** The number of messages between the first one and these that were left out. */
      readonly omitted: number;
      /** Whether the thread goes on after these, and was too long to read to its end. */
      readonly hasMore: boolean;
    }
  | { readonly outcome: 'limited' | 'refused' | 'unreachable'; readonly reason: string };

/** Slack takes a limit below 1,000. */
const PAGE_SIZE = 999;
/** The most calls for one read. Slack returns the oldest messages first, so the newest ones cost a call for each page before them. */
const MAX_PAGES = 5;
/** The longest wait that Slack may ask for; a longer one costs the context. */
const MAX_WAIT_MS = 10_000;
const MAX_ATTEMPTS = 2;

type Page =
  | {
      readonly outcome: 'page';
      readonly messages: readonly ThreadMessage[];
      readonly cursor: string | undefined;
    }
  | Exclude<ThreadRead, { readonly outcome: 'read' }>;

/** Reads threads with `conversations.replies`. It obeys `retry-after`: no call is sent before that time, for any thread. */
export class ThreadReader {
  readonly #client: WebClient;
  #notBefore = 0;

  constructor(client: WebClient) {
    this.#client = client;
  }

  /** Reads the newest messages of a range, with a bounded number of calls and a bounded memory. */
  async read(
    { channel, threadTs }: SlackThread,
    { since, before, maxBytes }: ThreadRange,
    signal: AbortSignal,
  ): Promise<ThreadRead> {
    const range = {
      channel,
      ts: threadTs,
      latest: before,
      limit: PAGE_SIZE,
      ...(since !== undefined && { oldest: since }),
    };
    let first: ThreadMessage | undefined;
    let kept: readonly ThreadMessage[] = [];
    let omitted = 0;
    let cursor: string | undefined;
    for (let number = 1; number <= MAX_PAGES; number += 1) {
      const page = await this.#readPage({ ...range, ...(cursor !== undefined && { cursor }) }, signal);
      if (page.outcome !== 'page') {
        if (number === 1) return page;
        break;
      }
      first ??= page.messages.find(({ ts }) => ts === threadTs);
      const all = [...kept, ...page.messages.filter(({ ts }) => ts !== threadTs)];
      kept = newestWithin(all, maxBytes);
      omitted += all.length - kept.length;
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    return { outcome: 'read', first, messages: kept, omitted, hasMore: cursor !== undefined };
  }

  /** Reads one page; if Slack asks to wait a moment, waits and tries once more. */
  async #readPage(
    given: Parameters<WebClient['conversations']['replies']>[0],
    signal: AbortSignal,
  ): Promise<Page> {
    for (let attempt = 1; ; attempt += 1) {
      const waitMs = this.#notBefore - performance.now();
      if (waitMs > MAX_WAIT_MS || attempt > MAX_ATTEMPTS)
        return { outcome: 'limited', reason: 'ratelimited' };
      if (waitMs > 0) await sleep(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return { outcome: 'unreachable', reason: 'the turn was stopped' };
      try {
        const { messages = [], response_metadata } = await this.#client.conversations.replies(given);
        return {
          outcome: 'page',
          messages: messages.flatMap((message) => readThreadMessage(message) ?? []),
          cursor: response_metadata?.next_cursor || undefined,
        };
      } catch (error) {
        const failure = judgeSlackFailure(error);
        if (failure.kind !== 'later') return { outcome: 'refused', reason: failure.reason };
        if (failure.afterMs === undefined) return { outcome: 'unreachable', reason: failure.reason };
        this.#notBefore = Math.max(this.#notBefore, performance.now() + failure.afterMs);
      }
    }
  }
}

function newestWithin(messages: readonly ThreadMessage[], maxBytes: number): readonly ThreadMessage[] {
  let bytes = 0;
  const tooOld = messages.findLastIndex(({ text }) => {
    bytes += Buffer.byteLength(text);
    return bytes > maxBytes;
  });
  return messages.slice(tooOld + 1);
}
