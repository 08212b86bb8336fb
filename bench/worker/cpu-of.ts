import { readFileSync } from 'node:fs';

/** What the kernel counts CPU in; it is the same on every Linux that Node runs on. */
const TICK_MS = 10;

/** How much CPU a process has used since it began, as Linux counts it; on other systems it is no number. */
export function cpuMsOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program stands in brackets and may hold anything; the times are the 14th and 15th field.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** How much CPU all processes of the machine have used together since it was started. */
export function cpuMsOfMachine(): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system) * TICK_MS;
}
