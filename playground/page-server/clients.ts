import type { ServerResponse } from 'node:http';
import type { Entity } from '../protocol.ts';

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
      // Some entities change with time alone, such as a stream that expires.
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
    // A workspace that is slow to render is rendered less often, so that it does not block the rest.
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

/** One open connection of a person's client: it is sent what it does not have yet, and nothing twice. */
class EventStream {
  readonly userId: string;
  readonly #response: ServerResponse;
  /** The JSON of what the client has, by key; undefined before the first change. */
  #sent: ReadonlyMap<string, string> | undefined;

  constructor(userId: string, response: ServerResponse) {
    this.userId = userId;
    this.#response = response;
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
    });
  }

  /** True while the client has not taken what it was sent; it misses nothing, as the next change is made from all. */
  get isBehind(): boolean {
    return this.#response.writableNeedDrain;
  }

  show(entities: readonly Entity[]): void {
    const now = new Map(entities.map((entity) => [entity.key, JSON.stringify(entity)]));
    const before = this.#sent ?? new Map<string, string>();
    const set = [...now].filter(([key, json]) => before.get(key) !== json).map(([, json]) => json);
    const gone = [...before.keys()].filter((key) => !now.has(key));
    const isFresh = this.#sent === undefined;
    this.#sent = now;
    if (!isFresh && set.length === 0 && gone.length === 0) return;
    const change = `{"fresh":${isFresh},"set":[${set.join(',')}],"gone":${JSON.stringify(gone)}}`;
    this.#response.write(`event: change\ndata: ${change}\n\n`);
  }

  /** A line that clients ignore, so that nobody on the way takes the connection for dead. */
  keepAlive(): void {
    this.#response.write(': still here\n\n');
  }

  end(): void {
    this.#response.end();
  }
}
