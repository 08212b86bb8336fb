import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { HttpError } from '../../errors.ts';

/** Ends one call at its caller's signal or its time limit, whichever comes first; `release` frees both. */
export class CallLimits {
  readonly #own = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #timeoutMs: number | undefined;
  #isTimedOut = false;

  constructor(caller: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#caller = caller;
    this.#timeoutMs = timeoutMs;
    if (caller?.aborted === true) this.#follow();
    caller?.addEventListener('abort', this.#follow, { once: true });
    if (timeoutMs !== undefined) {
      this.#timer = setTimeout(() => {
        this.#isTimedOut = true;
        this.#own.abort();
      }, timeoutMs);
    }
  }

  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Returns the actual reason why a call failed with `error`. */
  explain(error: unknown, origin: string): unknown {
    if (this.#caller?.aborted === true) return this.#caller.reason;
    if (this.#isTimedOut) {
      return new HttpError('timed-out', `${origin} timed out after ${this.#timeoutMs} ms.`);
    }
    return error;
  }

  release(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener('abort', this.#follow);
  }

  /** Aborts the rest of a failed call. */
  cancel(): void {
    this.release();
    this.#own.abort();
  }

  readonly #follow = () => this.#own.abort(this.#caller?.reason);
}

interface BodyLimits {
  readonly maxBytes: number | undefined;
  readonly origin: string;
  readonly explain: (error: unknown) => unknown;
  /** Called once, after the last read. */
  readonly release: () => void;
}

/** Streams a body; one over the size limit ends in an error, never in a shorter body. */
export function limitedBody(
  body: NodeReadableStream<Uint8Array>,
  { maxBytes = Number.POSITIVE_INFINITY, origin, explain, release }: BodyLimits,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let size = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          release();
          controller.close();
          return;
        }
        size += value.byteLength;
        if (size > maxBytes) {
          throw new HttpError('too-large', `${origin} answered with more than ${maxBytes} bytes.`);
        }
        controller.enqueue(value);
      } catch (error) {
        release();
        controller.error(explain(error));
        reader.cancel().catch(() => undefined);
      }
    },
    cancel(reason) {
      release();
      return reader.cancel(reason);
    },
  });
}
