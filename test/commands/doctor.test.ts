import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { APPROVERS_GROUP, CAST } from '../../playground/slack/default-cast.ts';
import { exportIn } from '../../src/audit/export-progress.ts';
import { fileMemory, Signer } from '../../src/audit/signer.ts';
import { readSigningKey } from '../../src/audit/signing-key.ts';
import { checkWork } from '../../src/commands/checks/check-services.ts';
import { addPasskey } from '../../src/engine/passkeys.ts';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import { Keys } from '../../src/store/port/keys.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { SoftwareKey } from '../page/software-key.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { connectTestRedis } from '../support/redis.ts';
import { type Line, PING, saysOf, surroundings } from './doctor-support.ts';
import { startManifestApi } from './slack-server.ts';
import { GOOD, GOOD_SCOPES, jsonLines, newFolder, run, writeManifest } from './support.ts';

test('where all is well every line is, and the exit code is 0', async () => {
  const manifest = `${GOOD}audit: { file: ./audit.jsonl }\n`;
  const { code, out, error } = await run(['doctor'], await surroundings({ manifest }));
  expect([code, error]).toEqual([0, '']);
  const lines = out.trim().split('\n');
  // The Redis of the tests keeps nothing on disk, which the doctor does not let pass in silence.
  expect(lines.filter((line) => !/^(ok {5}|warning {2}redis: )/.test(line))).toEqual([]);
  for (const check of [
    'settings',
    'manifest',
    'redis',
    'slack bot token',
    'slack scopes',
    'slack app token',
    'slack ids',
    'clock',
    'model',
    'audit key',
    'audit export',
  ])
    expect(out).toMatch(new RegExp(`^ok +${check}: `, 'm'));
  expect(out).not.toMatch(/hidden-word|xox|xapp/);
});

test('every placeholder of the manifest that has to be replaced is a failure, with its line and column', async () => {
  const manifest = GOOD.replace('[S0APPROVE1]', '[U0REPLACEME1, S0REPLACEME]');
  const environment = await surroundings({ manifest });
  expect(await saysOf('manifest', environment)).toEqual([
    expect.stringMatching(/^failed: "U0REPLACEME1" is a placeholder/),
    expect.stringMatching(/^failed: "S0REPLACEME" is a placeholder/),
  ]);
});

test('with nothing set, what is missing is named, and what depends on it is not checked', async () => {
  const { code, out } = await run(['doctor', '--json'], { MANIFEST: join(newFolder(), 'none.yml') });
  expect(code).toBe(1);
  const [report] = jsonLines(out);
  const findings = report?.findings as Line[];
  expect(report?.ok).toBe(false);
  const failures = findings.filter(({ status }) => status === 'failed').map(({ message }) => message);
  for (const name of ['SLACK_BOT_TOKEN', 'OPENAI_API_KEY', 'REDIS_URL'])
    expect(failures).toContainEqual(expect.stringMatching(new RegExp(`^${name} is not set`)));
  expect(failures).toContainEqual(expect.stringMatching(/^there is no .*none\.yml/));
  expect(findings.filter(({ status }) => status === 'not-checked').map(({ check }) => check)).toEqual([
    'redis',
    'slack bot token',
    'slack scopes',
    'slack app token',
    'slack ids',
    'model',
    'tools',
    'audit export',
  ]);
});

test('an audit log that is not signed or not exported is a warning, and a key that is none is a failure', async () => {
  const replies = [{ text: 'ok' }, { text: 'ok' }, { text: 'ok' }];
  const { AUDIT_KEY: _key, ...environment } = await surroundings({ replies });
  expect(await saysOf('audit key', environment)).toEqual([
    'warning: the audit log is not signed; make a key (countersign audit key) and set AUDIT_KEY_FILE in .env',
  ]);
  expect(await saysOf('audit export', environment)).toEqual([
    'warning: the audit log is in Redis only; set audit.file or audit.http in the manifest',
  ]);
  expect(await saysOf('audit key', { ...environment, AUDIT_KEY_FILE: '/none.pem' })).toEqual([
    'failed: AUDIT_KEY_FILE: /none.pem cannot be read',
  ]);
});

test('a signer that cannot remember what it signed is a failure, and one that forgets it when it ends a warning', async () => {
  const replies = [{ text: 'ok' }, { text: 'ok' }];
  const { AUDIT_STATE_FILE: _file, ...environment } = await surroundings({ replies });
  expect(await saysOf('audit key', environment)).toEqual([
    'warning: the signer forgets what it signed when the bot ends; set AUDIT_STATE_FILE to a file that the bot can write',
  ]);
  expect(await saysOf('audit key', { ...environment, AUDIT_STATE_FILE: '/none/audit.state' })).toEqual([
    'failed: /none cannot be written, so the signer cannot remember what it signed; create it, give the bot access, or set AUDIT_STATE_FILE',
  ]);
});

test('a log that does not continue what was signed is a failure, although the key is fine', async () => {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const store = openRedisStore({ client: redis.client, prefix: redis.prefix });
  const environment = await surroundings({ replies: [PING, PING] });
  const { AUDIT_KEY: text, AUDIT_STATE_FILE: file } = environment;
  const key = await readSigningKey({ text });
  const log = { info() {}, warn() {} };
  const signer = new Signer({ store, key, memory: fileMemory(file), log, unsignedAfterMs: 300_000 });
  await store.note('one', 'configured', 'U-ann', {});
  await exportIn(store).claim('test', 600_000);
  expect(await signer.sign('test', async () => true)).toEqual({ outcome: 'appended' });
  const remembered = readFileSync(file, 'utf8');
  await store.note('two', 'configured', 'U-ann', {});
  expect(await saysOf('audit key', environment, redis.prefix)).toEqual([
    `ok: checkpoints are signed with the key ${key.id}`,
  ]);
  // A backup of an earlier day has fewer rows than were signed.
  await redis.client.del(new Keys(redis.prefix).shared('audit'));
  expect(await saysOf('audit key', environment, redis.prefix)).toEqual([
    "failed: the audit log is not signed: the rows in Redis don't continue the last one that was signed; checkpoint 1 is the last one to trust; keep the exported log, and run countersign audit verify",
  ]);
  expect(readFileSync(file, 'utf8')).toBe(remembered);
});

test('a Redis that refuses writes is a failure, with its reason', async () => {
  const server = await startPrivateRedis(plainArguments);
  const admin = new Redis(server.url);
  onTestFinished(async () => {
    await admin.quit();
    await server.stop();
  });
  const environment = { ...(await surroundings({ replies: [PING, PING] })), REDIS_URL: server.url };
  await admin.config('SET', 'min-replicas-to-write', '1');
  expect(await saysOf('redis', environment)).toContain(
    'failed: it refuses writes: Redis has too few replicas',
  );
  await admin.config('SET', 'min-replicas-to-write', '0', 'maxmemory', '1');
  expect(await saysOf('redis', environment)).toContain(
    'failed: it refuses writes: the memory of Redis is full',
  );
});

test('what the alerts watch is a finding: messages and timers that wait, and unknown outcomes', () => {
  const requests = { pending: 3, approved: 0, started: 0, unknown: 0 };
  const fine = {
    ...{ requests, quarantinedThreads: 0, overdueTimers: 0 },
    outbox: { waiting: 2, due: 1, oldestMs: 2_000, oldestWebhookMs: 2_000 },
  };
  expect(checkWork(fine)).toEqual([]);
  const stuck = {
    ...{ ...fine, requests: { ...requests, unknown: 1 }, overdueTimers: 2 },
    outbox: { waiting: 2, due: 1, oldestMs: 420_000, oldestWebhookMs: 600_000 },
  };
  expect(checkWork(stuck)).toMatchObject([
    { check: 'work', status: 'failed', message: 'a message to Slack has waited for 7 minutes' },
    { check: 'work', status: 'failed', message: 'overdue timers: 2' },
    {
      ...{ check: 'work', status: 'failed' },
      message: 'a message to the webhook of a caller has waited for 10 minutes',
    },
    { check: 'work', status: 'warning', message: 'actions with an unknown outcome: 1' },
  ]);
});

test('a scope that the manifest lists and the app does not have is named, and so is one too many', async () => {
  const environment = await surroundings({
    app: { scopes: [...GOOD_SCOPES.filter((scope) => scope !== 'users:read'), 'pins:read'] },
  });
  expect(await saysOf('slack scopes', environment)).toEqual([
    expect.stringMatching(/^failed: missing: users:read; update the app .* install it again$/),
    expect.stringMatching(/^warning: granted, but not in the manifest: pins:read;/),
  ]);
});

test('ids that the app may not look up are not said to fit', async () => {
  const scopes = GOOD_SCOPES.filter((scope) => scope !== 'users:read');
  expect(await saysOf('slack ids', await surroundings({ app: { scopes } }))).toEqual([
    expect.stringMatching(/^warning: not all could be checked: the app lacks the scope for users\.info;/),
  ]);
});

test('a token that Slack rejects is reported and not shown', async () => {
  const environment = {
    ...(await surroundings()),
    SLACK_BOT_TOKEN: 'xoxb-wrong',
    SLACK_APP_TOKEN: 'xapp-wrong',
  };
  const { code, out } = await run(['doctor'], environment);
  expect(code).toBe(1);
  expect(out).toMatch(/^FAILED {3}slack bot token: Slack rejects SLACK_BOT_TOKEN \(invalid_auth\); copy/m);
  expect(out).toMatch(/^FAILED {3}slack app token: Slack rejects SLACK_APP_TOKEN \(invalid_auth\); create/m);
  expect(out).not.toMatch(/x(oxb|app)-wrong/);
});

test('where Slack calls over HTTP no app token is missed', async () => {
  const { SLACK_APP_TOKEN: _unused, ...others } = await surroundings();
  expect(await saysOf('slack app token', { ...others, SLACK_SIGNING_SECRET: 'hidden-word' })).toEqual([
    'ok: not needed: Slack calls over HTTP',
  ]);
});

test('a clock that is far from Slack’s is a failure', async () => {
  const date = new Date(Date.now() - 3_600_000).toUTCString();
  const body = { ok: true, team: 'Shop', user: 'bot', team_id: 'T0LOCAL001' };
  const api = await startManifestApi({ 'auth.test': { headers: { date }, body } });
  const environment = { ...(await surroundings()), SLACK_API_URL: api.url };
  expect(await saysOf('clock', environment)).toEqual([
    'ok: agrees with Redis',
    expect.stringMatching(
      /^failed: this machine's clock is 3\d{3} seconds ahead of Slack's; sync it with NTP$/,
    ),
  ]);
});

test('an app without Socket Mode is told to turn it on', async () => {
  const environment = await surroundings({ app: { socketMode: false } });
  expect(await saysOf('slack app token', environment)).toEqual([
    expect.stringMatching(/socket_mode_not_enabled.*turn Socket Mode on/),
  ]);
});

test('a Redis and a Slack that are not there are one line each', async () => {
  const nowhere = `127.0.0.1:${await findFreePort()}`;
  const environment = {
    ...(await surroundings()),
    REDIS_URL: `redis://:hidden-password@${nowhere}`,
    SLACK_API_URL: `http://${nowhere}/api/`,
  };
  const { code, out } = await run(['doctor'], environment);
  expect(code).toBe(1);
  expect(out).toContain(`FAILED   redis: Redis at redis://${nowhere} cannot be reached (ECONNREFUSED)`);
  expect(out).toContain(`FAILED   slack bot token: Slack cannot be reached at ${nowhere} (ECONNREFUSED)`);
  expect(out).not.toContain('hidden-password');
});

test('a model that refuses is told with what to check', async () => {
  const environment = await surroundings({ replies: [{ status: 401 }] });
  expect(await saysOf('model', environment)).toEqual([
    expect.stringMatching(/^failed: .*; check OPENAI_API_KEY$/),
  ]);
});

test('the model of the manifest is asked, else that of the settings', async () => {
  const manifest = GOOD.replace('policies:', 'agent: { model: gpt-5 }\npolicies:');
  const environment = await surroundings({ manifest });
  expect(await saysOf('model', environment)).toEqual(['ok: gpt-5 answers and calls tools']);
});

const agentOf = (agent: string) => GOOD.replace('policies:', `agent: { ${agent} }\npolicies:`);

test('a model that does not call the tool it is asked to call is a warning', async () => {
  const environment = await surroundings({ replies: [{ text: 'ok' }] });
  expect(await saysOf('model', environment)).toEqual([
    expect.stringMatching(/^warning: scripted answers, but did not call the tool/),
  ]);
});

test('each model of the manifest is asked with its parameters, and a parameter that it refuses is named', async () => {
  const message = "Unsupported value: 'temperature' does not support 0.5 with this model.";
  const body = {
    error: { message, type: 'invalid_request_error', param: 'temperature', code: 'unsupported_value' },
  };
  const environment = await surroundings({
    replies: [{ status: 400, body }, PING],
    manifest: agentOf('model: { temperature: 0.5, api: responses }'),
  });
  expect(await saysOf('model', environment)).toEqual([
    'ok: scripted answers and calls tools',
    expect.stringMatching(
      /^warning: scripted refuses agent\.model\.temperature: .*does not support 0\.5.*; remove it$/,
    ),
  ]);
});

test('a model that ends soon, or that its provider does not list, is a warning with another one to use', async () => {
  const environment = await surroundings({
    replies: [PING, PING],
    models: ['scripted', 'gpt-5', 'gpt-6-luna'],
    shutdowns: { scripted: '2026-12-11' },
    manifest: agentOf('model: { fallbacks: [gpt-6-luna] }'),
  });
  expect(await saysOf('model', environment)).toEqual([
    'ok: scripted answers and calls tools',
    'warning: scripted ends on 2026-12-11; use another one, such as gpt-6-luna',
    'ok: gpt-6-luna answers and calls tools',
  ]);
  const unknown = await surroundings({ replies: [], manifest: agentOf('model: gpt-0') });
  expect(await saysOf('model', unknown)).toEqual([
    expect.stringMatching(/^failed: .*does not exist.*; check the name of the model/),
    'warning: gpt-0 is not in the list of its provider; use another one, such as gpt-6-luna',
  ]);
});

test('each tool is a line: modules that load, and servers that come up or do not', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'broken.mjs'), "throw new Error('cannot\\n  be');\n");
  const manifest = GOOD.replace(
    'tools: {}',
    `tools:
  broken: { module: ./broken.mjs }
  missing: { module: ./missing.ts }
  down: { mcp: { command: node, args: [-e, "process.exit(3)"] } }
  ping: { description: Pings., http: { method: GET, url: "http://localhost/", allow_private: [localhost] } }`,
  );
  const environment = { ...(await surroundings()), MANIFEST: writeManifest(manifest, folder) };
  const { code, out } = await run(['doctor'], environment);
  expect(code).toBe(1);
  expect(out).toMatch(/^FAILED {3}tool broken: \S+manifest\.yml:3:3: tools\.broken: cannot be$/m);
  expect(out).toMatch(
    /^FAILED {3}manifest: .*:4:22: tools\.missing\.module: there is no file \.\/missing\.ts; create/m,
  );
  expect(out).toMatch(/^FAILED {3}tool down: .*[^.]; check its command or url, and that it runs$/m);
  expect(out).not.toContain('\\u{a}');
  expect(out).toMatch(
    /^(ok {7}tool ping: http, loaded|FAILED {3}tool ping: .*localhost:80 does not answer.*)$/m,
  );
});

test('a name beside an id that Slack does not have for it is a warning, and --fix-names writes the names', async () => {
  const manifest = `# Who decides
agent: { admins: [${CAST.admin}] }
policies:
  default:
    approvers:
      - ${CAST.alice} # Bruno Moretti
      - ${CAST.bruno}
      - ${APPROVERS_GROUP}   # @approvers
  other: { approvers: [${CAST.alice}, ${CAST.bruno}] } # two of us
${GOOD.slice(GOOD.indexOf('tools:'))}`;
  const environment = await surroundings({ manifest, replies: [PING, PING, PING] });
  const check = 'names beside ids';
  expect(await saysOf(check, environment)).toEqual([
    expect.stringMatching(
      /^warning: U0ALICE002 is Alice Moreau, and the comment says Bruno Moretti; .*--fix-names$/,
    ),
  ]);
  const { out } = await run(['doctor', '--fix-names'], environment);
  expect(out).toMatch(/^ok +names beside ids: written into /m);
  const fixed = readFileSync(environment.MANIFEST, 'utf8');
  expect(fixed.split('\n').slice(0, 9)).toEqual([
    '# Who decides',
    `agent: { admins: [${CAST.admin}] } # Ada Okafor`,
    'policies:',
    '  default:',
    '    approvers:',
    `      - ${CAST.alice} # Alice Moreau`,
    `      - ${CAST.bruno} # Bruno Moretti`,
    `      - ${APPROVERS_GROUP} # @approvers`,
    `  other: { approvers: [${CAST.alice}, ${CAST.bruno}] } # two of us`,
  ]);
  expect(await saysOf(check, environment)).toEqual([]);
});

test('approvers without a passkey are named where a policy wants one; too few who can sign, or an address without a name, is a failure', async () => {
  const manifest = `page: { client_id: one, client_secret: "\${PAGE_SECRET}" }
policies: { default: { confirm: { high: passkey }, quorum: 2, delegation: true, approvers: [${CAST.alice}, ${CAST.bruno}, ${CAST.admin}] } }
tools: {}
`;
  const redis = connectTestRedis();
  const store = openRedisStore({ client: redis.client, prefix: redis.prefix });
  onTestFinished(() => redis.close());
  const given = await surroundings({ manifest, replies: [PING, PING, PING, PING, PING] });
  const environment = {
    ...given,
    PAGE_SECRET: 'hidden',
    REDIS_URL: redis.url,
    PUBLIC_URL: 'https://bot.example',
  };
  const says = (changes: Readonly<Record<string, string>> = {}) =>
    saysOf('passkeys', { ...environment, ...changes }, redis.prefix);
  const enrol = async (who: string, countsFrom: number) => {
    const { id: credential, publicJwk: jwk } = new SoftwareKey('https://bot.example');
    const key = { credential, jwk, origin: 'https://bot.example', rpId: 'bot.example' };
    const added = { key, name: 'Phone', counter: 0, transports: [], addedAt: 0, countsFrom };
    expect(await addPasskey(store, who, added, {})).toBeDefined();
  };
  await enrol(CAST.alice, 1);
  await enrol(CAST.bruno, Date.now() + 86_400_000);
  const WITHOUT = `no passkey that counts: Bruno Moretti (${CAST.bruno}), Ada Okafor (${CAST.admin})`;
  const FIX = 'they type /countersign passkey in Slack';
  expect(await says()).toEqual([`failed: ${WITHOUT}; 2 must approve, and 1 can sign; ${FIX}`]);
  await enrol(CAST.bruno, 1);
  expect(await says()).toEqual([`warning: no passkey that counts: Ada Okafor (${CAST.admin}); ${FIX}`]);
  expect(await says({ PUBLIC_URL: 'https://203.0.113.7' })).toEqual([
    expect.stringMatching(
      /^failed: PUBLIC_URL has the number 203\.0\.113\.7 and no name, so nobody can sign/,
    ),
    expect.stringMatching(/^warning/),
  ]);
  await enrol(CAST.admin, 1);
  expect(await says()).toEqual(['ok: all approvers who sign have one']);
  const away = { id: 'd-1', from: CAST.alice, to: CAST.bruno, until: Date.now() + 3_600_000, reason: '' };
  await delegationsIn(store).delegate({ ...away, evidence: {} });
  expect(await says()).toEqual([
    `warning: ${CAST.alice} lets ${CAST.bruno} decide and has not signed it, so it does not count here; they type /countersign delegate again and sign it`,
  ]);
});
