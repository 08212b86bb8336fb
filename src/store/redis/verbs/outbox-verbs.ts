import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { JsonObject } from '../../../agent/json.ts';
import type { OutboxItem, Store } from '../../port/store.ts';
import { threadOf } from '../../record/keys.ts';
import type { RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { rowText } from './thread-verbs.ts';

type OutboxVerbs = Pick<Store, 'enqueueOutbox' | 'claimOutbox' | 'done' | 'retryOutbox'>;

const Body = z.custom<JsonObject>((value) => typeof value === 'object' && value !== null);

/** The verbs of the outbox. An item is stored first, claimed by one sender at a time, and removed when it was sent. */
export function outboxVerbs(run: RunScript): OutboxVerbs {
  return {
    async enqueueOutbox(threadId, row, leaseMs) {
      const { id: rowId, body } = row;
      const owner = leaseMs === undefined ? '' : randomUUID();
      await run('outbox-enqueue', { threadId, args: [rowId, rowText(run, row), owner, leaseMs ?? 0] });
      return { kind: 'row', item: `row|${rowId}`, owner, tries: 0, rowId, body };
    },

    async claimOutbox({ leaseMs, limit }) {
      const owner = randomUUID();
      const reply = new ScriptReply(
        await run('outbox-claim', { threadId: '', args: [owner, leaseMs, limit] }),
      );
      const words = reply.strings(1);
      const items: OutboxItem[] = [];
      for (let at = 0; at < words.length; at += 3) {
        const [item = '', row = '', tries = '0'] = words.slice(at, at + 3);
        const read = readItem(item, row, { owner, tries: Number(tries) });
        if (read !== undefined) items.push(read);
        else
          await run('outbox-done', {
            threadId: '',
            args: [item, owner, 0, '', 0, 0, ...run.auditBody({ row })],
          });
      }
      return items;
    },

    async done(
      item,
      { revision, postedAt, againMs = 0, number = 0, gone = [] } = { revision: 0, postedAt: {} },
    ) {
      const requestIds = item.kind === 'view' ? [item.requestId] : [];
      const threadId = item.kind === 'digest' ? item.person : (threadOf(requestIds[0] ?? '') ?? '');
      const drawn = [revision, JSON.stringify(postedAt), againMs, number];
      const args = [item.item, item.owner, ...drawn, '', '', ...gone];
      const reply = await run('outbox-done', { threadId, requestIds, args });
      return new ScriptReply(reply).oneOf('done', 'due-again', 'due-later', 'stale');
    },

    async retryOutbox({ item, owner }, delayMs, { isUnsent = false } = {}) {
      const args = [item, owner, delayMs, isUnsent ? 0 : 1];
      const reply = new ScriptReply(await run('outbox-retry', { threadId: '', args }));
      return reply.oneOf('later', 'stale');
    },
  };
}

function readItem(
  item: string,
  row: string,
  held: Pick<OutboxItem, 'owner' | 'tries'>,
): OutboxItem | undefined {
  const [kind = '', requestId = '', viewId = ''] = item.split('|');
  if (kind === 'digest') return { kind, item, ...held, person: requestId };
  if (kind === 'view') return { kind, item, ...held, requestId, viewId };
  try {
    const body = Body.parse(JSON.parse(row));
    return { kind: 'row', item, ...held, rowId: item.slice('row|'.length), body };
  } catch {
    return undefined;
  }
}
