import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { builtProduct } from '../support/built-product.ts';
import { connectTestRedis } from '../support/redis.ts';
import { CHANNEL, START } from './logged-calls.ts';
import { GOOD, newFolder, run, writeManifest } from './support.ts';

const CALLS = 10_000;
/** Together the arguments are several times what the process may hold. */
const HEAP_MB = 72;
const NOTE = 'damaged '.repeat(1_250);

const CANDIDATE = `${GOOD.replace(/policies:[\s\S]*$/, '')}
policies: { default: { approvers: [S0APPROVE1] } }
tools:
  refund:
    description: Refunds.
    input: { type: object, properties: { amount: { type: number }, note: { type: string } } }
    http: { method: POST, url: "https://example.com/refunds", body: { amount: "{{input.amount}}" } }
    approval: [{ policy: default, when: "input.amount >= 7500" }, { require: never }]
limits: { refund: { per: requester, window: 1m, max: 1000, policy: default } }
`;

/** The row of call number `amount`; a call each 100 ms, in many threads. */
function rowOf(amount: number) {
  const subject = `${CHANNEL}:1700000000.${String(amount % 640).padStart(6, '0')}`;
  const called = { tool: 'refund', arguments: { amount, note: NOTE }, requesters: ['U0ANYBODY1'] };
  const body = JSON.stringify({ ...called, ref: `call-${amount}`, idempotencyKey: 'key' });
  const at = START + amount * 100;
  return { at, event: 'effect-started', subject, detail: 'try 1 run', body };
}

test(`an export with ${CALLS} calls of 10 KB is replayed by a process that may hold ${HEAP_MB} MB`, async () => {
  const folder = newFolder();
  const file = createWriteStream(join(folder, 'audit.jsonl'));
  for (let amount = 0; amount < CALLS; amount += 1) {
    const { at, ...row } = rowOf(amount);
    const line = {
      type: 'row',
      v: 1,
      time: new Date(at).toISOString(),
      seq: amount + 1,
      at,
      ...row,
      hash: 'ab',
    };
    if (!file.write(`${JSON.stringify(line)}\n`)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  const cli = join(await builtProduct(), 'cli.js');
  const line = [
    'manifest',
    'replay',
    writeManifest(CANDIDATE, folder),
    '--json',
    '--from',
    file.path.toString(),
  ];
  const args = [`--max-old-space-size=${HEAP_MB}`, cli, ...line];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: {} });
  expect(JSON.parse(stdout)).toMatchObject({ calls: CALLS, changes: { same: 7_500, asked: 2_500 } });
});

test(`a log of ${CALLS} calls is replayed from Redis page by page`, async () => {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore(redis);
  for (let first = 0; first < CALLS; first += 500)
    await Promise.all(
      Array.from({ length: 500 }, (_, index) => {
        const { subject } = rowOf(first + index);
        const called = { tool: 'refund', arguments: { amount: first + index }, requesters: ['U0ANYBODY1'] };
        return store.note(`call-${first + index}`, 'denied', subject, { ...called, reason: 'No.' });
      }),
    );
  const candidate = writeManifest(CANDIDATE);
  const line = ['manifest', 'replay', candidate, '--json'];
  const { code, out } = await run(line, { REDIS_URL: redis.url }, redis.prefix);
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ calls: CALLS, changes: { 'not-denied': CALLS } });
});
