import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, rmdirSync, writeSync } from 'node:fs';
import { z } from 'zod';

/** One effect in the outside world, as the tool that had it wrote it down. */
export const Effect = z.object({
  tool: z.string(),
  /** The token that the call carried, which no other call has. */
  token: z.string(),
  /** The arguments as they were when it ran. */
  input: z.string(),
  key: z.string(),
  threadId: z.string(),
  at: z.number(),
  process: z.number(),
});
export type Effect = Readonly<z.infer<typeof Effect>>;

/** Writes an effect down, on the disk before it returns: what is in this file has happened, whatever dies afterwards. */
export function noteEffect(file: string, effect: Effect): void {
  const opened = openSync(file, 'a');
  writeSync(opened, `${JSON.stringify(effect)}\n`);
  fsyncSync(opened);
  closeSync(opened);
}

/** As where money is booked: in the moment of booking, and with nobody else at it, the key is looked for. */
export function noteOnce(file: string, effect: Effect): void {
  const lock = `${file}.lock`;
  while (!isTaken(lock));
  if (!readEffects(file).some(({ key }) => key === effect.key)) noteEffect(file, effect);
  rmdirSync(lock);
}

function isTaken(lock: string): boolean {
  try {
    mkdirSync(lock);
    return true;
  } catch {
    return false;
  }
}

export function readEffects(file: string): Effect[] {
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => Effect.parse(JSON.parse(line)));
}
