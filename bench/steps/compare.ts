import { median } from '../support/quantiles.ts';

/** The times of two ways to do the same work. */
export interface Comparison {
  readonly bareMs: number;
  readonly oursMs: number;
  /** The median of the differences within the pairs, so that drift of the machine is in neither. */
  readonly differenceMs: number;
}

export interface Pace {
  readonly warmUps: number;
  readonly rounds: number;
}

/** Times two ways in alternation (A B, B A, ...), so that noise hits both alike. */
export async function compare(
  bare: () => Promise<void>,
  ours: () => Promise<void>,
  { warmUps, rounds }: Pace,
): Promise<Comparison> {
  for (let round = 0; round < warmUps; round += 1) {
    await bare();
    await ours();
  }
  const times: { bare: number; ours: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = await timed(bare);
      times.push({ bare: first, ours: await timed(ours) });
    } else {
      const first = await timed(ours);
      times.push({ bare: await timed(bare), ours: first });
    }
  }
  return {
    bareMs: median(times.map((pair) => pair.bare)),
    oursMs: median(times.map((pair) => pair.ours)),
    differenceMs: median(times.map((pair) => pair.ours - pair.bare)),
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
