import { distributionFamily, type Machine } from './machine.ts';

/** The commands that install something, by the id of a distribution, and on macOS by `darwin`. */
export type CommandTable = Readonly<Record<string, string>>;

/** Names the command that installs something on the system at hand, that of the nearest relative where it has none of its own. */
export function nameCommand(commands: CommandTable, machine: Machine): string {
  const ids = machine.platform === 'darwin' ? ['darwin'] : distributionFamily(machine);
  const known = ids.map((id) => commands[id]).find((command) => command !== undefined);
  return known ?? "use your system's package manager";
}
