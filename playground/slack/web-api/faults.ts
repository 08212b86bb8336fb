import type { JsonObject } from '../state/types.ts';

/**
 * What can go wrong with a call on demand: an error of the server, a connection reset before or after the call took
 * effect, a refusal, or an answer that comes late to a call that took effect at once.
 */
export type Fault =
  | { kind: 'status'; status: 500 | 502 | 503 | 504 }
  | { kind: 'reset' }
  | { kind: 'lost-answer' }
  | { kind: 'refuse'; error: string }
  | { kind: 'slow'; milliseconds: number };

/** Which calls a fault is for: the next one of the method, unless more are named or only some fit. */
export interface FaultOptions {
  calls?: number;
  when?: (given: JsonObject) => boolean;
}

/** The faults that wait for their calls; each is used up by as many calls as it is for. */
export class Faults {
  readonly #waiting: {
    method: string;
    fault: Fault;
    remaining: number;
    when: (given: JsonObject) => boolean;
  }[] = [];

  /** Makes calls of a method, or of any with `*`, go wrong. */
  add(method: string, fault: Fault, options: FaultOptions = {}): void {
    const { calls = 1, when = () => true } = options;
    this.#waiting.push({ method, fault, remaining: calls, when });
  }

  take(method: string, given: JsonObject): Fault | undefined {
    const found = this.#waiting.find(
      (each) => ['*', method].includes(each.method) && each.remaining > 0 && each.when(given),
    );
    if (found === undefined) return undefined;
    found.remaining -= 1;
    return found.fault;
  }
}
