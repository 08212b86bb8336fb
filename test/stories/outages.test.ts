import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, inject, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { newFolder, run, writeManifest } from '../commands/support.ts';
import { parseExposition } from '../observe/exposition.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { CAST, MANIFEST, type StoryOptions, startStory } from './support.ts';

const manifest = MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}],`);
const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

/** Starts a bot whose log, readiness and metrics can be read. */
async function startWatched(options: StoryOptions & { readonly redisUrl?: string }) {
  const { redisUrl, ...rest } = options;
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const story = await startStory({
    manifest,
    // Slack soon repeats what was not acknowledged.
    slack: { app: { commands: ['/countersign'] }, timings: { acknowledgement: 5_000 } },
    ...rest,
    withoutBot: true,
  });
  const { settings } = story.setup;
  const redis = redisUrl === undefined ? settings.redis : { mode: 'single' as const, urls: [redisUrl] };
  const bot = await story.startOwnBot({ settings: { ...settings, redis }, logger });
  const get = (path: string) => fetch(`http://127.0.0.1:${bot.port}${path}`);
  return {
    ...story,
    lines,
    ready: async () => {
      const answer = await get('/ready');
      return { status: answer.status, ...z.record(z.string(), z.unknown()).parse(await answer.json()) };
    },
    metric: async (name: string, labels: Readonly<Record<string, string>> = {}) =>
      parseExposition(await (await get('/metrics')).text()).samples.find(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )?.value,
  };
}

test('a Redis that is full is seen by everybody who looks; freeze, withdrawal and the audit log still work', async () => {
  const server = await startPrivateRedis(plainArguments);
  onTestFinished(() => server.stop());
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  const story = await startWatched({
    redisUrl: server.url,
    replies: [{ calls: [refund] }, { text: 'Hello.' }, { text: 'Hello.' }],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  expect(await story.ready()).toEqual({ status: 200, ok: true, slack: true, redis: true, writes: true });
  expect(await story.metric('countersign_record_writable')).toBe(1);
  const environment = { REDIS_URL: server.url, MANIFEST: writeManifest(manifest) };
  expect((await run(['doctor'], environment, story.prefix)).out).toMatch(
    /^ok +redis memory: \d+\.\d MB used of no maxmemory, maxmemory-policy noeviction$/m,
  );

  await admin.config('SET', 'maxmemory', '1mb');
  const unheard = story.ask('are you there?', { as: CAST.bruno });
  await story.directly(CAST.admin).shows(/I can't record anything new: the memory of Redis is full/);
  expect(await story.ready()).toEqual({ status: 503, ok: false, slack: true, redis: true, writes: 'OOM' });
  expect(await story.metric('countersign_record_up')).toBe(1);
  expect(await story.metric('countersign_record_writable')).toBe(0);
  expect(await story.metric('countersign_record_refused_writes_total', { code: 'OOM' })).toBeGreaterThan(0);
  expect(await story.metric('countersign_redis_memory_bytes', { kind: 'max' })).toBe(2 ** 20);
  expect(story.lines.filter((line) => line.includes('Redis refuses writes'))).toHaveLength(1);
  expect((await run(['doctor'], environment, story.prefix)).out).toMatch(
    /^FAILED +redis memory: full: \d+\.\d MB used of 1\.0 MB.*raise maxmemory/m,
  );

  await story.workspace.as(CAST.admin).command('/countersign', 'freeze all Redis is full');
  await story.noticeFor(CAST.admin, /Frozen: all actions/);
  expect(
    await run(['freeze', 'refund_order', '--reason', 'also', '--as', 'ann'], environment, story.prefix),
  ).toMatchObject({ code: 0 });
  await thread.click(CAST.requester, /Approval needed/, 'withdraw');
  await thread.shows(/Withdrawn/);
  const events: string[] = [];
  for await (const { event } of openRedisStore({ client: admin, prefix: story.prefix }).exportAudit())
    events.push(event);
  expect(events).toEqual(['asked', 'frozen', 'frozen', 'withdrawn']);

  await admin.config('SET', 'maxmemory', '0');
  expect(await story.ready()).toMatchObject({ status: 200, writes: true });
  await unheard.shows(/Hello\./);
  await thread.shows(/Hello\./);
});

test('a message that Slack refuses for minutes grows older with every try', async () => {
  const story = await startWatched({ replies: [{ text: 'Hello.' }], sweep: { everyMs: 100, overdueMs: 0 } });
  story.workspace.rateLimit('chat.postMessage', { calls: 6, retryAfterSeconds: 1 });
  const asked = Date.now();
  const thread = story.ask('hello');
  const ages: number[] = [];
  await expect
    .poll(
      async () => {
        ages.push((await story.metric('countersign_outbox_oldest_seconds')) ?? 0);
        return Math.max(...ages);
      },
      { timeout: 30_000 },
    )
    .toBeGreaterThan(2.5);
  expect(Math.max(...ages)).toBeLessThanOrEqual((Date.now() - asked) / 1_000);
  expect(
    await story.metric('countersign_slack_calls_total', { method: 'chat.postMessage', status: '429' }),
  ).toBeGreaterThan(1);
  await thread.shows(/Hello\./);
  await expect.poll(() => story.metric('countersign_outbox_oldest_seconds')).toBe(0);
});

test('an audit log that cannot be exported is counted, told and found by the doctor', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'taken.jsonl'));
  const exporting = `${manifest}audit: { file: ${join(folder, 'taken.jsonl')} }\n`;
  const story = await startWatched({ manifest: exporting, replies: [{ calls: [refund] }] });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await expect
    .poll(() => story.metric('countersign_audit_export_failures_total', { sink: 'file' }), {
      timeout: 60_000,
    })
    .toBeGreaterThan(0);
  await story
    .directly(CAST.admin)
    .shows(/The audit log isn't exported any more: its file .* can't be written/);
  expect(story.lines.some((line) => line.includes('audit export failed'))).toBe(true);

  // Later than the doctor allows; only the clock of this test moves.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10 * 60_000 });
  onTestFinished(() => void vi.useRealTimers());
  const environment = { REDIS_URL: inject('redisUrl'), MANIFEST: writeManifest(exporting, folder) };
  const { out } = await run(['doctor'], environment, story.prefix);
  expect(out).toMatch(
    /^FAILED +audit export: file:.* lacks [1-9]\d* rows; .*; the oldest of them has waited for (9|10) minutes/m,
  );
});
