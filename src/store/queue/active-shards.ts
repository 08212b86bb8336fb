import type { RedisClient } from '../redis/run-script.ts';

/** A shard stays active for this long after its last mark. */
const ACTIVE_MS = 90_000;
/** A process marks a shard at most this often. */
const MARK_EVERY_MS = 30_000;

/**
 * The shards in which any process has worked lately, so that a sweep need not look into all of them each time. Only a hint: a shard
 * without a mark is swept as well, but less often.
 */
export class ActiveShards {
  readonly #client: RedisClient;
  readonly #key: string;
  readonly #onError: (error: unknown) => void;
  readonly #markedAt = new Map<number, number>();

  constructor(client: RedisClient, key: string, onError: (error: unknown) => void) {
    this.#client = client;
    this.#key = key;
    this.#onError = onError;
  }

  mark(shard: number): void {
    const now = Date.now();
    if (now - (this.#markedAt.get(shard) ?? 0) < MARK_EVERY_MS) return;
    this.#markedAt.set(shard, now);
    this.#client.zadd(this.#key, now, String(shard)).catch((error: unknown) => {
      this.#markedAt.delete(shard);
      this.#onError(error);
    });
  }

  async list(): Promise<number[]> {
    const found = await this.#client.zrangebyscore(this.#key, Date.now() - ACTIVE_MS, '+inf');
    return found.map(Number);
  }
}
