import type { OutboxRow, TakenTurn } from '../../store/port.ts';
import { parseThreadId } from '../thread.ts';
import { LONGEST_MESSAGE } from './longest-message.ts';
import type { Standing } from './reply-stream.ts';

/**
 * Writes a turn's words down as messages to send. The token makes the ids the same however often the turn's end is written; the
 * message that stands already, if one does, becomes the first, and its stream ends with the status that the session has then.
 */
export function replyRows(
  turn: TakenTurn,
  text: string,
  standing: Standing | undefined,
  session: 'active' | 'suspended',
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return split(text, standing?.sent ?? 0).map((part, index) => ({
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
  while (rest.length > LONGEST_MESSAGE) {
    const least = Math.max(LONGEST_MESSAGE / 2, parts.length === 0 ? standing : 0);
    const end = ['\n', ' ']
      .map((mark) => rest.lastIndexOf(mark, LONGEST_MESSAGE))
      .find((index) => index >= least);
    parts.push(rest.slice(0, end ?? LONGEST_MESSAGE));
    rest = rest.slice(end ?? LONGEST_MESSAGE);
  }
  return rest.trim() === '' ? parts : [...parts, rest];
}
