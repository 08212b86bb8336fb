import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LocalModel, startLocalModel } from '../../playground/model/start-local-model.ts';
import { DEFAULT_USER_GROUPS, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { type LocalSlack, startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import { checkClock } from '../../src/commands/checks/check-services.ts';
import { type PrivateRedis, plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { isFull } from '../support/count-for.ts';
import {
  CLOSED_GROUP,
  EMPTY_GROUP,
  GONE,
  PLANTED,
  type PlantedMistake,
  ROBOT,
  SOUND,
} from './planted-mistakes.ts';
import { newFolder, run, writeManifest } from './support.ts';

const MODULE = `export const report = {
  kind: 'tool', name: 'report', description: 'Reports.', effect: 'once', run: async () => 'done', matches: () => false,
  inputSchema: { jsonSchema: { type: 'object', properties: { severity: { type: 'integer' } } } },
};
`;
const SAFE = { 'maxmemory-policy': 'noeviction', appendonly: 'yes', appendfsync: 'always' };

let slack: LocalSlack;
let model: LocalModel;
let redis: PrivateRedis;
let admin: Redis;
beforeAll(async () => {
  slack = await startLocalSlack({
    app: {
      scopes: /bot: \[(.*?)\]/.exec(SOUND)?.[1]?.split(', ') ?? [],
    },
    users: [
      ...DEFAULT_USERS,
      { id: GONE, name: 'gone', deleted: true },
      { id: ROBOT, name: 'robot', is_bot: true },
    ],
    userGroups: [
      ...DEFAULT_USER_GROUPS,
      { id: CLOSED_GROUP, handle: 'closed', name: 'Closed', users: [], disabled: true },
      { id: EMPTY_GROUP, handle: 'empty', name: 'Empty', users: [] },
    ],
  });
  model = await startLocalModel({ script: () => ({ calls: [{ name: 'ping', arguments: { word: 'ok' } }] }) });
  redis = await startPrivateRedis(plainArguments);
  admin = new Redis(redis.url);
});
afterAll(async () => {
  await admin.quit();
  await redis.stop();
  await model.stop();
  await slack.stop();
});

const auditKey = createKeyPair().privatePem;

/** Plants a mistake in a sound bot, and returns what both commands say of it. */
async function find({ change: [from, to] = ['', ''], ...planted }: Partial<PlantedMistake>) {
  expect(SOUND).toContain(from);
  const folder = newFolder();
  // The status page is a server that answers: the local Slack.
  const { port } = new URL(slack.apiUrl);
  const file = writeManifest(
    SOUND.replace(from, () => to).replace('http://localhost/status', `http://localhost:${port}/status`),
    folder,
  );
  writeFileSync(join(folder, 'report.mjs'), planted.module ?? MODULE);
  for (const [name, value] of Object.entries({ ...SAFE, ...planted.redis }))
    await admin.config('SET', name, value);
  const environment = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: model.url,
    OPENAI_MODEL: 'scripted',
    REDIS_URL: redis.url,
    AUDIT_KEY: auditKey,
    AUDIT_STATE_FILE: join(folder, 'audit-state.json'),
    MANIFEST: file,
    ...planted.environment,
  };
  return {
    check: await run(['manifest', 'check'], environment),
    doctor: await run(['doctor'], environment),
  };
}

test('a sound bot is found to be so by both', async () => {
  const { check, doctor } = await find({});
  expect(check).toMatchObject({ code: 0, error: '' });
  expect(doctor.out.split('\n').filter((line) => line !== '' && !line.startsWith('ok '))).toEqual([]);
  expect(doctor.code).toBe(0);
});

test('there are at least forty mistakes', () => {
  expect(new Set(PLANTED.map(({ name }) => name)).size).toBeGreaterThanOrEqual(40);
});

/** The quick form plays every sixth. */
const played = isFull ? PLANTED : PLANTED.filter((_, index) => index % 6 === 0);

test.each(played)('$name is found', async (planted) => {
  const { check, doctor } = await find(planted);
  if (planted.check !== undefined) expect(check.error).toMatch(planted.check);
  else expect(check).toMatchObject({ code: 0, error: '' });
  expect(doctor.out).toMatch(planted.doctor);
  const isWarning = /^warning/.test(planted.doctor.source);
  expect(doctor.code).toBe(isWarning ? 0 : 1);
  expect(doctor.out).not.toMatch(/\\u\{a\}|\.; /);
});

test.each([
  [0, 'ok'],
  [4_000, 'ok'],
  [40_000, 'warning'],
  [-400_000, 'failed'],
])('a clock that is %d ms off is %s', (offMs, status) => {
  expect(checkClock('Redis', 1_000_000 + offMs, 1_000_000).status).toBe(status);
});

test('for a machine every finding has its severity, its place and its fix', async () => {
  const folder = newFolder();
  const file = writeManifest(SOUND.replace('./report.mjs', './none.mjs'), folder);
  const { code, out } = await run(['doctor', '--json'], { MANIFEST: file });
  expect(code).toBe(1);
  expect(JSON.parse(out).findings).toContainEqual({
    check: 'manifest',
    status: 'failed',
    severity: 'error',
    message: 'there is no file ./none.mjs',
    fix: 'create it, or correct the path; it starts at the manifest',
    place: { file, line: 7, column: 21, path: 'tools.report.module' },
  });
});
