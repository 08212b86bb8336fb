import type { Logger } from 'pino';
import type { FreezeStore } from '../../store/port/freezes.ts';

const EVERY_MS = 5_000;

/**
 * Brings the table of freezes to all shards now, and again whenever it has changed, until it is stopped: a process that froze or
 * unfroze may have died before it had reached every shard.
 */
export async function keepFreezesSpread(
  store: Pick<FreezeStore, 'readFreezes' | 'spreadFreezes'>,
  logger: Pick<Logger, 'warn'>,
): Promise<{ stop(): void }> {
  let spread = -1;
  const spreadNew = async (): Promise<void> => {
    const { epoch } = await store.readFreezes();
    if (epoch === spread) return;
    await store.spreadFreezes();
    spread = epoch;
  };
  await spreadNew();
  const timer = setInterval(() => {
    spreadNew().catch((err: unknown) => logger.warn({ err }, 'freezes not spread'));
  }, EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
