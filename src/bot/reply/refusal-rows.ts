import type { CloseReply } from '../../agent/replies.ts';
import type { OutboxRow, TakenTurn } from '../../store/port.ts';
import { limits } from '../cards/limits.ts';
import { showLabel } from '../cards/show-text.ts';
import { parseThreadId } from '../thread.ts';

/**
 * Tells the thread, in our words and not the model's, of the actions that nobody was asked to sign: once a reason, however many
 * calls it was given for. The reason may name words of the model.
 */
export function refusalRows(
  turn: Pick<TakenTurn, 'threadId' | 'token'>,
  refused: readonly CloseReply[],
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return refused.flatMap(({ metadata: { interruptId, reason } }, place) => {
    const alike = refused.filter(({ metadata }) => metadata.reason === reason);
    if (alike[0] !== refused[place]) return [];
    const text = `${namesOf(alike)} did not run. ${showLabel(reason, limits.quoteCharacters)}`;
    return [
      {
        id: `${turn.threadId}/${turn.token}/refused-${interruptId}`,
        body: { kind: 'plain', channel, threadTs, text },
      },
    ];
  });
}

/** The tools that were called, each once, and how often where that is more. */
function namesOf(calls: readonly CloseReply[]): string {
  const names = calls.map(({ toolRequest }) => toolRequest.name);
  const shown = [...new Set(names)].map((name) => {
    const times = names.filter((other) => other === name).length;
    return times === 1 ? name : `${name} (${times} calls)`;
  });
  return showLabel(shown.join(', '), limits.label);
}
