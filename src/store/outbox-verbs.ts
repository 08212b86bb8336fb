import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../agent/json.ts';
import { threadOf } from './keys.ts';
import type { OutboxItem, Store } from './port.ts';
import type { RunScript } from './run-script.ts';
import { Answer } from './said.ts';

type OutboxVerbs = Pick<Store, 'putOutbox' | 'takeOutbox' | 'doneRow' | 'doneView' | 'retryOutbox'>;

const Body = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);

/** What has to be sent: it is written down first, held by one sender at a time, and gone when it was sent. */
export function outboxVerbs(run: RunScript): OutboxVerbs {
  return {
    async putOutbox(threadId, { id, body }) {
      await run('outbox-put', { threadId, args: [id, JSON.stringify(body)] });
    },

    async takeOutbox(shard, { leaseMs, limit }) {
      const owner = randomUUID();
      const said = new Answer(
        await run('outbox-take', { threadId: '', shard, args: [owner, leaseMs, limit] }),
      );
      const words = said.words(1);
      return words.flatMap((item, index) =>
        index % 3 === 0
          ? readItem(item, words[index + 1] ?? '', { owner, shard, tries: Number(words[index + 2] ?? 0) })
          : [],
      );
    },

    async doneRow({ item, owner, shard }) {
      const said = new Answer(
        await run('outbox-done', { threadId: '', shard, args: [item, owner, '', 0, ''] }),
      );
      return z.enum(['done', 'stale']).parse(said.code);
    },

    async doneView({ item, owner, requestId, viewId }, revision, stands) {
      const threadId = threadOf(requestId) ?? '';
      const args = [item, owner, viewId, revision, JSON.stringify(stands)];
      const said = new Answer(await run('outbox-done', { threadId, requestIds: [requestId], args }));
      return z.enum(['done', 'due-again', 'stale']).parse(said.code);
    },

    async retryOutbox({ item, owner, shard }, delayMs) {
      const said = new Answer(
        await run('outbox-retry', { threadId: '', shard, args: [item, owner, delayMs] }),
      );
      return z.enum(['later', 'stale']).parse(said.code);
    },
  };
}

/** One item, or none where the row cannot be read: it stays in the outbox and does not hold up the others. */
function readItem(
  item: string,
  row: string,
  held: Pick<OutboxItem, 'owner' | 'shard' | 'tries'>,
): OutboxItem[] {
  const [kind = '', requestId = '', viewId = ''] = item.split('|');
  if (kind === 'view') return [{ kind, item, ...held, requestId, viewId }];
  try {
    return [
      { kind: 'row', item, ...held, rowId: item.slice('row|'.length), body: Body.parse(JSON.parse(row)) },
    ];
  } catch {
    return [];
  }
}
