import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findExecutable } from './find-executable.ts';
import { distributionFamily, type Machine } from './machine.ts';
import { type CommandOutcome, lastLines, runCommand } from './run-command.ts';

const LOCK_TIMEOUT_SECONDS = 120;

/** A package to install, with its name in each package manager. */
export type PackageSpec = {
  /** The program as a person names it, such as "Chromium". */
  program: string;
  /** The name in "No … found", such as "Redis server". */
  missing: string;
  debianPackage: string;
  brewArguments: string[];
  /** The system service that the Debian package starts and that is stopped again. */
  unwantedService?: string;
  /** Advice for a failed installation, as part of a sentence. */
  instead: string;
};

/** A package manager that this user may install with, here and now. */
export type Installer = { announcement: string; install(): Promise<CommandOutcome> };

/** Finds the package manager that may be used without asking anyone: apt-get as root, or Homebrew on macOS. */
export function findInstaller(
  wanted: PackageSpec,
  machine: Machine,
  env: NodeJS.ProcessEnv,
): Installer | undefined {
  const brew = findExecutable('brew', env);
  if (machine.platform === 'darwin' && brew !== undefined) {
    const brewArguments = ['install', ...wanted.brewArguments];
    return {
      announcement: `No ${wanted.missing} found: installing one with Homebrew (brew ${brewArguments.join(' ')}).`,
      install: () => runCommand(brew, brewArguments, { ...env, NONINTERACTIVE: '1' }),
    };
  }
  const aptGet = findExecutable('apt-get', env);
  const family = distributionFamily(machine);
  const isDebian = family.includes('debian') || family.includes('ubuntu');
  if (isDebian && machine.userId === 0 && aptGet !== undefined) {
    return {
      announcement: `No ${wanted.missing} found: installing one with apt-get (apt-get install ${wanted.debianPackage}).`,
      install: () => installWithApt(wanted, aptGet, env),
    };
  }
  return undefined;
}

let lastInstallation: Promise<unknown> = Promise.resolve();

/** Installs a package after all earlier installations of this process; throws one error with the end of the output. */
export async function installPackage(
  wanted: PackageSpec,
  installer: Installer,
  log: (line: string) => void,
): Promise<void> {
  log(installer.announcement);
  // A package manager holds its lock for a whole download, which may be longer than it waits for another's lock.
  const installation = lastInstallation.then(installer.install);
  lastInstallation = installation;
  const outcome = await installation;
  if (outcome.succeeded) return;
  throw new Error(
    `${wanted.program} could not be installed; ${wanted.instead}. The installer's last lines:\n${lastLines(outcome.output)}`,
  );
}

async function installWithApt(
  wanted: PackageSpec,
  aptGet: string,
  env: NodeJS.ProcessEnv,
): Promise<CommandOutcome> {
  // LC_ALL keeps apt's messages readable for the lock check, RUNLEVEL keeps System V init from starting the service.
  const aptEnv = { ...env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', RUNLEVEL: '1' };
  const patience = ['-o', `DPkg::Lock::Timeout=${LOCK_TIMEOUT_SECONDS}`];
  const update = await updateOnceUnlocked(() => runCommand(aptGet, [...patience, 'update'], aptEnv));
  // A failed update is no reason to give up: the lists of an earlier one may do.
  const install = await runCommand(
    aptGet,
    [...patience, 'install', '--yes', '--no-install-recommends', wanted.debianPackage],
    aptEnv,
  );
  if (!install.succeeded) return { succeeded: false, output: `${update.output}\n${install.output}` };
  if (wanted.unwantedService !== undefined) await stopService(wanted.unwantedService, env);
  return install;
}

// apt's lock timeout covers dpkg's lock but not the one on the package lists, so two updates at once need this wait.
async function updateOnceUnlocked(update: () => Promise<CommandOutcome>): Promise<CommandOutcome> {
  for (let second = 0; ; second += 1) {
    const outcome = await update();
    const isLocked = !outcome.succeeded && /could not get lock|unable to lock/i.test(outcome.output);
    if (!isLocked || second >= LOCK_TIMEOUT_SECONDS) return outcome;
    await sleep(1000);
  }
}

async function stopService(service: string, env: NodeJS.ProcessEnv): Promise<void> {
  const systemctl = findExecutable('systemctl', env);
  if (systemctl === undefined || !existsSync('/run/systemd/system')) return;
  await runCommand(systemctl, ['disable', '--now', service], env);
}
