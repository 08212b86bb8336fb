import { setTimeout as sleep } from 'node:timers/promises';
import type { WebClient } from '@slack/web-api';
import { z } from 'zod';
import type { AttachedFile } from '../../engine/ports.ts';
import { readSlackFiles } from './file-host.ts';
import { judgeSlackFailure } from './slack-failure.ts';
import type { SlackThread } from './thread.ts';

/** The part of a thread to read: after `since`, if it is given, and before `before`. */
interface ThreadRange {
  readonly since: string | undefined;
  readonly before: string;
  /** The most bytes of text to keep beside the first message. */
  readonly maxBytes: number;
}

type ThreadRead =
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

/** A message of a thread as Slack returns it, reduced to what a reader needs. */
export interface ThreadMessage {
  readonly ts: string;
  /** The id of the person, or of the bot where Slack names no user. */
  readonly author: string;
  /** The name that a bot goes by; people are looked up. */
  readonly botName: string | undefined;
  /** In Slack's markup. */
  readonly text: string;
  readonly files: readonly AttachedFile[];
}

/** Subtypes of messages that somebody wrote; the others are notes of Slack, such as a person who joined. */
const WRITTEN: readonly (string | undefined)[] = [
  undefined,
  'bot_message',
  'file_share',
  'me_message',
  'thread_broadcast',
];

const Text = z.string().catch('');
const Attachment = z.object({
  pretext: Text,
  title: Text,
  text: Text,
  fallback: Text,
  fields: z.array(z.object({ title: Text, value: Text })).catch([]),
  /** Slack's own preview of a link; it is no part of the message. */
  from_url: z.string().optional(),
});
const Written = z.object({
  ts: z.string().regex(/^\d+\.\d+$/),
  subtype: z.string().optional(),
  user: z.string().optional(),
  bot_id: z.string().optional(),
  username: z.string().optional(),
  bot_profile: z.object({ name: z.string() }).optional().catch(undefined),
  text: Text,
  attachments: z.array(Attachment.catch(Attachment.parse({}))).catch([]),
  blocks: z.array(z.unknown()).catch([]),
  files: z.unknown().optional(),
});

/** Reads one message; `undefined` if nobody wrote it or it cannot be read. */
export function readThreadMessage(value: unknown): ThreadMessage | undefined {
  const { data } = Written.safeParse(value);
  if (data === undefined || !WRITTEN.includes(data.subtype)) return undefined;
  const author = data.user ?? data.bot_id;
  if (author === undefined) return undefined;
  const attached = data.attachments.flatMap(attachmentText);
  const own = data.text === '' && attached.length === 0 ? blockTexts(data.blocks, 0) : [data.text];
  const text = [...own, ...attached].filter((part) => part !== '').join('\n');
  const botName = data.bot_id === undefined ? undefined : (data.username ?? data.bot_profile?.name);
  return { ts: data.ts, author, botName, text: shorten(text), files: readSlackFiles(data.files) };
}

/** The most characters of one message of others; a log that was pasted must not take the place of everything else. */
const MAX_TEXT = 4_000;

function shorten(text: string): string {
  return text.length <= MAX_TEXT
    ? text
    : `${text.slice(0, MAX_TEXT).replace(/[\uD800-\uDBFF]$/, '')} … (cut)`;
}

/** Alert bots often write nothing but attachments. */
function attachmentText({ pretext, title, text, fallback, fields, from_url }: z.infer<typeof Attachment>) {
  if (from_url !== undefined) return [];
  const parts = [
    pretext,
    title,
    text,
    ...fields.map((field) => [field.title, field.value].filter((part) => part !== '').join(': ')),
  ].filter((part) => part !== '');
  return parts.length === 0 ? [fallback] : parts;
}

/** Blocks nest a few levels deep. */
const MAX_DEPTH = 8;

function blockTexts(value: unknown, depth: number): string[] {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => blockTexts(item, depth + 1));
  return Object.entries(value).flatMap(([key, part]) =>
    key === 'text' && typeof part === 'string' ? [part] : blockTexts(part, depth + 1),
  );
}
