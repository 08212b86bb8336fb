import { findServer } from './find-server.ts';
import { findInstaller, installServer } from './install-server.ts';
import { distributionFamily, type Machine } from './machine.ts';

const INSTALL_COMMANDS: Record<string, string> = {
  debian: 'sudo apt-get install redis-server',
  ubuntu: 'sudo apt-get install redis-server',
  fedora: 'sudo dnf install valkey',
  rhel: 'sudo dnf install redis',
  alpine: 'sudo apk add redis',
  arch: 'sudo pacman -S valkey',
  suse: 'sudo zypper install redis',
};

/** Returns the path of a Redis or Valkey server, installing one where that is allowed; throws with the ways out where not. */
export async function obtainServer(
  env: NodeJS.ProcessEnv,
  machine: Machine,
  log: (line: string) => void,
): Promise<string> {
  const present = findServer(env);
  if (present !== undefined) return present;
  const installer = findInstaller(machine, env);
  if (installer === undefined) throw new Error(waysOut(machine));
  await installServer(installer, log);
  const installed = findServer(env);
  if (installed !== undefined) return installed;
  throw new Error(
    'Redis was installed, but neither redis-server nor valkey-server is on the PATH: add its folder to the PATH, or set REDIS_URL.',
  );
}

function waysOut(machine: Machine): string {
  return [
    'No Redis was found and none may be installed from here; do one of these three:',
    '  - set REDIS_URL to a Redis that runs, for example redis://127.0.0.1:6379',
    `  - install redis-server or valkey-server yourself: ${installCommand(machine)}`,
    '  - run this as root on Debian or Ubuntu, or with Homebrew on macOS, so that it can be installed for you',
  ].join('\n');
}

function installCommand(machine: Machine): string {
  if (machine.platform === 'darwin') return 'brew install redis';
  const known = distributionFamily(machine).map((id) => INSTALL_COMMANDS[id]);
  return known.find((command) => command !== undefined) ?? "use your system's package manager";
}
