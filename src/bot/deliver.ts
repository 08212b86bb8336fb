import { z } from 'zod';
import type { OutboxItem } from '../store/port.ts';
import type { BotParts } from './bot-parts.ts';
import { buildCard } from './cards/build-card.ts';
import type { Card } from './cards/card.ts';

const CLAIM = { leaseMs: 30_000, limit: 20 };
const RETRY_MS = 5_000;

const Place = z.object({ channel: z.string(), threadTs: z.string() });
const Standing = z.object({ channel: z.string(), ts: z.string() });
const Row = Place.extend({ text: z.string() });

/** Sends what is due in one shard's outbox: replies once, cards as their records are now. */
export async function deliver(parts: BotParts, shard: number): Promise<void> {
  for (const item of await parts.store.takeOutbox(shard, CLAIM)) {
    try {
      await (item.kind === 'row' ? sendRow(parts, item) : drawView(parts, item));
    } catch (err) {
      parts.logger.warn({ item: item.item, err }, 'not delivered, will be tried again');
      await parts.store.retryOutbox(item, RETRY_MS);
    }
  }
}

async function sendRow({ client, store }: BotParts, item: OutboxItem & { kind: 'row' }): Promise<void> {
  const { channel, threadTs, text } = Row.parse(item.body);
  await client.chat.postMessage({ channel, thread_ts: threadTs, text });
  await store.doneRow(item);
}

async function drawView({ client, store }: BotParts, item: OutboxItem & { kind: 'view' }): Promise<void> {
  const loaded = await store.load(item.requestId);
  const view =
    loaded.outcome === 'found' ? loaded.request.views.find(({ id }) => id === item.viewId) : undefined;
  if (loaded.outcome !== 'found' || view === undefined) {
    await store.doneView(item, 0, {});
    return;
  }
  const card: Card = buildCard(loaded.request);
  const stands = Standing.safeParse(view.stands);
  if (stands.success) {
    await client.chat.update({ ...stands.data, ...card });
    await store.doneView(item, loaded.request.revision, stands.data);
    return;
  }
  const { channel, threadTs } = Place.parse(view.place);
  const posted = await client.chat.postMessage({ channel, thread_ts: threadTs, ...card });
  await store.doneView(item, loaded.request.revision, { channel, ts: posted.ts ?? '' });
}
