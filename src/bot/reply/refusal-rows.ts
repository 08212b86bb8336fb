import type { CloseReply } from '../../agent/replies.ts';
import type { OutboxRow, TakenTurn } from '../../store/port.ts';
import { limits } from '../cards/limits.ts';
import { showLabel } from '../cards/show-text.ts';
import { parseThreadId } from '../thread.ts';

/** Tells the thread, in our words and not the model's, of each action that nobody could be asked to sign; why may name its words. */
export function refusalRows(turn: TakenTurn, refused: readonly CloseReply[]): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return refused.map(({ toolRequest, metadata }) => {
    const name = showLabel(toolRequest.name, limits.label);
    const text = `${name} did not run. ${showLabel(metadata.reason, limits.quoteCharacters)}`;
    return {
      id: `${turn.threadId}/${turn.token}/refused-${metadata.interruptId}`,
      body: { kind: 'plain', channel, threadTs, text },
    };
  });
}
