import type { JsonObject } from '../state/types.ts';

/**
 * A fault injected into a call: a server error, a connection reset before or after the call took effect, a refusal, an answer that is
 * slow or held back though the call took effect, or a reset of a call that takes effect late.
 */
export type Fault =
  | { kind: 'status'; status: 404 | 500 | 502 | 503 | 504 }
  | { kind: 'reset' }
  | { kind: 'lost-answer' }
  | { kind: 'refuse'; error: string }
  | { kind: 'slow'; milliseconds: number }
  | { kind: 'held'; until: Promise<unknown> }
  | { kind: 'late'; milliseconds: number };

/** The calls that a fault applies to: the next one of the method by default. */
export interface FaultOptions {
  calls?: number;
  when?: (given: JsonObject) => boolean;
}

/** Pending faults; each is used up by the given number of calls. */
export class Faults {
  readonly #waiting: {
    method: string;
    fault: Fault;
    remaining: number;
    when: (given: JsonObject) => boolean;
  }[] = [];

  /** Adds a fault for calls of a method, or of any with `*`. */
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
