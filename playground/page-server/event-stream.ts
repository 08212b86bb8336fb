import type { ServerResponse } from 'node:http';
import type { Entity } from '../protocol.ts';

/** One open connection of a person's client: it is sent what it does not have yet, and nothing twice. */
export class EventStream {
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
