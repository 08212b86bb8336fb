import type { OutboxRow, TakenTurn } from '../../store/port.ts';
import { parseThreadId } from '../thread.ts';
import { LONGEST_MESSAGE } from './longest-message.ts';
import type { Standing } from './reply-stream.ts';

/**
 * Writes a turn's words down as messages to send. The token makes the ids the same however often the turn's end is written; the
 * message that stands already, if one does, becomes the first.
 */
export function replyRows(turn: TakenTurn, text: string, standing: Standing | undefined): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return split(text).map((part, index) => ({
    id: `${turn.threadId}/${turn.token}/${index}`,
    body: {
      kind: 'reply',
      channel,
      threadTs,
      text: part,
      ...(index === 0 && standing !== undefined && { standing: { ts: standing.ts, sent: standing.sent } }),
    },
  }));
}

function split(text: string): string[] {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > LONGEST_MESSAGE) {
    const paragraph = rest.lastIndexOf('\n', LONGEST_MESSAGE);
    const end = paragraph > LONGEST_MESSAGE / 2 ? paragraph : LONGEST_MESSAGE;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest.trim() === '' ? parts : [...parts, rest];
}
