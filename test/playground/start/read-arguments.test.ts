import { expect, test } from 'vitest';
import { readArguments } from '../../../playground/read-arguments.ts';

const read = (line: string, env: NodeJS.ProcessEnv = {}) =>
  readArguments(line === '' ? [] : line.split(' '), env);

test('without options the port is left open, the folder is .playground and the manifest that of the shop', () => {
  expect(read('')).toEqual({
    kind: 'start',
    arguments: {
      dataFolder: '.playground',
      manifest: 'examples/shop/manifest.yml',
      reset: false,
    },
  });
});

test('all options can be given', () => {
  expect(read('--port 0 --data /somewhere --manifest mine.yml --reset')).toEqual({
    kind: 'start',
    arguments: { port: 0, dataFolder: '/somewhere', manifest: 'mine.yml', reset: true },
  });
});

test.each([
  ['--manifest named.yml', 'set.yml', 'named.yml'],
  ['', 'set.yml', 'set.yml'],
  ['', '', 'examples/shop/manifest.yml'],
])('the manifest named by %j with MANIFEST=%j is %s', (line, set, manifest) => {
  expect(read(line, { MANIFEST: set })).toMatchObject({ arguments: { manifest } });
});

test.each(['--help', '-h', '--help --port 1'])('%s asks for help', (line) => {
  expect(read(line)).toEqual({ kind: 'help' });
});

test.each([
  ['--port eighty', '--port takes a number from 0 to 65535, not "eighty"; see npm run playground -- --help.'],
  ['--port 65536', '--port takes a number from 0 to 65535, not "65536"; see npm run playground -- --help.'],
  ['--port 1e3', '--port takes a number from 0 to 65535, not "1e3"; see npm run playground -- --help.'],
  ['--data=', '--data takes the path of a folder; see npm run playground -- --help.'],
  ['4400', 'unknown argument "4400"; see npm run playground -- --help.'],
  ['--prot 4400', "Unknown option '--prot'; see npm run playground -- --help."],
])('%s is refused in one sentence', (line, problem) => {
  expect(read(line)).toEqual({ kind: 'invalid', problem });
});

test.each(['--port', '--reset=yes'])('%s is refused in one line', (line) => {
  const answer = read(line);
  expect(answer.kind).toBe('invalid');
  expect(answer).toEqual({
    kind: 'invalid',
    problem: expect.stringMatching(/^[^\n]+; see npm run playground -- --help\.$/),
  });
});
