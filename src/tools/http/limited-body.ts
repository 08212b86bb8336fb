import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { HttpError } from './http-error.ts';

interface BodyLimits {
  readonly maxBytes: number | undefined;
  readonly origin: string;
  readonly explain: (error: unknown) => unknown;
  /** Called once, when nothing more will be read. */
  readonly release: () => void;
}

/** Passes a body on as it arrives; one that is longer than allowed ends in an error, never in a shorter body. */
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
