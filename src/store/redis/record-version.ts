import { refuseNewer } from '../errors.ts';
import { Keys } from '../record/keys.ts';
import type { RedisClient } from './run-script.ts';

/** The version of the whole record: of every key, row and document of a workspace. */
const RECORD_VERSION = 1;
const FIELD = 'record';

/** Writes its version into a new record, and refuses one of a later version before anything else of it is read or changed. */
export async function claimRecord(client: RedisClient, prefix: string): Promise<void> {
  const version = await readVersion(client, prefix);
  refuseNewer('The record in Redis', version, RECORD_VERSION);
  if (version === undefined)
    await client.hsetnx(new Keys(prefix).shared('head'), FIELD, String(RECORD_VERSION));
}

/** Says that a record is of a later version; `undefined` if this one reads it. */
export async function newerRecord(client: RedisClient, prefix: string): Promise<string | undefined> {
  try {
    refuseNewer('The record in Redis', await readVersion(client, prefix), RECORD_VERSION);
    return undefined;
  } catch (error) {
    if (error instanceof Error) return error.message;
    throw error;
  }
}

async function readVersion(client: RedisClient, prefix: string): Promise<string | undefined> {
  return (await client.hget(new Keys(prefix).shared('head'), FIELD)) ?? undefined;
}
