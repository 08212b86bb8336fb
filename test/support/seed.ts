const DEFAULT_SEED = 4;

/** The seed of all random tests. Vitest's own process reads it first and hands it on, so that a fresh one is drawn once per run. */
export const seed = readSeed(process.env.COUNTERSIGN_SEED);

/** Reads the variable `COUNTERSIGN_SEED`: an integer, or `random` for a fresh one; without it every run has the same seed. */
export function readSeed(given: string | undefined): number {
  if (given === undefined) return DEFAULT_SEED;
  if (given === 'random') return Math.floor(Math.random() * 1_000_000_000);
  const read = Number(given);
  // fast-check folds a larger number into 32 bits, and then reports another seed than the one given.
  if (!/^-?\d+$/.test(given) || read !== (read | 0))
    throw new Error(`COUNTERSIGN_SEED is neither an integer of 32 bits nor "random": ${given}`);
  return read;
}
