import { expect } from 'vitest';

/** Tells whether there is a process of that number. */
export function isAlive(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}

/** Waits until there is no process of that number any more. */
export async function expectGone(processId: number): Promise<void> {
  await expect.poll(() => isAlive(processId), { interval: 20 }).toBe(false);
}
