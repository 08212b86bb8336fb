import { readFileSync } from 'node:fs';

/** What decides whether and how a package can be installed here; tests hand in another machine than their own. */
export type Machine = {
  platform: NodeJS.Platform;
  userId: number | undefined;
  osReleaseFile: string;
};

/** Describes the machine this process runs on. */
export function thisMachine(): Machine {
  return { platform: process.platform, userId: process.getuid?.(), osReleaseFile: '/etc/os-release' };
}

/** Lists the distribution's id and the ids it descends from, nearest first; empty where nothing says so. */
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

/** Names the command that installs something on the system at hand, that of the nearest relative where it has none of its own. */
export function installCommand(commands: CommandTable, machine: Machine): string {
  const ids = machine.platform === 'darwin' ? ['darwin'] : distributionFamily(machine);
  const known = ids.map((id) => commands[id]).find((command) => command !== undefined);
  return known ?? "use your system's package manager";
}
