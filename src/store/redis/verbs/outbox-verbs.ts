import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../../../agent/json.ts';
import { JsonRecord } from '../../../agent/json-schema.ts';
import { type Keys, threadOf } from '../../port/keys.ts';
import type { Store } from '../../port/store.ts';
import type { SummaryStore } from '../../port/summaries.ts';
import type { Drawn, HomePage, OutboxItem, OutboxRow } from '../../port/values.ts';
import { pack, type RedisClient, type RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

type OutboxVerbs = Pick<
  Store,
  'enqueueOutbox' | 'claimOutbox' | 'done' | 'retryOutbox' | 'keepHomes' | 'openHomes' | keyof SummaryStore
>;

/** Marks the fields of a summary that name its requests. */
const ON = 'on|';

/**
 * The verbs of the outbox. An item is stored first, claimed by one sender at a time, and removed when it was sent. The summary of a person
 * is such an item, and what is on it a hash of its own.
 */
export function outboxVerbs(run: RunScript, client: RedisClient, keys: Keys): OutboxVerbs {
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
            args: [doneValues({ item, owner }, { revision: 0, place: '' }, run.auditBody({ row }))],
          });
      }
      return items;
    },

    async done(item, { postedAt, ...drawn }: Drawn = { revision: 0, postedAt: {} }) {
      const requestIds = item.kind === 'view' ? [item.requestId] : [];
      const threadId = item.kind === 'summary' ? item.person : (threadOf(requestIds[0] ?? '') ?? '');
      const args = [doneValues(item, { ...drawn, place: JSON.stringify(postedAt) })];
      const reply = await run('outbox-done', { threadId, requestIds, args });
      return new ScriptReply(reply).oneOf('done', 'due-again', 'due-later', 'stale');
    },

    async retryOutbox({ item, owner }, delayMs, { isUnsent = false } = {}) {
      const args = [item, owner, delayMs, isUnsent ? 0 : 1];
      const reply = new ScriptReply(await run('outbox-retry', { threadId: '', args }));
      return reply.oneOf('later', 'stale');
    },

    async keepHomes(people, untilMs, page = {}) {
      const [first, ...others] = people.map((person) => `home|${person}`);
      if (first === undefined) return;
      const rows = keys.shared('rows');
      const value = `${Math.round(untilMs)} ${JSON.stringify(page)}`;
      if (untilMs === 0) await client.hdel(rows, first, ...others);
      else await client.hset(rows, Object.fromEntries([first, ...others].map((home) => [home, value])));
    },

    async openHomes(people) {
      if (people.length === 0) return [];
      const kept = await client.hmget(keys.shared('rows'), ...people.map((person) => `home|${person}`));
      return people.flatMap((person, index) => {
        const value = kept[index] ?? '0';
        return Number.parseInt(value, 10) > Date.now() ? [{ person, page: readPage(value) }] : [];
      });
    },

    async tell(person, { id, revision }, delayMs, limit) {
      const args = [id, revision, delayMs, limit?.after ?? '', limit?.withinMs ?? ''];
      const reply = new ScriptReply(await run('tell', { threadId: person, args }));
      return { outcome: reply.oneOf('card', 'listed') };
    },

    async readSummary(person) {
      const stored = await client.hgetall(keys.summary(person));
      const entries = Object.entries(stored).flatMap(([name, value]) =>
        name.startsWith(ON) ? [{ requestId: name.slice(ON.length), since: Number.parseInt(value, 10) }] : [],
      );
      return {
        revision: Number(stored.rev ?? 0),
        entries: entries.sort((a, b) => a.since - b.since || (a.requestId < b.requestId ? -1 : 1)),
        number: Number(stored.number ?? 0),
        place: stored.place === undefined ? undefined : JsonRecord.parse(JSON.parse(stored.place)),
        postedAt: Number(stored.posted_at ?? 0),
        postedRevision: Number(stored.posted_rev ?? 0),
      };
    },
  };
}

/** Writes a message for the outbox, to be sent in the trace of the work that writes it. */
export function rowText(run: RunScript, { body }: OutboxRow): string {
  const trace = run.trace();
  return JSON.stringify(trace === undefined ? body : { ...body, trace });
}

/** Writes what was sent or drawn as `outbox-done.lua` reads it. */
function doneValues(
  { item, owner }: Pick<OutboxItem, 'item' | 'owner'>,
  {
    revision,
    place,
    againMs = 0,
    number = 0,
    gone = [],
  }: Omit<Drawn, 'postedAt'> & { readonly place: string },
  [body, digest]: readonly [body: string, digest: string] = ['', ''],
): Buffer {
  return pack({ item, owner, revision, place, again: againMs, number, gone, body, digest });
}

const Page = z.object({ list: z.string().optional(), from: z.string().optional() }).catch({});

/** Reads the page of a Home, which follows the time until which it is kept. */
function readPage(value: string): HomePage {
  return Page.parse(tryParseJson(value.slice(value.indexOf(' ') + 1)));
}

function readItem(
  item: string,
  row: string,
  held: Pick<OutboxItem, 'owner' | 'tries'>,
): OutboxItem | undefined {
  const [kind = '', requestId = '', viewId = ''] = item.split('|');
  if (kind === 'home') return { kind, item, ...held, person: requestId, page: readPage(row) };
  if (kind === 'summary') return { kind, item, ...held, person: requestId };
  if (kind === 'view') return { kind, item, ...held, requestId, viewId };
  try {
    const body = JsonRecord.parse(JSON.parse(row));
    return { kind: 'row', item, ...held, rowId: item.slice('row|'.length), body };
  } catch {
    return undefined;
  }
}
