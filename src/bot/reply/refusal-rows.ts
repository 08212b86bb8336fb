import type { CloseReply } from '../../agent/replies.ts';
import type { OutboxRow, TakenTurn } from '../../store/port.ts';
import { limits } from '../cards/limits.ts';
import { escapeMarkup, showLabel } from '../cards/show-text.ts';
import { parseThreadId } from '../thread.ts';

/** Tells the thread, in our words and not the model's, of each action that nobody could be asked to sign. */
export function refusalRows(turn: TakenTurn, refused: readonly CloseReply[]): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return refused.map(({ toolRequest, metadata }) => {
    const name = showLabel(toolRequest.name, limits.label);
    return {
      id: `${turn.threadId}/${turn.token}/refused-${metadata.interruptId}`,
      body: {
        kind: 'notice',
        channel,
        threadTs,
        text: escapeMarkup(`${name} did not run. ${metadata.reason}`),
      },
    };
  });
}
