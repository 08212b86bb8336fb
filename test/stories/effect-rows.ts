import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import type { Story } from './support.ts';

/** The audit rows of effects without approval, each with its body. */
export async function effectRows({ redis, prefix }: Story) {
  const rows: { event: string; body: unknown }[] = [];
  for await (const { event, body } of openRedisStore({ client: redis, prefix }).exportAudit())
    if (event.startsWith('effect-')) rows.push({ event, body: JSON.parse(body) });
  return rows;
}
