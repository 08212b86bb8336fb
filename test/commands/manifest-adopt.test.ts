import { expect, onTestFinished, test } from 'vitest';
import { manifestIn } from '../../src/store/documents/manifest.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import {
  chooseManifest,
  type ManifestVersion,
  manifestDigest,
  versionOf,
} from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { connectTestRedis } from '../support/redis.ts';
import { GOOD, run, writeManifest } from './support.ts';

const GOVERNED = GOOD.replace(
  'policies:',
  'agent: { policy_changes: { approvers: [U0BOSS0001], channel: C0POLICIES } }\npolicies:',
);
/** A key that this version does not know, as if an earlier or a later one had known it. */
const UNREADABLE = GOVERNED.replace('agent: {', 'agent: { sign_with: pen,');

function parseVersion(text: string): ManifestVersion {
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return versionOf(parsed, undefined);
}

/** Opens a record on which a manifest is. */
async function openRecord(text?: string) {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore(redis);
  if (text !== undefined)
    await manifestIn(store).recordManifest(undefined, {
      ...{ digest: manifestDigest(text), text, lock: undefined },
      isGoverned: text.includes('policy_changes'),
    });
  const adopt = (manifest: string, environment: Readonly<Record<string, string>> = {}) =>
    run(
      ['manifest', 'adopt', writeManifest(manifest), '--reason', 'after the upgrade', '--as', 'ann'],
      { REDIS_URL: redis.url, ...environment },
      redis.prefix,
    );
  const adoptions = async () => {
    const rows: unknown[] = [];
    for await (const { event, detail, body } of store.exportAudit())
      if (event === 'manifest-adopted') rows.push({ detail, ...JSON.parse(body) });
    return rows;
  };
  return { record: manifestIn(store), adopt, adoptions };
}

test('a manifest on record that this version cannot read stops the start with its mistakes and two ways out; an operator may adopt the file', async () => {
  const { record, adopt, adoptions } = await openRecord(UNREADABLE);
  const file = parseVersion(GOVERNED);
  const start = () => chooseManifest(record, file, {});
  await expect(start()).rejects.toThrow(
    /requires approval for changes, but it can't be read:\n.*agent\.sign_with: unknown key "sign_with".*\nEither run the previous version .* countersign manifest adopt --reason/,
  );
  const { code, out, error } = await adopt(GOVERNED);
  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(out).toMatch(/manifest\.yml is on record now \([0-9a-f]{12}\)\. Start the bot\.\n$/);
  expect(await adoptions()).toEqual([
    {
      detail: 'operator:ann',
      ...{ former: manifestDigest(UNREADABLE), digest: file.digest },
      ...{ who: 'operator:ann', reason: 'after the upgrade' },
      evidence: { click: expect.any(String), operator: 'ann' },
    },
  ]);
  expect(await start()).toEqual({ version: file });
  expect(await adopt(GOVERNED)).toMatchObject({
    code: 1,
    error: expect.stringContaining('on record already'),
  });
});

test('nobody can adopt past a manifest on record that can be read, or that only lacks its environment', async () => {
  const changed = GOVERNED.replace('S0APPROVE1', 'S0ANYBODY1');
  const readable = await openRecord(GOVERNED);
  expect(await readable.adopt(changed)).toMatchObject({
    code: 1,
    error: expect.stringContaining('can be read, so a change of its rules needs the approval'),
  });
  const audit = `audit: { http: { url: "https://\${SINK_HOST}/rows", headers: { authorization: "\${SINK_TOKEN}" } } }\n`;
  const unset = await openRecord(`${GOVERNED}${audit}`);
  const environment = { SINK_HOST: 'logs.example.com' };
  await expect(chooseManifest(unset.record, parseVersion(changed), environment)).rejects.toThrow(
    'Set these environment variables again: SINK_TOKEN.',
  );
  expect(await unset.adopt(changed, environment)).toMatchObject({
    code: 1,
    error: expect.stringContaining('Set these environment variables again: SINK_TOKEN.'),
  });
  const wrong = { SINK_HOST: 'no host', SINK_TOKEN: 'word' };
  expect(await unset.adopt(changed, wrong)).toMatchObject({
    code: 1,
    error: expect.stringContaining('Set these environment variables again: SINK_HOST, SINK_TOKEN.'),
  });
  expect(await Promise.all([readable, unset].map(({ adoptions }) => adoptions()))).toEqual([[], []]);
});

test('without a governed manifest on record there is nothing to adopt, and without a reason nobody adopts', async () => {
  for (const text of [undefined, GOOD]) {
    const { adopt } = await openRecord(text);
    expect(await adopt(GOVERNED)).toMatchObject({
      code: 1,
      error: expect.stringContaining('there is no manifest on record that could stand in the way'),
    });
  }
  expect(await run(['manifest', 'adopt', writeManifest(GOVERNED)])).toMatchObject({ code: 2 });
  const placeholder = GOVERNED.replace('S0APPROVE1', 'S0REPLACEME');
  const { adopt } = await openRecord(UNREADABLE);
  expect(await adopt(placeholder)).toMatchObject({ code: 1, error: expect.stringContaining('placeholders') });
});

test('a record of a later version is left alone, in one sentence', async () => {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore(redis);
  await manifestIn(store).recordManifest(undefined, {
    digest: 'd',
    text: '',
    lock: undefined,
    isGoverned: true,
  });
  await store.writeDocument('manifest', 'active', { version: 'later', value: '{"v":2}' });
  await expect(manifestIn(store).readManifest()).rejects.toThrow(
    'The manifest on record was written by a later version of Countersign (2; this one knows 1).',
  );
});
