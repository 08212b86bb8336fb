import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { exportIn } from '../../src/audit/export-progress.ts';
import { openAuditWorld } from './support.ts';

const MINUTE_MS = 60_000;
const FIRST = { n: 1, hash: 'one', previous: '', text: '{}' };

test('one process at a time holds the lease, for as long as it renews it', async () => {
  const { store } = await openAuditWorld();
  const { claim, release } = exportIn(store);
  expect(await claim('first', MINUTE_MS)).toBe(true);
  expect(await claim('second', MINUTE_MS)).toBe(false);
  await release('second');
  expect(await claim('first', MINUTE_MS)).toBe(true);
  expect(await store.appendCheckpoint('second', FIRST)).toBe('not-held');
  await release('first');
  expect(await claim('second', 20)).toBe(true);
  await sleep(40);
  expect(await store.appendCheckpoint('second', FIRST)).toBe('not-held');
  expect(await claim('first', MINUTE_MS)).toBe(true);
  expect(await store.appendCheckpoint('first', FIRST)).toBe('appended');
});

test('progress is saved over what the process has read, and over nothing else', async () => {
  const { store, keys, redis } = await openAuditWorld();
  const { saveProgress, readProgress } = exportIn(store);
  const version = await saveProgress('file:a', { seq: 1, checkpoint: 0 }, undefined);
  expect(await saveProgress('file:a', { seq: 7, checkpoint: 2 }, version)).toBeDefined();
  expect(await saveProgress('file:a', { seq: 2, checkpoint: 0 }, version)).toBeUndefined();
  expect(await saveProgress('file:a', { seq: 2, checkpoint: 0 }, undefined)).toBeUndefined();
  expect((await readProgress()).get('file:a')).toMatchObject({ seq: 7, checkpoint: 2 });
  // What cannot be read is no progress: the sink gets everything again.
  await redis.client.set(keys.document('export|file:a'), 'other\nnothing');
  const known = (await readProgress()).get('file:a');
  expect(known).toMatchObject({ seq: 0, checkpoint: 0 });
  expect(await saveProgress('file:a', { seq: 1, checkpoint: 0 }, known?.version)).toBeDefined();
});

test('a log has one id, which stays', async () => {
  const { store } = await openAuditWorld();
  const ids = await Promise.all([1, 2, 3].map(() => exportIn(store).readLogId()));
  expect(new Set(ids).size).toBe(1);
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
});
