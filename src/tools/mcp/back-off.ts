import type { BackOffLimits } from './mcp-config.ts';

/** Waits that double up to a limit, each cut by up to half at random so that many servers do not return in step. */
export class BackOff {
  readonly #limits: BackOffLimits;
  readonly #random: () => number;
  #failures = 0;

  constructor(limits: BackOffLimits, random: () => number = Math.random) {
    this.#limits = limits;
    this.#random = random;
  }

  nextMs(): number {
    const { firstMs, longestMs } = this.#limits;
    const full = Math.min(longestMs, firstMs * 2 ** this.#failures);
    if (full < longestMs) this.#failures += 1;
    return Math.round(full * (1 - this.#random() / 2));
  }

  reset(): void {
    this.#failures = 0;
  }
}
