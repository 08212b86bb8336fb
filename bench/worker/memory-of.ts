import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeProcess } from '../support/node-process.ts';
import { residentBytesOf } from '../support/process-usage.ts';

const MEGABYTE = 1024 * 1024;
const SETTLE_MS = 2_000;

export interface Memory {
  readonly residentBytes: number;
  readonly heapBytes: number;
}

/** Reads the memory of a process after a garbage collection. */
export async function memoryOf(bot: NodeProcess): Promise<Memory> {
  await sleep(SETTLE_MS);
  // What the first collection finalizes is freed by the next one.
  await bot.heapBytes();
  await sleep(SETTLE_MS / 4);
  return { heapBytes: await bot.heapBytes(), residentBytes: residentBytesOf(bot.pid) };
}

export function memoryRow(
  name: string,
  { residentBytes, heapBytes }: Memory,
  more: readonly string[] = [],
): string[] {
  return [name, (residentBytes / MEGABYTE).toFixed(1), (heapBytes / MEGABYTE).toFixed(1), ...more];
}
