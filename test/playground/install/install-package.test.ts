import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  findInstaller,
  installPackage,
  type PackageSpec,
} from '../../../playground/install/install-package.ts';
import { machineOf, messageOf, temporaryFolder, writeScript } from './stand-ins.ts';

function wantedOf(debianPackage: string): PackageSpec {
  return {
    program: debianPackage,
    missing: debianPackage,
    debianPackage,
    brewArguments: [debianPackage],
    instead: 'do without',
  };
}

async function installAt(folder: string, debianPackage: string): Promise<void> {
  const wanted = wantedOf(debianPackage);
  const installer = findInstaller(wanted, machineOf(folder, 'ID=debian\n'), { PATH: folder });
  if (installer === undefined) throw new Error('no installer was found');
  await installPackage(wanted, installer, () => {});
}

test('two installations of one process wait for each other, also for one that fails', async () => {
  const folder = temporaryFolder();
  writeScript(
    folder,
    'apt-get',
    `last() { for word; do :; done; echo "$word"; }
    echo "begin $(last "$@")" >> '${folder}/calls'
    /bin/sleep 0.05
    echo "end $(last "$@")" >> '${folder}/calls'
    case "$*" in *broken*) exit 100;; esac`,
  );
  const failing = messageOf(installAt(folder, 'broken'));
  await Promise.all([failing, installAt(folder, 'first'), installAt(folder, 'second')]);
  expect(await failing).toMatch(/^broken could not be installed; do without\./);
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
  expect(calls).toEqual(
    ['broken', 'first', 'second'].flatMap((name) => [
      'begin update',
      'end update',
      `begin ${name}`,
      `end ${name}`,
    ]),
  );
});
