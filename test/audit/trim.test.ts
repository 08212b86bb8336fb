import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fileSink, trimExported } from '../../src/audit/sinks.ts';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { GOOD, jsonLines, run, writeManifest } from '../commands/support.ts';
import { allRows, approveRefund, openAuditWorld } from './support.ts';

test('trimming removes only what every sink has and a checkpoint covers', async () => {
  const { store, file, exportOnce } = await openAuditWorld();
  const other = fileSink(`${file}.other`);
  const sinks = [fileSink(file), other];
  await approveRefund(store);
  await exportOnce();
  await sleep(5);
  expect(await trimExported(store, { sinks: [], olderThanMs: 0 })).toEqual({ rows: 0, checkpoints: 0 });
  expect(await trimExported(store, { sinks, olderThanMs: 0 }), 'one sink has nothing').toMatchObject({
    rows: 0,
  });
  await exportOnce({ file: `${file}.other` });
  await approveRefund(store);
  await sleep(5);
  expect(await trimExported(store, { sinks, olderThanMs: 60_000 }), 'nothing is old').toMatchObject({
    rows: 0,
  });
  expect(await trimExported(store, { sinks, olderThanMs: 0 })).toMatchObject({ rows: 5 });
  expect(await allRows(store), 'what is not exported stays').toHaveLength(5);
  expect((await verifyChain(store)).problems).toEqual([]);
});

test('the trimmed log is verified from its first row that is left, and the last checkpoint stays', async () => {
  const { store, file, exportOnce, publicKeyFile, redis } = await openAuditWorld();
  for (let round = 0; round < 3; round += 1) {
    await approveRefund(store);
    await exportOnce();
  }
  await sleep(5);
  const trimmed = await trimExported(store, { sinks: [fileSink(file)], olderThanMs: 0 });
  expect(trimmed).toEqual({ rows: 15, checkpoints: 2 });
  await approveRefund(store);
  await exportOnce();
  const argv = ['audit', 'verify', '--json', '--key', publicKeyFile, '--against', file];
  const { code, out } = await run(argv, { REDIS_URL: redis.url }, redis.prefix);
  expect([code, jsonLines(out)[0]]).toMatchObject([0, { rows: 5, checkpoints: 2 }]);
});

test('"audit trim" follows the manifest, and refuses where nothing is exported', async () => {
  const { store, file, exportOnce, redis, folder } = await openAuditWorld();
  await approveRefund(store);
  await exportOnce();
  await sleep(1_100);
  const trim = (manifest: string, ...more: string[]) =>
    run(
      ['audit', 'trim', ...more],
      { REDIS_URL: redis.url, MANIFEST: writeManifest(manifest, folder) },
      redis.prefix,
    );
  expect(await trim(GOOD, '--older-than', '1s')).toMatchObject({
    code: 1,
    error: expect.stringContaining('audit.file'),
  });
  const exporting = `${GOOD}audit: { file: ./${file.split('/').at(-1)} }\n`;
  expect(await trim(exporting)).toMatchObject({ code: 1, error: expect.stringContaining('audit.retention') });
  const kept = exporting.replace('.jsonl }', '.jsonl, retention: 1d }');
  expect(await trim(kept)).toMatchObject({ code: 0, out: 'removed (rows: 0, checkpoints: 0)\n' });
  expect(await trim(kept, '--older-than', '1s')).toMatchObject({
    code: 0,
    out: 'removed (rows: 5, checkpoints: 0)\n',
  });
});
