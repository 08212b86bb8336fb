import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import { readLockText } from '../toolbox/tool-lock.ts';
import { manifestDigest } from './govern.ts';

export interface WatchOptions {
  readonly file: string;
  readonly logger: Logger;
  /** The time that the file must stay the same before it is read: editors write in several steps. */
  readonly quietMs?: number;
  /** The interval of checks for file systems that report no changes, such as some mounted folders. */
  readonly pollMs?: number;
}

export interface ManifestWatch {
  /** Reads the file now; resolves when its manifest is active or rejected. */
  reload(): Promise<void>;
  /** Ends the watch, after a reload that is under way. */
  close(): Promise<void>;
}

const QUIET_MS = 250;
const POLL_MS = 15_000;

/** Reloads the file whenever something in its folder changes, and at intervals; one reload at a time. */
export function watchFile(
  { file, logger, quietMs = QUIET_MS, pollMs = POLL_MS }: WatchOptions,
  manifest: { isActive(digest: string): boolean; isFollowing(): Promise<boolean>; reload(): Promise<void> },
): ManifestWatch {
  let reloading = Promise.resolve();
  let isClosed = false;
  let scheduled: NodeJS.Timeout | undefined;
  let lastSeen: string | undefined;

  const reload = (): Promise<void> => {
    reloading = reloading.then(async () => {
      if (isClosed) return;
      await manifest.reload().catch((err) => {
        logger.error({ err, file }, 'manifest reload failed, will be retried');
      });
    });
    return reloading;
  };
  const reloadIfQuiet = async (): Promise<void> => {
    scheduled = undefined;
    const text = await readText(file);
    const digest = text === undefined ? '' : manifestDigest(text, await readLockText(dirname(resolve(file))));
    if (isClosed || manifest.isActive(digest)) lastSeen = undefined;
    // Other files of the folder may change all the time, so the text must be quiet, not the folder.
    else if (digest === lastSeen) await reload();
    else schedule();
    lastSeen = digest;
  };
  const schedule = (): void => {
    if (isClosed) return;
    scheduled ??= setTimeout(() => void reloadIfQuiet(), quietMs);
  };

  const watcher = watchFolder(dirname(resolve(file)), schedule, logger);
  const follow = async (): Promise<void> => {
    const isFollowing = await manifest.isFollowing().catch(() => true);
    if (!isFollowing && !isClosed) await reload();
  };
  const polling = setInterval(() => {
    schedule();
    void follow();
  }, pollMs);
  polling.unref();
  schedule();
  return {
    reload,
    async close() {
      isClosed = true;
      clearTimeout(scheduled);
      clearInterval(polling);
      watcher?.close();
      await reloading;
    },
  };
}

/** Watches the folder, not the file: editors and deployments replace the file, or a link to it. */
function watchFolder(folder: string, onChange: () => void, logger: Logger): FSWatcher | undefined {
  const onError = (err: unknown): void =>
    logger.warn({ err, folder }, 'file watch failed, manifest is polled');
  try {
    return watch(folder, { persistent: false }, onChange).on('error', onError);
  } catch (err) {
    onError(err);
    return undefined;
  }
}

export async function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
