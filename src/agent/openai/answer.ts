import { z } from 'zod';
import type { JsonObject } from '../json.ts';
import type { ModelReply } from '../model.ts';

/** Some servers leave a count out; a message without it could not be read back. */
export const Count = z.number().int().nonnegative().catch(0);
export const OptionalCount = z.number().int().nonnegative().optional().catch(undefined);

/** An answer as an adapter reads it; the data for the provider has no origin yet. */
export type AdapterReply = Omit<ModelReply, 'provider' | 'model'> & {
  readonly data?: JsonObject | undefined;
};

/** Assembles one answer from the chunks or events of its stream. */
export abstract class Answer {
  #text = '';
  #failure: unknown;

  /** Yields the text of an answer as it arrives. A failure ends it early: `failure` keeps the reason and `reply` what arrived. */
  async *read(chunks: AsyncIterable<unknown>): AsyncGenerator<string, void> {
    try {
      for await (const chunk of chunks) {
        const text = this.add(chunk);
        this.#text += text;
        if (text !== '') yield text;
      }
    } catch (error) {
      this.#failure = error;
    }
  }

  /** The error that ended the stream, if one did. */
  get failure(): unknown {
    return this.#failure;
  }

  get text(): string {
    return this.#text;
  }

  /** Adds one chunk and returns the text in it. */
  protected abstract add(chunk: unknown): string;

  abstract get isEmpty(): boolean;

  /** Returns the answer as far as it arrived; `broken` overrides how it ended. */
  abstract reply(broken?: 'cut' | 'aborted'): AdapterReply;
}
