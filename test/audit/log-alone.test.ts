import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { startBot } from '../../src/start-bot.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { newFolder, run, writeKey } from '../commands/support.ts';
import { CAST, MANIFEST, startStory } from '../stories/support.ts';
import { linesOf } from './support.ts';

const refund = { name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } };

test('the export alone says what was approved, by whom, and what ran, without secrets', async () => {
  const folder = newFolder();
  const { privatePem, publicPem } = createKeyPair();
  const file = `${folder}/audit.jsonl`;
  const story = await startStory({
    manifest: `${MANIFEST}audit: { file: ${file} }\n`,
    replies: [{ calls: [refund] }, { text: 'Refunded.' }],
    withoutBot: true,
  });
  const secrets = new Secrets();
  secrets.add('A-1001');
  const { settings } = story.setup;
  const bot = await startBot({
    ...story.setup,
    secrets,
    settings: { ...settings, auditKey: { text: privatePem } },
  });
  const thread = story.ask('refund order A-1001');
  await thread.click(CAST.alice, /needs 1 approval/i, 'approve');
  await thread.shows(/Refunded\./);
  await bot.stop();

  const rows = linesOf(file).filter(({ type }) => type === 'row');
  const bodies = new Map(rows.map(({ event, body }) => [event, body === '' ? {} : JSON.parse(String(body))]));
  expect(bodies.get('asked')).toMatchObject({
    tool: 'refund_order',
    title: 'Refund order [redacted]: amount 12000',
    arguments: { orderId: '[redacted]', amount: 12_000 },
    requester: CAST.requester,
    requesters: [CAST.requester],
    policy: { principals: [CAST.alice, CAST.bruno], quorum: 1 },
    policy_name: 'default',
    rule: expect.stringContaining('input.amount > 10000'),
    digest: expect.any(String),
  });
  expect(bodies.get('voted')).toMatchObject({ who: CAST.alice, decision: 'approve' });
  expect(bodies.get('started')).toMatchObject({ digest: bodies.get('asked').digest });
  expect(bodies.get('succeeded')).toMatchObject({
    attempt: bodies.get('started').attempt,
    state: 'succeeded',
  });
  expect(JSON.stringify(bodies.get('succeeded'))).toContain('12000');
  expect(JSON.stringify(rows)).not.toContain('A-1001');
  const publicKeyFile = writeKey(folder, 'public.pem', publicPem);
  const verified = await run(['audit', 'verify', '--json', '--file', file, '--key', publicKeyFile]);
  expect(verified.code).toBe(0);
  // What was redacted is named: of it the log proves nothing but that it was the same.
  const seq = rows.find(({ event }) => event === 'asked')?.seq;
  const { notProven, redacted } = JSON.parse(verified.out);
  expect(notProven).toContain('redacted');
  expect(redacted).toEqual([{ seq, values: expect.arrayContaining(['/arguments/orderId', '/title']) }]);
  const independent = (path: string) =>
    promisify(execFile)(process.execPath, ['test/audit/independent-verifier.mjs', path, publicKeyFile]);
  expect((await independent(file)).stdout).toBe('ok\n');
  writeFileSync(
    `${file}.forged`,
    readFileSync(file, 'utf8').replace('\\"amount\\":12000', '\\"amount\\":12'),
  );
  await expect(independent(`${file}.forged`)).rejects.toMatchObject({
    stdout: expect.stringContaining(`row ${seq}: not what its digest was computed from`),
  });
});
