import { readFileSync } from 'node:fs';

/** Facts that decide how a package can be installed here; tests pass in other machines. */
export type Machine = {
  platform: NodeJS.Platform;
  userId: number | undefined;
  osReleaseFile: string;
};

/** Describes the machine this process runs on. */
export function thisMachine(): Machine {
  return { platform: process.platform, userId: process.getuid?.(), osReleaseFile: '/etc/os-release' };
}

/** Lists the distribution's id and its parents' ids, nearest first; empty when unknown. */
export function distributionFamily(machine: Machine): string[] {
  if (machine.platform !== 'linux') return [];
  const text = readIfPresent(machine.osReleaseFile);
  return ['ID', 'ID_LIKE'].flatMap((key) => {
    const value = new RegExp(`^${key}=["']?([^"'\\n]*)`, 'm').exec(text)?.[1] ?? '';
    return value.split(/\s+/).filter((id) => id !== '');
  });
}

function readIfPresent(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** The commands that install something, by the id of a distribution, and on macOS by `darwin`. */
export type CommandTable = Readonly<Record<string, string>>;

/** Returns the install command for this system, or for its nearest related distribution. */
export function installCommand(commands: CommandTable, machine: Machine): string {
  const ids = machine.platform === 'darwin' ? ['darwin'] : distributionFamily(machine);
  const known = ids.map((id) => commands[id]).find((command) => command !== undefined);
  return known ?? "use your system's package manager";
}
