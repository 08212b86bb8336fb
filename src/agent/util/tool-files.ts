import type { CallPart } from '../messages.ts';

/** A file that a tool sends to the people of its thread. */
export interface ToolFile {
  readonly name: string;
  readonly data: Uint8Array | string;
  /** A media type, such as `text/csv`. */
  readonly type?: string | undefined;
}

/** Takes the files of calls; without one a tool cannot send any. */
export interface FileSink {
  /** The most bytes of one call. */
  readonly maxBytes: number;
  /**
   * Records the files of a call that has succeeded, to be sent, and returns a line for the model about each. A call with an effect runs
   * again under the same idempotency key, and its files are recorded once.
   */
  record(call: CallPart, files: readonly ToolFile[], hasEffect: boolean): Promise<readonly string[]>;
}

const MAX_FILES = 10;

/** Collects the files of one call until it has succeeded. */
export class CallFiles {
  readonly #sink: FileSink | undefined;
  readonly #files: ToolFile[] = [];
  #bytes = 0;

  constructor(sink: FileSink | undefined) {
    this.#sink = sink;
  }

  /** Adds a file; `false` means that it is too large, one too many, or that files cannot be sent here. */
  add({ name, data, type }: ToolFile): boolean {
    const bytes = typeof data === 'string' ? Buffer.from(data) : Buffer.from(data);
    const isTaken =
      this.#sink !== undefined &&
      bytes.length > 0 &&
      this.#files.length < MAX_FILES &&
      this.#bytes + bytes.length <= this.#sink.maxBytes;
    if (!isTaken) return false;
    this.#bytes += bytes.length;
    this.#files.push({ name, data: bytes, type });
    return true;
  }

  /** Records the files. The call has succeeded whether they can be recorded or not, so this never throws. */
  async record(call: CallPart, hasEffect: boolean): Promise<readonly string[]> {
    if (this.#files.length === 0 || this.#sink === undefined) return [];
    try {
      return await this.#sink.record(call, this.#files, hasEffect);
    } catch {
      return this.#files.map(({ name }) => `${name} could not be sent`);
    }
  }
}
