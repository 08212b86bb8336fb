import { refuseNewer } from '../errors.ts';
import { Keys } from '../port/keys.ts';
import type { RedisClient } from './run-script.ts';
import { scanKeys } from './scan-keys.ts';

/**
 * A change of every key of one kind. Keys that are written meanwhile are right already: the release before writes both forms. A step may
 * be cut off at any key and played again from the first one.
 */
export interface MigrationStep {
  /** Says for the operator what becomes of each key. */
  readonly does: string;
  /** The kind of the keys, such as `run`: what their names have before the id. */
  readonly kind: string;
  /** Tells whether a key has the old form. */
  isOld(client: RedisClient, key: string): Promise<boolean>;
  /** Gives a key the new form, in one script, so that nobody sees it half done; one that has it stays as it is. */
  mend(client: RedisClient, key: string): Promise<unknown>;
}

/** The steps from each version of the record to the next: the first from 1 to 2. */
export const MIGRATION: readonly MigrationStep[] = [];

const FIELD = 'record';
/** Keys that are changed at a time: far less than a second, between which everybody else is served. */
const BATCH = 100;

/** The version of the whole record after these steps: of every key, row and document of a workspace. */
function versionAfter(steps: readonly MigrationStep[]): number {
  return 1 + steps.length;
}

/** Writes its version into a new record, and refuses one of another version before anything else of it is read or changed. */
export async function claimRecord(client: RedisClient, prefix: string, steps = MIGRATION): Promise<void> {
  const problem = await versionProblem(client, prefix, steps);
  if (problem !== undefined) throw new Error(problem);
  await client.hsetnx(new Keys(prefix).shared('head'), FIELD, String(versionAfter(steps)));
}

/** Says that a record is of another version, and what to do; `undefined` if this one reads it. */
export async function versionProblem(
  client: RedisClient,
  prefix: string,
  steps = MIGRATION,
): Promise<string | undefined> {
  const [written, known] = [await readVersion(client, prefix), versionAfter(steps)];
  try {
    refuseNewer('The record in Redis', written, known);
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
  if (written === undefined || Number(written) === known) return undefined;
  return `The record in Redis is of version ${written}, and this Countersign works on version ${known}. Run "countersign migrate"; the processes of the release before may go on meanwhile.`;
}

/** The findings of one step of a migration. */
export interface MigratedStep {
  readonly does: string;
  readonly to: number;
  readonly keys: number;
  /** Those of the old form: changed now, or in a dry run to be changed. */
  readonly old: number;
  readonly ms: number;
}

/** Tells what was done after each batch of keys. */
interface MigrateOptions {
  readonly dryRun?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onBatch?: ((done: number) => void) | undefined;
}

/**
 * Brings a record up to date, step by step; the version is raised when every key of a step has the new form. It may end at any moment and be
 * called again, also by several at a time. A record of a later version is refused.
 */
export async function* migrate(
  client: RedisClient,
  prefix: string,
  { dryRun = false, signal, onBatch }: MigrateOptions = {},
  steps: readonly MigrationStep[] = MIGRATION,
): AsyncGenerator<MigratedStep> {
  const written = await readVersion(client, prefix);
  refuseNewer('The record in Redis', written, versionAfter(steps));
  if (written === undefined) return;
  for (const [index, step] of steps.entries()) {
    const to = index + 2;
    if (Number(written) >= to) continue;
    const begin = performance.now();
    const found = { keys: 0, old: 0 };
    const treat = async (keys: readonly string[]) => {
      signal?.throwIfAborted();
      const old = await Promise.all(keys.map((key) => step.isOld(client, key)));
      if (!dryRun) await Promise.all(keys.map((key, at) => old[at] && step.mend(client, key)));
      found.keys += keys.length;
      found.old += old.filter(Boolean).length;
      onBatch?.(found.old);
    };
    let batch: string[] = [];
    for await (const { key, kind } of scanKeys(client, prefix)) {
      if (kind === step.kind) batch.push(key);
      if (batch.length < BATCH) continue;
      await treat(batch);
      batch = [];
    }
    await treat(batch);
    if (!dryRun) await raiseVersion(client, prefix, to);
    yield { does: step.does, to, ...found, ms: Math.round(performance.now() - begin) };
  }
}

/** Raises the version by one step, unless another process has raised it already. */
async function raiseVersion(client: RedisClient, prefix: string, to: number): Promise<void> {
  const script = `if tonumber(redis.call('HGET', KEYS[1], ARGV[1])) == ARGV[2] - 1 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end`;
  await client.eval(script, 1, new Keys(prefix).shared('head'), FIELD, to);
}

/** Returns the version that a record is marked with; `undefined` for one that nobody has written yet. */
export async function readVersion(client: RedisClient, prefix: string): Promise<string | undefined> {
  return (await client.hget(new Keys(prefix).shared('head'), FIELD)) ?? undefined;
}
