import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { versionOf } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { openToolbox } from '../../src/tools/toolbox/open-toolbox.ts';
import { type ReloadNotice, type ReloadOptions, watchManifest } from '../../src/tools/watch-manifest.ts';
import { newFolder } from '../commands/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { connectTestRedis } from '../support/redis.ts';

const INDEX = join(import.meta.dirname, '../../src/index.ts');

const manifest = (instructions: string, rest = '') => `slack: { display_information: { name: Countersign } }
agent: { instructions: ${instructions}, max_steps: 5 }
policies: { default: { approvers: [S0APPROVE1] } }
${rest === '' ? 'tools: {}' : `tools:\n${rest}`}
`;
const PING = `  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/", headers: { authorization: "\${PING_TOKEN}" } }`;

interface Setting {
  readonly text?: string;
  readonly environment?: Record<string, string>;
  readonly changes?: Partial<ReloadOptions>;
  readonly folder?: string;
}

/** A manifest in its own folder, a toolbox that was opened with it, and the watch. */
async function startWatch(setting: Setting = {}) {
  const { text = manifest('First.'), environment = {}, changes = {}, folder = newFolder() } = setting;
  const file = join(folder, 'manifest.yml');
  if (setting.folder === undefined) writeFileSync(file, text);
  const parsed = parseManifest(text, { file, environment });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const active = versionOf(parsed, undefined);
  const redis = connectTestRedis();
  const store = openRedisStore(redis);
  const secrets = new Secrets();
  const log = { info: () => {}, warn: () => {} };
  const toolbox = await openToolbox(parsed.manifest, { folder, secrets, log });
  const notices: ReloadNotice[] = [];
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const watch = await watchManifest({
    file,
    active,
    readEnvironment: () => ({ ...environment }),
    toolbox,
    secrets,
    store,
    logger,
    onNotice: (notice) => void notices.push(notice),
    quietMs: 20,
    pollMs: 60_000,
    ...changes,
  });
  onTestFinished(async () => {
    await watch.close();
    await toolbox.close();
    await redis.close();
  });
  const audit = async (): Promise<AuditRow[]> => {
    const rows: AuditRow[] = [];
    for await (const row of store.exportAudit()) rows.push(row);
    return rows;
  };
  return { file, folder, active, toolbox, secrets, store, watch, notices, lines, audit };
}

const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: PATIENCE_MS, interval: 20 });

test('a changed file becomes active by itself, instructions and tools alike', async () => {
  const { file, toolbox } = await startWatch();
  writeFileSync(
    file,
    manifest(
      'Second.',
      '  ping: { description: Pings., http: { method: GET, url: "https://example.com/" } }',
    ),
  );
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Second.'));
  expect(toolbox.find('ping')).toBeDefined();
});

test('a changed file with a placeholder is rejected, and the previous manifest stays active', async () => {
  const { file, toolbox, notices } = await startWatch();
  writeFileSync(file, manifest('Second.').replace('S0APPROVE1', 'S0REPLACEME'));
  await eventually(() =>
    expect(notices).toMatchObject([
      { outcome: 'rejected', problems: [expect.stringContaining('"S0REPLACEME" is a placeholder')] },
    ]),
  );
  expect(toolbox.manifest.agent.instructions).toBe('First.');
});

test('a file that an editor replaces is read, and a second time as well', async () => {
  const { file, folder, toolbox } = await startWatch();
  for (const words of ['Second.', 'Third.']) {
    const draft = join(folder, 'draft');
    writeFileSync(draft, manifest(words));
    renameSync(draft, file);
    await eventually(() => expect(toolbox.manifest.agent.instructions).toBe(words));
  }
});

test('a link that a deployment points to a new folder is read', async () => {
  const folder = newFolder();
  for (const [version, words] of [
    ['v1', 'First.'],
    ['v2', 'Second.'],
  ] as const) {
    mkdirSync(join(folder, version));
    writeFileSync(join(folder, version, 'manifest.yml'), manifest(words));
  }
  symlinkSync('v1', join(folder, 'current'));
  symlinkSync('current/manifest.yml', join(folder, 'manifest.yml'));
  const { toolbox } = await startWatch({ folder });
  symlinkSync('v2', join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'current'));
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Second.'));
});

test('a change between the start and the watch is not missed', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'manifest.yml'), manifest('Second.'));
  const { toolbox } = await startWatch({ folder, text: manifest('First.') });
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Second.'));
});

test('a file system that reports no changes is polled', async () => {
  const { file, toolbox } = await startWatch({ changes: { pollMs: 30 } });
  writeFileSync(file, manifest('Second.'));
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Second.'));
});

test('a file with errors is rejected: the previous one stays active, and the log and the admins get every mistake, once', async () => {
  const { file, toolbox, notices, lines, watch, audit } = await startWatch();
  const before = toolbox.manifest;
  writeFileSync(file, `${manifest('Second.')}tolls: {}\nmore: {}\n`);
  await eventually(() => expect(notices).toHaveLength(1));
  await watch.reload();
  expect(toolbox.manifest).toBe(before);
  expect(notices).toEqual([
    {
      outcome: 'rejected',
      file,
      problems: [expect.stringMatching(/:5:1: .*did you mean "tools"/), expect.stringMatching(/:6:1: /)],
    },
  ]);
  expect(lines.filter((line) => line.includes('manifest rejected'))).toHaveLength(1);
  expect(lines.join('')).toContain('did you mean');
  expect(await audit()).toHaveLength(1);

  writeFileSync(file, manifest('Third.'));
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Third.'));
  await eventually(() => expect(notices.slice(1)).toEqual([{ outcome: 'valid-again', file, problems: [] }]));
});

test('a missing file changes nothing, and the admins are notified', async () => {
  const { file, toolbox, notices } = await startWatch();
  rmSync(file);
  await eventually(() =>
    expect(notices).toMatchObject([{ outcome: 'rejected', problems: [`${file} cannot be read`] }]),
  );
  expect(toolbox.manifest.agent.instructions).toBe('First.');
});

test('admins who cannot be notified do not keep the next manifest from becoming active', async () => {
  const onNotice = () => Promise.reject(new Error('no such person'));
  const { file, toolbox, watch } = await startWatch({ changes: { onNotice } });
  writeFileSync(file, 'tolls: {}\n');
  await watch.reload();
  writeFileSync(file, manifest('Second.'));
  await watch.reload();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
});

test('every reload is in the audit log, with both digests, what changed, and no secret', async () => {
  const { file, audit, watch, secrets, lines } = await startWatch({
    environment: { PING_TOKEN: 'hidden-word' },
  });
  writeFileSync(file, manifest('Second.', PING));
  await watch.reload();
  const bodies = (await audit()).map(({ event, subject, body }) => ({
    event,
    subject,
    body: JSON.parse(body),
  }));
  expect(bodies).toEqual([
    {
      event: 'configured',
      subject: 'manifest.yml',
      body: expect.objectContaining({ old: null, changed: [] }),
    },
    {
      event: 'configured',
      subject: 'manifest.yml',
      body: {
        old: bodies[0]?.body.new,
        new: expect.stringMatching(/^[0-9a-f]{64}$/),
        changed: ['agent', 'tools.ping'],
        host: expect.any(String),
        owner: process.getuid?.(),
        modified: expect.stringMatching(/^\d{4}-/),
      },
    },
  ]);
  expect(bodies[1]?.body.new).not.toBe(bodies[0]?.body.new);
  expect(JSON.stringify(bodies) + lines.join('')).not.toContain('hidden-word');
  expect(secrets.redact('hidden-word')).toBe('[redacted]');
});

test('a variable that is new with the manifest is read with it, also if it comes later', async () => {
  const environment: Record<string, string> = {};
  const { file, toolbox, notices, watch } = await startWatch({ environment });
  writeFileSync(file, manifest('Second.', PING));
  await watch.reload();
  expect(notices).toMatchObject([
    { outcome: 'rejected', problems: [expect.stringContaining('PING_TOKEN is not set')] },
  ]);
  environment.PING_TOKEN = 'hidden-word';
  await watch.reload();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
  expect(notices).toMatchObject([{}, { outcome: 'valid-again' }]);
});

test('processes of one machine that load the same change record it once', async () => {
  const first = await startWatch();
  const { file, active, toolbox, secrets, store } = first;
  const options = { file, active, toolbox, secrets, store, readEnvironment: () => ({}), quietMs: 20 };
  const second = await watchManifest({ ...options, logger: pino({ level: 'silent' }), onNotice: () => {} });
  onTestFinished(() => second.close());
  expect(await first.audit()).toHaveLength(1);
});

test('while the record cannot be written nothing becomes active, and afterwards it does', async () => {
  let isDown = false;
  const redis = connectTestRedis();
  const record = openRedisStore(redis);
  onTestFinished(() => redis.close());
  const note: typeof record.note = async (...row) => {
    if (isDown) throw new Error('Redis is away');
    await record.note(...row);
  };
  const { file, toolbox, watch } = await startWatch({ changes: { store: { note } } });
  isDown = true;
  writeFileSync(file, manifest('Second.'));
  await watch.reload();
  expect(toolbox.manifest.agent.instructions).toBe('First.');
  isDown = false;
  await watch.reload();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
});

test('a valid manifest with a tool that does not load becomes active, and the admins are notified', async () => {
  const { file, toolbox, notices, watch } = await startWatch();
  writeFileSync(file, manifest('Second.', '  missing: { module: ./missing.ts }'));
  await watch.reload();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
  expect(notices).toEqual([
    { outcome: 'active-with-problems', file, problems: ['missing: there is no file ./missing.ts'] },
  ]);
});

test('a closed watch reloads nothing', async () => {
  const { file, toolbox, watch } = await startWatch();
  await watch.close();
  writeFileSync(file, manifest('Second.'));
  await watch.reload();
  expect(toolbox.manifest.agent.instructions).toBe('First.');
});

test('a changed lock file is read without a restart, and the change is on record', async () => {
  const { folder, toolbox, audit } = await startWatch();
  expect(toolbox.isLocked).toBe(false);
  writeFileSync(join(folder, 'manifest.lock.json'), '{ "version": 1, "servers": {} }');
  await eventually(() => expect(toolbox.isLocked).toBe(true));
  await eventually(async () =>
    expect((await audit()).map(({ body }) => body).join()).toContain('"changed":["manifest.lock.json"]'),
  );
});

/** A module that returns what the file beside it says, in the words of its kind of package. */
function writeTool(folder: string, { type, ending }: Kind, words: string): void {
  const isCommonJs = type === 'commonjs' && ending === 'js';
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type }));
  writeFileSync(
    join(folder, `words.${ending}`),
    isCommonJs
      ? `exports.words = ${JSON.stringify(words)};`
      : `export const words = ${JSON.stringify(words)};`,
  );
  // One kind imports the package; the others are lighter, and a package in its sources cannot be required without a compiler.
  const isWhole = type === 'module' && ending === 'ts';
  const tool = isWhole
    ? `defineTool({ name: 'say', description: words }, async () => words);`
    : `{ kind: 'tool', name: 'say', description: words, effect: 'none', matches: () => true, run: async () => words,
    inputSchema: { jsonSchema: {}, parse: (value) => ({ ok: true, value }) } };`;
  const imported = isWhole ? `import { defineTool } from ${JSON.stringify(INDEX)};\n` : '';
  writeFileSync(
    join(folder, `say.${ending}`),
    isCommonJs
      ? `const { words } = require('./words.js');\nexports.say = ${tool}`
      : `import { words } from './words.${ending}';\n${imported}export const say = ${tool}`,
  );
}

interface Kind {
  readonly type: 'module' | 'commonjs';
  readonly ending: 'ts' | 'js' | 'mjs';
}

const KINDS: readonly Kind[] = [
  { type: 'module', ending: 'ts' },
  { type: 'module', ending: 'js' },
  { type: 'commonjs', ending: 'ts' },
  { type: 'commonjs', ending: 'js' },
  { type: 'commonjs', ending: 'mjs' },
];

/** A watch over a manifest with one module, which says these words. */
async function watchTool(kind: Kind, words: string) {
  const folder = newFolder();
  const text = manifest('First.', `  say: { module: ./say.${kind.ending} }`);
  writeFileSync(join(folder, 'manifest.yml'), text);
  writeTool(folder, kind, words);
  const watched = await startWatch({ text, folder, changes: { modulePollMs: 20 } });
  const said = () => watched.toolbox.find('say')?.tool.description;
  return { ...watched, said, kind };
}

test.each(KINDS)('a file that a module imports is loaded when it changes ($type, $ending)', async (kind) => {
  const { folder, said, audit } = await watchTool(kind, 'first');
  expect(said()).toBe('first');
  writeTool(folder, kind, 'second');
  await eventually(() => expect(said()).toBe('second'));
  writeTool(folder, kind, 'third');
  await eventually(() => expect(said()).toBe('third'));
  const rows = (await audit()).filter(({ event }) => event === 'configured');
  expect(rows.map(({ body }) => JSON.parse(body).changed)).toEqual([[], ['tools.say'], ['tools.say']]);
});

test('a module that changes together with the manifest is loaded with it, and both are on record', async () => {
  const kind = { type: 'module', ending: 'ts' } as const;
  const folder = newFolder();
  const text = manifest('First.', '  say: { module: ./say.ts }');
  writeFileSync(join(folder, 'manifest.yml'), text);
  writeTool(folder, kind, 'first');
  const { toolbox, audit, lines } = await startWatch({ text, folder, changes: { modulePollMs: 60_000 } });
  writeTool(folder, kind, 'second');
  writeFileSync(join(folder, 'manifest.yml'), text.replace('First.', 'Second.'));
  await eventually(() => expect(lines.join()).toContain('manifest reloaded'));
  expect(toolbox.find('say')?.tool.description).toBe('second');
  expect(lines.join()).toContain('module reloaded');
  const rows = (await audit()).filter(({ event }) => event === 'configured');
  expect(rows.map(({ body }) => JSON.parse(body))).toMatchObject([
    { changed: [] },
    { changed: ['agent'] },
    { changed: ['tools.say'], modules: { say: expect.stringMatching(/\w{20}/) } },
  ]);
});

test.each([
  ['a syntax error', 'export const say = ;', /say: its files have errors; the previous version stays active/],
  ['no tool', 'export const say = 1;', /exports no tool; make one with defineTool/],
  ['a missing import', "import './missing.ts';", /missing/],
])('a changed module with %s keeps its tools, and the admins are told once', async (_, broken, problem) => {
  const { folder, said, kind, notices, toolbox } = await watchTool({ type: 'module', ending: 'ts' }, 'first');
  const digest = toolbox.find('say')?.behind;
  writeFileSync(join(folder, 'say.ts'), broken);
  await eventually(() => expect(notices).toHaveLength(1));
  expect(notices).toMatchObject([
    { outcome: 'rejected', file: './say.ts', problems: [expect.stringMatching(problem)] },
  ]);
  expect(toolbox.problems()).toEqual(notices[0]?.problems);
  expect([said(), toolbox.find('say')?.behind]).toEqual(['first', digest]);
  writeTool(folder, kind, 'second');
  await eventually(() => expect(said()).toBe('second'));
  await eventually(() => expect(notices.map(({ outcome }) => outcome)).toEqual(['rejected', 'valid-again']));
  expect(toolbox.problems()).toEqual([]);
});

test('a module whose missing import appears is loaded', async () => {
  const { folder, said, notices } = await watchTool({ type: 'module', ending: 'ts' }, 'first');
  const text = readFileSync(join(folder, 'say.ts'), 'utf8');
  writeFileSync(join(folder, 'say.ts'), text.replaceAll('words.ts', 'other.ts'));
  await eventually(() => expect(notices).toHaveLength(1));
  expect(said()).toBe('first');
  writeFileSync(join(folder, 'other.ts'), "export const words = 'other';");
  await eventually(() => expect(said()).toBe('other'));
});
