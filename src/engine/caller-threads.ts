import { z } from 'zod';
import { type JsonObject, toJson } from '../agent/json.ts';
import { JsonRecord } from '../agent/json-schema.ts';
import { type Message, type UserMessage, userMessage } from '../agent/messages.ts';
import type { InboxItem, OutboxRow } from '../store/port/values.ts';
import { callerId } from '../tools/callers.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';

const THREAD = /^([^:]{1,64}):caller\.([a-zA-Z0-9_-]{1,64})\.([0-9a-f]{32})$/;

/** The thread of one request of a caller. Nobody but the caller acts in it: it makes one call, and no model is asked. */
export interface CallerThread {
  readonly channel: string;
  readonly caller: string;
  /** 32 hexadecimal digits. */
  readonly id: string;
}

/** Builds the id of the thread of a caller's request: its card stands alone in the channel. */
export function callerThreadId({ channel, caller, id }: CallerThread): string {
  return `${channel}:caller.${caller}.${id}`;
}

/** Reads the id of a caller's thread; `undefined` for any other. */
export function parseCallerThread(threadId: string): CallerThread | undefined {
  const [, channel, caller, id] = THREAD.exec(threadId) ?? [];
  return channel === undefined || caller === undefined || id === undefined
    ? undefined
    : { channel, caller, id };
}

const CallerCall = z.object({
  caller: z.string(),
  owner: z.string(),
  /** The person for whom it asks, who has proven it. */
  person: z.string().optional(),
  tool: z.string(),
  input: JsonRecord,
  /** The caller's own explanation. */
  why: z.string().optional(),
  /** An https address that the manifest lets its cards show. */
  link: z.string().optional(),
});
/** The one call that a caller asks for, as it stands in the inbox and on the record of its thread. */
export type CallerCall = Readonly<z.infer<typeof CallerCall>>;

/** The ref of the call of a caller; an undo has another. */
export const CALL_REF = 'call';

/** The id of the inbox item of a call, so that a call that is sent again is the same item. */
const CALL_ITEM = 'call';
/** The id of the inbox item that withdraws a call. */
const WITHDRAW_ITEM = 'withdraw';
const Marked = z.object({ call: CallerCall, isWithdrawn: z.literal(true).optional() });

/** Builds the inbox item of a call. */
export function callItem(call: CallerCall, trace: string | undefined): InboxItem {
  const body: JsonObject = { call: toJson(call), ...(trace !== undefined && { trace }) };
  return { id: CALL_ITEM, body };
}

/** Builds the inbox item with which a caller withdraws its call. */
export function withdrawItem(caller: string): InboxItem {
  return { id: WITHDRAW_ITEM, body: { user: callerId(caller), stops: true } };
}

/** Finds the call that waits in an inbox, and whether it was withdrawn before it was made. */
export function callIn(inbox: readonly InboxItem[]): z.infer<typeof Marked> | undefined {
  const item = inbox.find(({ id }) => id === CALL_ITEM);
  const { data } = Marked.safeParse(item?.body);
  const isWithdrawn = inbox.some(({ id }) => id === WITHDRAW_ITEM);
  return data && { call: data.call, ...(isWithdrawn && { isWithdrawn }) };
}

/**
 * Builds the message that puts a call on record. The person it is for, the owner and the caller are its requesters: none of them may
 * approve it, and each may withdraw it.
 */
export function callMessage(call: CallerCall, isWithdrawn = false): UserMessage {
  return userMessage(`${call.caller} asks for ${call.tool}`, {
    user: call.person ?? call.owner,
    role: 'requester',
    requesters: [call.owner, callerId(call.caller)],
    call: toJson(call),
    ...(isWithdrawn && { isWithdrawn }),
  });
}

/** Finds the call on the record of a caller's thread. */
export function callOnRecord(messages: readonly Message[]): z.infer<typeof Marked> | undefined {
  for (const message of messages)
    if (message.role === 'user' && message.metadata?.call !== undefined)
      return Marked.safeParse(message.metadata).data;
  return undefined;
}

/** Tells whether the caller of a thread is told of changes. */
export function hasWebhook(toolbox: Pick<Toolbox, 'callers'>, threadId: string): boolean {
  return toolbox.callers().get(parseCallerThread(threadId)?.caller ?? '')?.webhook !== undefined;
}

/** The kind of the outbox rows that tell a caller's webhook. */
export const WEBHOOK = 'webhook';

/** Builds the row that tells a caller that its request has changed, once for each cause. */
export function webhookRow(threadId: string, cause: string): OutboxRow {
  return {
    id: `${WEBHOOK}/${threadId}/${cause}`,
    body: { kind: WEBHOOK, thread: threadId, at: Date.now() },
  };
}

const Words = z.object({ user: z.string(), text: z.string().min(1), role: z.literal('context') });
/** What a person wrote below the card: context for the caller, and an instruction to nobody. */
export interface WordsForCaller {
  readonly by: string;
  readonly text: string;
}

/** Builds the inbox item of what a person wrote below the card. */
export function wordsItem(ts: string, { by, text }: WordsForCaller): InboxItem {
  return { id: ts, body: { user: by, text, role: 'context' } };
}

/** Builds the message that keeps what a person wrote below the card, if an inbox item is that. */
export function wordsMessage({ id, body }: InboxItem): readonly UserMessage[] {
  const { data } = Words.safeParse(body);
  return data === undefined ? [] : [userMessage(data.text, { user: data.user, role: data.role, ts: id })];
}

/** Lists what people wrote below the card, oldest first. */
export function wordsFor(messages: readonly Message[], inbox: readonly InboxItem[]): WordsForCaller[] {
  const kept = messages.flatMap((message) =>
    message.role === 'user' ? [{ ...message.metadata, text: textIn(message) }] : [],
  );
  const known = new Set<unknown>(messages.map((message) => message.role === 'user' && message.metadata?.ts));
  const unread = inbox.filter(({ id }) => !known.has(id)).map(({ body }) => body);
  return [...kept, ...unread].flatMap((body) => {
    const { data } = Words.safeParse(body);
    return data === undefined ? [] : [{ by: data.user, text: data.text }];
  });
}

function textIn({ content }: UserMessage): string {
  return content.map((part) => ('text' in part ? part.text : '')).join('');
}
