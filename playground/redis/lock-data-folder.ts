import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { servesFolder } from './ask-redis.ts';

// Longer than the watchdog's grace time, because a server that is stopping may still write.
const LOCK_TIMEOUT_MS = 12_000;

/** Locks the data folder for the server at `url` and returns the lock file; a folder in use is an error, never shared. */
export async function lockDataFolder(
  dataFolder: string,
  url: string,
  patience = LOCK_TIMEOUT_MS,
): Promise<string> {
  const lockFile = join(dataFolder, 'server.lock');
  const deadline = Date.now() + patience;
  for (;;) {
    if (createLock(lockFile, `${process.pid} ${url}`)) return lockFile;
    const holder = readHolder(lockFile);
    const isLate = Date.now() >= deadline;
    if (holder !== undefined && !isAlive(holder.processId)) {
      rmSync(lockFile, { force: true });
    } else if (!isLate) {
      await sleep(100);
    } else if (holder !== undefined && (await servesFolder(holder.url, dataFolder))) {
      throw new Error(
        `The data folder ${dataFolder} is in use by the Redis server at ${holder.url} (process ${holder.processId}); stop that one or choose another folder.`,
      );
    } else {
      // After a restart of the machine or container, the number in an old lock may belong to any other process.
      rmSync(lockFile, { force: true });
    }
  }
}

function createLock(lockFile: string, holder: string): boolean {
  try {
    writeFileSync(lockFile, holder, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

// Undefined while the lock is being written or has just been released.
function readHolder(lockFile: string): { processId: number; url: string } | undefined {
  try {
    const found = /^(\d+) (\S+)$/.exec(readFileSync(lockFile, 'utf8'));
    if (found?.[1] === undefined || found[2] === undefined) return undefined;
    return { processId: Number(found[1]), url: found[2] };
  } catch {
    return undefined;
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
