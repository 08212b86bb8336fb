import { findExecutable } from '../install/find-executable.ts';
import { findInstaller, installPackage, type PackageSpec } from '../install/install-package.ts';
import { installCommand, type Machine } from '../install/machine.ts';

const REDIS: PackageSpec = {
  program: 'Redis',
  missing: 'Redis server',
  debianPackage: 'redis-server',
  brewArguments: ['redis'],
  // The package enables a server on the default port; only the binary was wanted.
  unwantedService: 'redis-server',
  instead: 'set REDIS_URL or install redis-server yourself',
};

const INSTALL_COMMANDS = {
  darwin: 'brew install redis',
  debian: 'sudo apt-get install redis-server',
  ubuntu: 'sudo apt-get install redis-server',
  fedora: 'sudo dnf install valkey',
  rhel: 'sudo dnf install redis',
  alpine: 'sudo apk add redis',
  arch: 'sudo pacman -S valkey',
  suse: 'sudo zypper install redis',
};

/**
 * Returns the path of a Redis or Valkey server, installing one when that is allowed; otherwise throws an error that says
 * what to do.
 */
export async function obtainServer(
  env: NodeJS.ProcessEnv,
  machine: Machine,
  log: (line: string) => void,
): Promise<string> {
  const present = findServer(env);
  if (present !== undefined) return present;
  const installer = findInstaller(REDIS, machine, env);
  if (installer === undefined) throw new Error(installHelp(machine));
  await installPackage(REDIS, installer, log);
  const installed = findServer(env);
  if (installed !== undefined) return installed;
  throw new Error(
    'Redis was installed, but neither redis-server nor valkey-server is on the PATH: add its folder to the PATH, or set REDIS_URL.',
  );
}

function installHelp(machine: Machine): string {
  return [
    'No Redis was found and none may be installed from here; do one of these three:',
    '  - set REDIS_URL to a Redis that runs, for example redis://127.0.0.1:6379',
    `  - install redis-server or valkey-server yourself: ${installCommand(INSTALL_COMMANDS, machine)}`,
    '  - run this as root on Debian or Ubuntu, or with Homebrew on macOS, so that it can be installed for you',
  ].join('\n');
}

/** Finds a Redis or Valkey server on the PATH of the given environment, Redis first. */
function findServer(env: NodeJS.ProcessEnv): string | undefined {
  return findExecutable('redis-server', env) ?? findExecutable('valkey-server', env);
}
