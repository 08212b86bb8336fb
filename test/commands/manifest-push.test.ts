import { expect, test } from 'vitest';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { startManifestApi } from './slack-server.ts';
import { GOOD, jsonLines, run, writeManifest } from './support.ts';

const TOKEN = 'xoxe.xoxp-hidden-word';
const VALID = { 'apps.manifest.validate': { body: { ok: true } } };
const CREATED = {
  ok: true,
  app_id: 'A0NEW12345',
  credentials: { client_secret: 'hidden-secret', signing_secret: 'hidden-secret' },
  oauth_authorize_url: 'https://slack.com/oauth/v2/authorize?client_id=1',
};

test('without an app’s id, what Slack finds valid becomes a new app; its secrets are not printed', async () => {
  const api = await startManifestApi({ ...VALID, 'apps.manifest.create': { body: CREATED } });
  const file = writeManifest(GOOD);
  const environment = { SLACK_CONFIG_TOKEN: TOKEN, SLACK_API_URL: api.url };
  const { code, out, error } = await run(['manifest', 'push', file], environment);
  expect([code, error]).toEqual([0, '']);
  expect(out).toMatch(/^created A0NEW12345\ninstall it: https:\/\/slack\.com\/oauth/);
  expect(out).not.toContain('hidden');
  expect(api.calls.map(({ method }) => method)).toEqual(['apps.manifest.validate', 'apps.manifest.create']);
  const { out: printed } = await run(['manifest', 'slack', '--json', file]);
  for (const call of nonEmpty(api.calls)) {
    expect(call.authorization).toBe(`Bearer ${TOKEN}`);
    expect(Object.keys(call.arguments)).toEqual(['manifest']);
    expect(JSON.parse(call.arguments.manifest ?? '')).toEqual(JSON.parse(printed));
  }
});

test('with an app’s id that app is updated, and it is said when it has to be installed again', async () => {
  const api = await startManifestApi({
    ...VALID,
    'apps.manifest.update': { body: { ok: true, app_id: 'A012ABCDEF', permissions_updated: true } },
  });
  const argv = ['manifest', 'push', '--app-id', 'A012ABCDEF', writeManifest(GOOD)];
  const environment = { SLACK_CONFIG_TOKEN: TOKEN, SLACK_API_URL: api.url };
  const { code, out } = await run(argv, environment);
  expect([code, api.calls.map((call) => call.arguments.app_id)]).toEqual([0, ['A012ABCDEF', 'A012ABCDEF']]);
  expect(out).toMatch(/^updated A012ABCDEF\nits scopes have changed; install it again: /);
  const json = await run([...argv, '--json'], environment);
  expect(jsonLines(json.out)).toEqual([{ ok: true, appId: 'A012ABCDEF', mustInstall: true }]);
});

test('what Slack finds wrong is named with its place, and nothing is created', async () => {
  const errors = [
    { message: 'Interactivity requires a Request URL', pointer: '/settings/interactivity' },
    { message: 'Must be shorter' },
  ];
  const api = await startManifestApi({
    'apps.manifest.validate': { body: { ok: false, error: 'invalid_manifest', errors } },
  });
  const environment = { SLACK_CONFIG_TOKEN: TOKEN, SLACK_API_URL: api.url };
  const { code, error } = await run(['manifest', 'push', writeManifest(GOOD)], environment);
  expect([code, error]).toEqual([
    1,
    'slack.settings.interactivity: Interactivity requires a Request URL\nslack: Must be shorter\n',
  ]);
  expect(api.calls).toHaveLength(1);
});

test.each([
  [
    'a token that has run out',
    { body: { ok: false, error: 'token_expired' } },
    /token_expired; create an app configuration token/,
  ],
  ['too many calls', { status: 429, headers: { 'retry-after': '30' }, body: '' }, /try again in 30 seconds/],
  [
    'something that is not Slack',
    { status: 200, body: '<html>' },
    /is not Slack: apps\.manifest\.validate returned status 200/,
  ],
  [
    'an outage',
    { status: 503, body: 'upstream' },
    /is not Slack: apps\.manifest\.validate returned status 503/,
  ],
])('%s is one sentence without the token', async (_, answer, words) => {
  const api = await startManifestApi({ 'apps.manifest.validate': answer });
  const environment = { SLACK_CONFIG_TOKEN: TOKEN, SLACK_API_URL: api.url };
  const { code, error } = await run(['manifest', 'push', writeManifest(GOOD)], environment);
  expect(code).toBe(1);
  expect(error).toMatch(words);
  expect(error).not.toContain('hidden-word');
  expect(api.calls).toHaveLength(1);
});

test('nothing is sent without a token, or for a manifest with mistakes', async () => {
  const api = await startManifestApi(VALID);
  const without = await run(['manifest', 'push', writeManifest(GOOD)], { SLACK_API_URL: api.url });
  expect(without).toMatchObject({ code: 1, error: expect.stringContaining('SLACK_CONFIG_TOKEN is not set') });
  const bad = writeManifest(GOOD.replace('tools:', 'tolls:'));
  const environment = { SLACK_CONFIG_TOKEN: TOKEN, SLACK_API_URL: api.url };
  expect(await run(['manifest', 'push', bad], environment)).toMatchObject({ code: 1 });
  expect(api.calls).toEqual([]);
});

test('a Slack that is not there is said to be so', async () => {
  const host = `127.0.0.1:${await findFreePort()}`;
  const environment = { SLACK_CONFIG_TOKEN: TOKEN, SLACK_API_URL: `http://${host}/api` };
  const { code, error } = await run(['manifest', 'push', writeManifest(GOOD)], environment);
  expect([code, error]).toEqual([
    1,
    `countersign manifest push: Slack cannot be reached at ${host} (ECONNREFUSED)\n`,
  ]);
});
