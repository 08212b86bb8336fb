import type { ServerResponse } from 'node:http';
import type { Entity } from '../protocol.ts';
import { EventStream } from './event-stream.ts';

const PAUSE_MS = 30;
const KEEP_ALIVE_MS = 15_000;

/** All open clients; after a change each is shown what is new, at most once every few hundredths of a second. */
export class Clients {
  readonly #streams = new Set<EventStream>();
  readonly #entitiesFor: (userId: string) => readonly Entity[];
  readonly #keepAlive: NodeJS.Timeout;
  #next: NodeJS.Timeout | undefined;
  #tookMs = 0;

  constructor(entitiesFor: (userId: string) => readonly Entity[]) {
    this.#entitiesFor = entitiesFor;
    this.#keepAlive = setInterval(() => {
      for (const stream of this.#streams) stream.keepAlive();
      // Time alone changes some things, such as a stream that has grown too old to go on.
      this.refresh();
    }, KEEP_ALIVE_MS);
    this.#keepAlive.unref();
  }

  open(userId: string, response: ServerResponse): void {
    const stream = new EventStream(userId, response);
    this.#streams.add(stream);
    response.on('close', () => this.#streams.delete(stream));
    response.on('drain', () => this.refresh());
    stream.show(this.#entitiesFor(userId));
  }

  refresh(): void {
    // A workspace that takes long to look at is looked at less often, so that others get their turn.
    this.#next ??= setTimeout(() => this.#showAll(), Math.max(PAUSE_MS, 2 * this.#tookMs));
  }

  stop(): void {
    clearInterval(this.#keepAlive);
    clearTimeout(this.#next);
    for (const stream of this.#streams) stream.end();
  }

  #showAll(): void {
    const startedAt = performance.now();
    this.#next = undefined;
    for (const stream of this.#streams) if (!stream.isBehind) stream.show(this.#entitiesFor(stream.userId));
    this.#tookMs = performance.now() - startedAt;
  }
}
