import { z } from 'zod';
import { readSlackFiles, type SlackFile } from '../files/slack-file.ts';

/** A message of a thread as Slack returns it, reduced to what a reader needs. */
export interface ThreadMessage {
  readonly ts: string;
  /** The id of the person, or of the bot where Slack names no user. */
  readonly author: string;
  /** The name that a bot goes by; people are looked up. */
  readonly botName: string | undefined;
  /** In Slack's markup. */
  readonly text: string;
  readonly files: readonly SlackFile[];
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
