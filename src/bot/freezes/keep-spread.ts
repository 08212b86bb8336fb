import type { Logger } from 'pino';
import type { DelegationStore } from '../../store/port/delegations.ts';
import type { FreezeStore } from '../../store/port/freezes.ts';

const EVERY_MS = 5_000;

/**
 * Brings the tables of freezes and of delegations to all shards now, and again whenever one has changed, until it is stopped: a process
 * that changed one may have died before it had reached every shard.
 */
export async function keepTablesSpread(
  store: FreezeStore & DelegationStore,
  logger: Pick<Logger, 'warn'>,
): Promise<{ stop(): void }> {
  const spread = { freezes: -1, delegations: -1 };
  const spreadNew = async (): Promise<void> => {
    const [freezes, delegations] = await Promise.all([store.readFreezes(), store.readDelegations()]);
    if (freezes.epoch !== spread.freezes) await store.spreadFreezes();
    spread.freezes = freezes.epoch;
    if (delegations.epoch !== spread.delegations) await store.spreadDelegations();
    spread.delegations = delegations.epoch;
  };
  await spreadNew();
  const timer = setInterval(() => {
    spreadNew().catch((err: unknown) => logger.warn({ err }, 'freezes or delegations not spread'));
  }, EVERY_MS);
  timer.unref();
  return { stop: () => clearInterval(timer) };
}
