import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../agent/json.ts';
import { threadOf } from './keys.ts';
import type { OutboxItem, Store } from './port.ts';
import type { RunScript } from './run-script.ts';
import { Answer, statement } from './said.ts';

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
      const items: OutboxItem[] = [];
      for (let at = 0; at < words.length; at += 3) {
        const [item = '', row = '', tries = '0'] = words.slice(at, at + 3);
        const read = readItem(item, row, { owner, shard, tries: Number(tries) });
        if (read !== undefined) items.push(read);
        else await run('outbox-drop', { threadId: '', shard, args: [item, owner, ...statement({ row })] });
      }
      return items;
    },

    async doneRow({ item, owner, shard }) {
      const said = new Answer(
        await run('outbox-done', { threadId: '', shard, args: [item, owner, '', 0, ''] }),
      );
      return said.oneOf('done', 'stale');
    },

    async doneView({ item, owner, requestId, viewId }, revision, stands) {
      const threadId = threadOf(requestId) ?? '';
      const args = [item, owner, viewId, revision, JSON.stringify(stands)];
      const said = new Answer(await run('outbox-done', { threadId, requestIds: [requestId], args }));
      return said.oneOf('done', 'due-again', 'stale');
    },

    async retryOutbox({ item, owner, shard }, delayMs) {
      const said = new Answer(
        await run('outbox-retry', { threadId: '', shard, args: [item, owner, delayMs] }),
      );
      return said.oneOf('later', 'stale');
    },
  };
}

function readItem(
  item: string,
  row: string,
  held: Pick<OutboxItem, 'owner' | 'shard' | 'tries'>,
): OutboxItem | undefined {
  const [kind = '', requestId = '', viewId = ''] = item.split('|');
  if (kind === 'view') return { kind, item, ...held, requestId, viewId };
  try {
    const body = Body.parse(JSON.parse(row));
    return { kind: 'row', item, ...held, rowId: item.slice('row|'.length), body };
  } catch {
    return undefined;
  }
}
