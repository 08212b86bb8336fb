import type { OutboxRow, TakenTurn } from '../../store/port.ts';
import { plural } from '../cards/render-value.ts';
import { parseThreadId } from '../thread.ts';
import { harmlessMarkdown } from './harmless-markdown.ts';
import { LONGEST_MARKDOWN, LONGEST_MESSAGE } from './longest-message.ts';
import type { Standing } from './reply-stream.ts';

/** More than this is no answer that somebody reads. */
const MOST_MESSAGES = 10;

/**
 * Writes a turn's words down as messages to send. The token makes the ids the same however often the turn's end is written; the
 * message that stands already, if one does, becomes the first, and its stream ends with the status that the session has then.
 */
export function replyRows(
  turn: Pick<TakenTurn, 'threadId' | 'token'>,
  text: string,
  standing: Standing | undefined,
  session: 'active' | 'suspended',
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return limit(split(text, standing?.sent ?? 0)).map((part, index) => ({
    id: `${turn.threadId}/${turn.token}/${index}`,
    body: {
      kind: 'reply',
      channel,
      threadTs,
      text: part,
      ...(index === 0 && standing !== undefined && { standing: { ...standing, session } }),
    },
  }));
}

/** Ends a message with a paragraph or at least a word; what stands in the first one already stays there whole. */
function split(text: string, standing: number): string[] {
  const parts: string[] = [];
  let rest = text;
  for (let room = roomIn(rest); rest.length > room; room = roomIn(rest)) {
    const least = Math.max(Math.floor(room / 2), parts.length === 0 ? standing : 0);
    const end = ['\n', ' '].map((mark) => rest.lastIndexOf(mark, room)).find((index) => index >= least);
    const cut = end ?? Math.max(wholeUntil(rest, room), least);
    parts.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return rest.trim() === '' ? parts : [...parts, rest];
}

/** A place to cut at which is not in the middle of an emoji or a letter with its marks: halves of one would be shown as codes. */
function wholeUntil(text: string, room: number): number {
  return new Intl.Segmenter().segment(text.slice(0, room + 1)).containing(room)?.index ?? room;
}

/** How many characters fit into one message: what is all brackets or hidden grows as it is made harmless. */
function roomIn(text: string): number {
  let room = LONGEST_MESSAGE;
  while (harmlessMarkdown(text.slice(0, room)).length > LONGEST_MARKDOWN) room = Math.floor(room / 2);
  return room;
}

/** A flood would push everything else out of the thread; the record has all of it. */
function limit(parts: readonly string[]): readonly string[] {
  if (parts.length <= MOST_MESSAGES) return parts;
  const left = parts.slice(MOST_MESSAGES).reduce((sum, { length }) => sum + length, 0);
  return [...parts.slice(0, MOST_MESSAGES), `(${plural(left, 'more character')} not shown)`];
}
