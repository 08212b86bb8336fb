import { expect } from 'vitest';

/** True when a process with this id exists. */
export function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

/** Waits until no process with this id exists. */
export async function expectGone(processId: number): Promise<void> {
  await expect.poll(() => isAlive(processId), { interval: 20 }).toBe(false);
}
