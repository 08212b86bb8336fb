import type { ClaimedTurn, OutboxRow } from '../../store/port/store.ts';
import { plural } from '../cards/render-value.ts';
import { limits } from '../slack/limits.ts';
import { parseThreadId } from '../slack/thread.ts';
import type { PostedReply } from './reply-stream.ts';
import { sanitizeMarkdown } from './sanitize-markdown.ts';

/**
 * Splits a turn's text into outbox rows. The token makes the ids stable when the end of the turn is written again. A streamed message
 * becomes the first row, and its stream ends with the status of the session.
 */
export function replyRows(
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  text: string,
  posted: PostedReply | undefined,
  session: 'active' | 'suspended',
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return limit(split(text, posted?.sent ?? 0)).map((part, index) => ({
    id: `${turn.threadId}/${turn.token}/${index}`,
    body: {
      kind: 'reply',
      channel,
      threadTs,
      text: part,
      ...(index === 0 && posted !== undefined && { standing: { ...posted, session } }),
    },
  }));
}

/** Splits at paragraphs or words. The `sent` characters that were streamed stay in the first message. */
function split(text: string, sent: number): string[] {
  const parts: string[] = [];
  let rest = text;
  for (let room = roomIn(rest); rest.length > room; room = roomIn(rest)) {
    const least = Math.max(Math.floor(room / 2), parts.length === 0 ? sent : 0);
    const end = ['\n', ' '].map((mark) => rest.lastIndexOf(mark, room)).find((index) => index >= least);
    const cut = end ?? Math.max(wholeUntil(rest, room), least);
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return rest.trim() === '' ? parts : [...parts, rest];
}

/** Finds a cut that does not split an emoji or a letter with its marks, whose halves would be shown as codes. */
function wholeUntil(text: string, room: number): number {
  return new Intl.Segmenter().segment(text.slice(0, room + 1)).containing(room)?.index ?? room;
}

/** Returns how many characters fit into one message; sanitizing can make a text longer. */
function roomIn(text: string): number {
  let room: number = limits.replyText;
  while (sanitizeMarkdown(text.slice(0, room)).length > limits.markdownText) room = Math.floor(room / 2);
  return room;
}

/** Drops messages beyond the limit, which would push everything else out of the thread; the record has the whole text. */
function limit(parts: readonly string[]): readonly string[] {
  if (parts.length <= limits.replyMessages) return parts;
  const left = parts.slice(limits.replyMessages).reduce((sum, { length }) => sum + length, 0);
  return [...parts.slice(0, limits.replyMessages), `(${plural(left, 'more character')} not shown)`];
}
