import { readFileSync } from 'node:fs';

/** The kernel's unit of CPU time in `/proc`; it is the same on every Linux that Node runs on. */
const TICK_MS = 10;

/** Returns the CPU time that a process has used since it started; not a number on systems other than Linux. */
export function cpuMsOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The program's name is in parentheses and may contain anything; the times are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Returns the CPU time that all processes of the machine have used since it booted. */
export function cpuMsOfMachine(): number {
  if (process.platform !== 'linux') return Number.NaN;
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system) * TICK_MS;
}

/** Returns the resident memory of a process; not a number on systems other than Linux. */
export function residentBytesOf(pid: number): number {
  if (process.platform !== 'linux') return Number.NaN;
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

/** Returns the resident memory of a process by what it was mapped for; empty on systems other than Linux. */
export function residentBytesByKind(pid: number): Map<string, number> {
  const kinds = new Map<string, number>();
  if (process.platform !== 'linux') return kinds;
  let kind = '';
  for (const line of readFileSync(`/proc/${pid}/smaps`, 'utf8').split('\n')) {
    const [, path] = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+ *(.*)$/.exec(line) ?? [];
    if (path !== undefined) kind = kindOfMapping(path);
    const [, kilobytes] = /^Rss: +(\d+) kB/.exec(line) ?? [];
    if (kilobytes !== undefined) kinds.set(kind, (kinds.get(kind) ?? 0) + Number(kilobytes) * 1024);
  }
  return kinds;
}

function kindOfMapping(path: string): string {
  if (path.endsWith('/node')) return "Node's program";
  if (path.startsWith('/')) return 'libraries of the system';
  return path === '[heap]' ? "Node's own allocations" : "V8's heap, buffers and stacks";
}
