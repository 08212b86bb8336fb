import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { AuditRow } from '../../../src/store/port/audit.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import {
  type ManifestTrouble,
  type WatchedManifest,
  watchManifest,
} from '../../../src/tools/manifest/reload.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { openToolbox } from '../../../src/tools/toolbox/open-toolbox.ts';
import { newFolder } from '../../commands/support.ts';
import { connectTestRedis } from '../../support/redis.ts';

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
  readonly changes?: Partial<WatchedManifest>;
  readonly folder?: string;
}

/** A manifest in a folder of its own, a toolbox that was opened with it, and the watch. */
async function startWatch(setting: Setting = {}) {
  const { text = manifest('First.'), environment = {}, changes = {}, folder = newFolder() } = setting;
  const file = join(folder, 'manifest.yml');
  if (setting.folder === undefined) writeFileSync(file, text);
  const parsed = parseManifest(text, { file, environment });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const redis = connectTestRedis();
  const store = openRedisStore(redis);
  const secrets = new Secrets();
  const log = { info: () => {}, warn: () => {} };
  const toolbox = await openToolbox(parsed.manifest, { folder, secrets, log });
  const troubles: ManifestTrouble[] = [];
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const watch = await watchManifest({
    file,
    text,
    environment,
    toolbox,
    secrets,
    store,
    logger,
    onProblem: (trouble) => void troubles.push(trouble),
    quietMs: 20,
    lookEveryMs: 60_000,
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
  return { file, folder, toolbox, secrets, store, watch, troubles, lines, audit };
}

const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: 10_000, interval: 20 });

test('a changed file is taken over by itself, instructions and tools alike', async () => {
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

test('a changed file with a placeholder is refused, and the former manifest stays', async () => {
  const { file, toolbox, troubles } = await startWatch();
  writeFileSync(file, manifest('Second.').replace('S0APPROVE1', 'S0REPLACEME'));
  await eventually(() =>
    expect(troubles).toMatchObject([
      { outcome: 'refused', problems: [expect.stringContaining('"S0REPLACEME" is a placeholder')] },
    ]),
  );
  expect(toolbox.manifest.agent.instructions).toBe('First.');
});

test('a file that an editor puts in the place of the old one is seen, and once more', async () => {
  const { file, folder, toolbox } = await startWatch();
  for (const words of ['Second.', 'Third.']) {
    const draft = join(folder, 'draft');
    writeFileSync(draft, manifest(words));
    renameSync(draft, file);
    await eventually(() => expect(toolbox.manifest.agent.instructions).toBe(words));
  }
});

test('a link that a deployment turns to a new folder is seen', async () => {
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

test('where the system reports no change, the file is looked at now and then', async () => {
  const { file, toolbox } = await startWatch({ changes: { lookEveryMs: 30 } });
  writeFileSync(file, manifest('Second.'));
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Second.'));
});

test('a bad file is refused: the good one stays, and the log and the admins get every mistake, once', async () => {
  const { file, toolbox, troubles, lines, watch, audit } = await startWatch();
  const before = toolbox.manifest;
  writeFileSync(file, `${manifest('Second.')}tolls: {}\nmore: {}\n`);
  await eventually(() => expect(troubles).toHaveLength(1));
  await watch.look();
  expect(toolbox.manifest).toBe(before);
  expect(troubles).toEqual([
    {
      outcome: 'refused',
      file,
      problems: [expect.stringMatching(/:5:1: .*did you mean "tools"/), expect.stringMatching(/:6:1: /)],
    },
  ]);
  expect(lines.filter((line) => line.includes('is refused'))).toHaveLength(1);
  expect(lines.join('')).toContain('did you mean');
  expect(await audit()).toHaveLength(1);

  writeFileSync(file, manifest('Third.'));
  await eventually(() => expect(toolbox.manifest.agent.instructions).toBe('Third.'));
});

test('a file that is gone changes nothing, and is told', async () => {
  const { file, toolbox, troubles } = await startWatch();
  rmSync(file);
  await eventually(() =>
    expect(troubles).toMatchObject([{ outcome: 'refused', problems: [`${file} cannot be read`] }]),
  );
  expect(toolbox.manifest.agent.instructions).toBe('First.');
});

test('admins who cannot be told do not keep the next manifest from being taken over', async () => {
  const onProblem = () => Promise.reject(new Error('no such person'));
  const { file, toolbox, watch } = await startWatch({ changes: { onProblem } });
  writeFileSync(file, 'tolls: {}\n');
  await watch.look();
  writeFileSync(file, manifest('Second.'));
  await watch.look();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
});

test('who takes which manifest over is in the audit log, with both digests, what changed, and no secret', async () => {
  const { file, audit, watch, secrets, lines } = await startWatch({
    environment: { PING_TOKEN: 'hidden-word' },
  });
  writeFileSync(file, manifest('Second.', PING));
  await watch.look();
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

test('processes of one machine that take the same change over note it once', async () => {
  const first = await startWatch();
  const { file, toolbox, secrets, store } = first;
  const options = { file, toolbox, secrets, store, environment: {}, text: manifest('First.'), quietMs: 20 };
  const second = await watchManifest({ ...options, logger: pino({ level: 'silent' }), onProblem: () => {} });
  onTestFinished(() => second.close());
  expect(await first.audit()).toHaveLength(1);
});

test('while the record cannot be written nothing is taken over, and afterwards it is', async () => {
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
  await watch.look();
  expect(toolbox.manifest.agent.instructions).toBe('First.');
  isDown = false;
  await watch.look();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
});

test('a manifest that is right but has a tool that does not load is taken over, and that is told', async () => {
  const { file, toolbox, troubles, watch } = await startWatch();
  writeFileSync(file, manifest('Second.', '  missing: { module: ./missing.ts }'));
  await watch.look();
  expect(toolbox.manifest.agent.instructions).toBe('Second.');
  expect(troubles).toEqual([
    { outcome: 'taken-over', file, problems: ['missing: there is no file ./missing.ts'] },
  ]);
});

test('after it is closed nothing is taken over any more', async () => {
  const { file, toolbox, watch } = await startWatch();
  await watch.close();
  writeFileSync(file, manifest('Second.'));
  await watch.look();
  expect(toolbox.manifest.agent.instructions).toBe('First.');
});
