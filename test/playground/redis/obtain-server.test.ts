import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Machine } from '../../../playground/install/machine.ts';
import { machineOf, messageOf, temporaryFolder, writeScript } from '../install/stand-ins.ts';
import { answers, bringUpForTest, realServer } from './private-server.ts';

async function packageManager(folder: string, name: string): Promise<() => string[]> {
  const calls = join(folder, 'calls');
  writeScript(
    folder,
    name,
    `echo "$DEBIAN_FRONTEND $*" >> '${calls}'
    case "$*" in *install*) /bin/ln -sf '${await realServer()}' '${join(folder, 'redis-server')}';; esac`,
  );
  return () => (existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : []);
}

test('root on Debian or its descendants gets the package from apt-get, announced in one line', async () => {
  for (const osRelease of ['ID=debian\n', 'NAME="Mint"\nID=linuxmint\nID_LIKE="ubuntu debian"\n']) {
    const folder = temporaryFolder();
    const calls = await packageManager(folder, 'apt-get');
    const lines: string[] = [];
    const redis = await bringUpForTest({
      env: { PATH: folder },
      machine: machineOf(folder, osRelease),
      log: (line) => lines.push(`${line} [${calls().length} calls so far]`),
    });
    expect(await answers(redis.url)).toBe(true);
    expect(lines).toEqual([
      'No Redis server found: installing one with apt-get (apt-get install redis-server). [0 calls so far]',
    ]);
    expect(calls()).toEqual([
      'noninteractive -o DPkg::Lock::Timeout=120 update',
      'noninteractive -o DPkg::Lock::Timeout=120 install --yes --no-install-recommends redis-server',
    ]);
  }
});

test('macOS with Homebrew gets the package from brew', async () => {
  const folder = temporaryFolder();
  const calls = await packageManager(folder, 'brew');
  const lines: string[] = [];
  const redis = await bringUpForTest({
    env: { PATH: folder },
    machine: machineOf(folder, '', { platform: 'darwin', userId: 501 }),
    log: (line) => lines.push(line),
  });
  expect(await answers(redis.url)).toBe(true);
  expect(lines).toEqual(['No Redis server found: installing one with Homebrew (brew install redis).']);
  expect(calls().map((call) => call.trim())).toEqual(['install redis']);
});

test('an update that finds the package lists locked is tried again', async () => {
  const folder = temporaryFolder();
  const server = await realServer();
  writeScript(
    folder,
    'apt-get',
    `echo "$*" >> '${folder}/calls'
    case "$*" in
      *install*) /bin/ln -sf '${server}' '${folder}/redis-server';;
      *) if [ ! -e '${folder}/locked-once' ]; then
           : > '${folder}/locked-once'
           echo 'E: Could not get lock /var/lib/apt/lists/lock.' >&2
           exit 100
         fi;;
    esac`,
  );
  await bringUpForTest({ env: { PATH: folder }, machine: machineOf(folder, 'ID=debian\n') });
  const verbs = readFileSync(join(folder, 'calls'), 'utf8').match(/update|install(?= )/g);
  expect(verbs).toEqual(['update', 'update', 'install']);
});

test('an installation that fails is an error with the last lines of the installer', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'apt-get', "echo 'E: Unable to locate package redis-server' >&2; exit 100");
  const message = await messageOf(
    bringUpForTest({ env: { PATH: folder }, machine: machineOf(folder, 'ID=debian\n') }),
  );
  expect(message).toMatch(/^Redis could not be installed; set REDIS_URL or install redis-server yourself\./);
  expect(message).toContain('E: Unable to locate package redis-server');
});

test('an installation without a server on the PATH is an error', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'apt-get', '');
  const message = await messageOf(
    bringUpForTest({ env: { PATH: folder }, machine: machineOf(folder, 'ID=debian\n') }),
  );
  expect(message).toContain('neither redis-server nor valkey-server is on the PATH');
});

test('a user who is not root installs nothing and gets the three options in one message', async () => {
  const folder = temporaryFolder();
  const calls = await packageManager(folder, 'apt-get');
  const machine = machineOf(folder, 'ID=ubuntu\nID_LIKE=debian\n', { userId: 1000 });
  const message = await messageOf(bringUpForTest({ env: { PATH: folder }, machine }));
  expect(message).toContain('set REDIS_URL');
  expect(message).toContain(
    'install redis-server or valkey-server yourself: sudo apt-get install redis-server',
  );
  expect(message).toContain('run this as root on Debian or Ubuntu, or with Homebrew on macOS');
  expect(calls()).toEqual([]);
});

test('the error names the install command of this system', async () => {
  const folder = temporaryFolder();
  const commandFor = async (osRelease: string, changes: Partial<Machine> = {}) => {
    const machine = machineOf(folder, osRelease, changes);
    const message = await messageOf(bringUpForTest({ env: { PATH: folder }, machine }));
    return /yourself: (.*)/.exec(message)?.[1];
  };
  expect(await commandFor('ID=fedora\n')).toBe('sudo dnf install valkey');
  expect(await commandFor('ID="rocky"\nID_LIKE="rhel centos fedora"\n')).toBe('sudo dnf install redis');
  expect(await commandFor('', { platform: 'darwin' })).toBe('brew install redis');
  expect(await commandFor('ID=unheard-of\n')).toBe("use your system's package manager");
  expect(await commandFor('ID=debian\n', { platform: 'win32' })).toBe("use your system's package manager");
});

test('valkey-server serves where redis-server is missing', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'valkey-server', `exec '${await realServer()}' "$@"`);
  const redis = await bringUpForTest({
    env: { PATH: folder },
    machine: machineOf(folder, 'ID=unheard-of\n'),
  });
  expect(await answers(redis.url)).toBe(true);
});
