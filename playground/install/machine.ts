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
