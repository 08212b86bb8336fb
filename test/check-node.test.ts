import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { checkNode } from '../src/check-node.ts';

test.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('Node %s will do', (version) => {
  expect(checkNode(version)).toBeUndefined();
});

test.each(['18.20.4', '20.18.3', '19.99.0'])('Node %s is refused in one sentence', (version) => {
  expect(checkNode(version, 'The playground')).toBe(
    `The playground needs Node 20.19 or newer, and this is Node ${version}; install a newer one.`,
  );
});

/** Makes a program believe that it runs on an older Node. */
const OLDER = `data:text/javascript,${encodeURIComponent(
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.4' } });",
)}`;

test.each([
  ['a command', ['src/cli.ts', 'doctor']],
  ['the help', ['src/cli.ts', '--help']],
  ['the bot', ['src/main.ts']],
  ['the playground', ['playground/main.ts']],
])(
  'on Node 18 %s is one sentence, without loading what that Node cannot read',
  (_what, [file = '', ...args]) => {
    const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--import', 'tsx', '--import', OLDER, path, ...args],
      { encoding: 'utf8', env: { PATH: process.env.PATH } },
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^\w[\w ]+ needs Node 20\.19 or newer, and this is Node 18\.20\.4; install a newer one\.\n$/,
    );
  },
);
