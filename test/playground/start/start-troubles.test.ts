import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startPlayground } from '../../../playground/start-playground.ts';
import { machineOf, messageOf, temporaryFolder } from '../install/stand-ins.ts';
import { runCommandLine } from './run-command-line.ts';

const DEFAULTS = { port: 0, manifest: 'examples/shop/manifest.yml', reset: false };

test('an invalid manifest is reported with all errors and their positions, and nothing is started', async () => {
  const folder = temporaryFolder();
  const manifest = join(folder, 'mine.yml');
  writeFileSync(
    manifest,
    'slack: { display_information: { name: Mine } }\nagent: { max_steps: many }\ntols: {}\n',
  );
  const data = join(folder, 'data');
  const commandLine = runCommandLine('--manifest', manifest, '--data', data);
  expect(await commandLine.ended()).toBe(1);
  const [, sentence, ...mistakes] = commandLine.output().trimEnd().split('\n');
  expect(sentence).toBe('The manifest has errors. Fix them and start again:');
  expect(mistakes).toEqual([
    expect.stringMatching(/mine\.yml:2:\d+: agent\.max_steps: /),
    expect.stringMatching(/mine\.yml:3:1: tols: /),
  ]);
  expect(readdirSync(folder)).toEqual(['mine.yml']);
});

test('a manifest that is not there is one sentence', async () => {
  const manifest = join(temporaryFolder(), 'none.yml');
  const message = await messageOf(
    startPlayground({ ...DEFAULTS, manifest, dataFolder: temporaryFolder(), env: {} }),
  );
  expect(message).toBe(
    `The manifest cannot be read: there is no ${manifest}; name the file, set MANIFEST in .env to its path, or make one with "countersign init".`,
  );
});

test('an argument that is not understood is one sentence', async () => {
  const commandLine = runCommandLine('--prot', '4400');
  expect(await commandLine.ended()).toBe(2);
  expect(commandLine.output()).toBe("Unknown option '--prot'; see npm run playground -- --help.\n");
});

test('without a Redis and without permission to install one, the three options are listed', async () => {
  const folder = temporaryFolder();
  const message = await messageOf(
    startPlayground({
      ...DEFAULTS,
      dataFolder: join(folder, 'data'),
      env: { PATH: folder },
      machine: machineOf(folder, 'ID=debian\n', { userId: 1000 }),
    }),
  );
  expect(message).toMatch(
    /^No Redis was found and none may be installed from here; do one of these three:\n/,
  );
});

test('a broken saved workspace is one sentence that says what to do', async () => {
  const dataFolder = temporaryFolder();
  writeFileSync(join(dataFolder, 'slack.json'), '{"workspace":{},"reads":{}}');
  const message = await messageOf(startPlayground({ ...DEFAULTS, dataFolder, env: {} }));
  expect(message).toMatch(/^The saved workspace is broken [^\n]*--reset\.$/);
});

test('a start that is called off leaves nothing, and the folder is free', async () => {
  const dataFolder = temporaryFolder();
  const calledOff = new AbortController();
  const env = { PATH: process.env.PATH };
  const start = startPlayground({ ...DEFAULTS, dataFolder, env, signal: calledOff.signal });
  calledOff.abort();
  expect(await messageOf(start)).toBe('The playground was stopped before it was ready.');
  const again = startPlayground({ ...DEFAULTS, dataFolder, env, signal: AbortSignal.abort() });
  expect(await messageOf(again)).toBe('The playground was stopped before it was ready.');
});
