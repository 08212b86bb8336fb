import type { TimerKind } from '../store/port.ts';
import type { BotParts } from './bot-parts.ts';
import { parseThreadId } from './thread.ts';

/** Does what time asks for; the record itself decides whether it is really due. */
export async function applyTimer({ store }: BotParts, kind: TimerKind, id: string): Promise<void> {
  switch (kind) {
    case 'expire':
      await store.expire(id);
      return;
    case 'recover':
      await store.recover(id);
      return;
    case 'purge':
      await store.purge(id);
      return;
    case 'retire':
      await store.retire(id);
      return;
    case 'remind':
      await store.remind(id, notice(id, 'remind', 'This still waits for a decision.'));
      return;
    case 'escalate':
      await store.escalate(id, notice(id, 'escalate', 'Nobody has decided yet, so more people may.'));
  }
}

function notice(requestId: string, kind: string, text: string) {
  const { channel, threadTs } = parseThreadId(requestId.slice(0, requestId.lastIndexOf('~')));
  return { id: `${requestId}/${kind}/${Date.now()}`, body: { channel, threadTs, text } };
}
