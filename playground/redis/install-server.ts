import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { findExecutable } from './find-executable.ts';
import { lastLines } from './last-lines.ts';
import { distributionFamily, type Machine } from './machine.ts';
import { type CommandOutcome, runCommand } from './run-command.ts';

const LOCK_PATIENCE_SECONDS = 120;

/** A package manager that this user may install Redis with, here and now. */
export type Installer = { announcement: string; install(): Promise<CommandOutcome> };

/** Finds the package manager that may be used without asking anyone: apt-get as root, or Homebrew on macOS. */
export function findInstaller(machine: Machine, env: NodeJS.ProcessEnv): Installer | undefined {
  const brew = findExecutable('brew', env);
  if (machine.platform === 'darwin' && brew !== undefined) {
    return {
      announcement: 'No Redis server found: installing one with Homebrew (brew install redis).',
      install: () => runCommand(brew, ['install', 'redis'], { ...env, NONINTERACTIVE: '1' }),
    };
  }
  const aptGet = findExecutable('apt-get', env);
  const family = distributionFamily(machine);
  const isDebian = family.includes('debian') || family.includes('ubuntu');
  if (isDebian && machine.userId === 0 && aptGet !== undefined) {
    return {
      announcement: 'No Redis server found: installing one with apt-get (apt-get install redis-server).',
      install: () => installWithApt(aptGet, env),
    };
  }
  return undefined;
}

/** Installs the server found by the installer's own means, or throws one error with the end of what it printed. */
export async function installServer(installer: Installer, log: (line: string) => void): Promise<void> {
  log(installer.announcement);
  const outcome = await installer.install();
  if (outcome.succeeded) return;
  throw new Error(
    `Redis could not be installed; set REDIS_URL or install redis-server yourself. The installer's last lines:\n${lastLines(outcome.output)}`,
  );
}

async function installWithApt(aptGet: string, env: NodeJS.ProcessEnv): Promise<CommandOutcome> {
  // LC_ALL keeps apt's messages readable for the lock check, RUNLEVEL keeps System V init from starting the service.
  const aptEnv = { ...env, DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', RUNLEVEL: '1' };
  const patience = ['-o', `DPkg::Lock::Timeout=${LOCK_PATIENCE_SECONDS}`];
  const update = await updateOnceUnlocked(() => runCommand(aptGet, [...patience, 'update'], aptEnv));
  // A failed update is no reason to give up: the lists of an earlier one may do.
  const install = await runCommand(
    aptGet,
    [...patience, 'install', '--yes', '--no-install-recommends', 'redis-server'],
    aptEnv,
  );
  if (!install.succeeded) return { succeeded: false, output: `${update.output}\n${install.output}` };
  await stopPackagedService(env);
  return install;
}

// apt's lock timeout covers dpkg's lock but not the one on the package lists, so two updates at once need this wait.
async function updateOnceUnlocked(update: () => Promise<CommandOutcome>): Promise<CommandOutcome> {
  for (let second = 0; ; second += 1) {
    const outcome = await update();
    const isLocked = !outcome.succeeded && /could not get lock|unable to lock/i.test(outcome.output);
    if (!isLocked || second >= LOCK_PATIENCE_SECONDS) return outcome;
    await sleep(1000);
  }
}

// The package enables a system-wide server on the default port; only the binary was wanted.
async function stopPackagedService(env: NodeJS.ProcessEnv): Promise<void> {
  const systemctl = findExecutable('systemctl', env);
  if (systemctl === undefined || !existsSync('/run/systemd/system')) return;
  await runCommand(systemctl, ['disable', '--now', 'redis-server'], env);
}
