import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Secrets } from '../secrets.ts';
import type { OpenToolbox } from '../toolbox/open-toolbox.ts';
import { LOCK_FILE, readLockText } from '../toolbox/tool-lock.ts';
import type { Manifest } from './manifest.ts';
import { parseManifest } from './parse.ts';
import { formatProblem } from './problem.ts';

/** A notice for the admins: the manifest was rejected, is valid again, or is active although some of its tools do not work. */
export interface ReloadNotice {
  readonly outcome: 'rejected' | 'valid-again' | 'active-with-problems';
  readonly file: string;
  readonly problems: readonly string[];
}

export interface ReloadOptions {
  readonly file: string;
  /** The text that the toolbox was opened with, so that a change before the watch begins is not missed. */
  readonly text: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly toolbox: OpenToolbox;
  readonly secrets: Secrets;
  /** Writes a row of the audit log; a row with the same id is written once. */
  readonly store: {
    note(id: string, event: string, subject: string, detail: JsonObject): Promise<unknown>;
  };
  readonly logger: Logger;
  readonly onNotice: (notice: ReloadNotice) => void | Promise<void>;
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
const EVENT = 'configured';

/**
 * Activates a changed manifest without a restart. A manifest with errors is rejected, and the previous one stays active. A valid one
 * is recorded before it becomes active: while the record cannot be written, nothing changes.
 */
export async function watchManifest(options: ReloadOptions): Promise<ManifestWatch> {
  const { file, environment, toolbox, secrets, store, logger } = options;
  const folder = dirname(resolve(file));
  let lock = await readLockText(folder);
  let active = digestOf(options.text, lock);
  let rejected: string | undefined;

  async function record(old: string | null, next: string, changed: readonly string[]): Promise<void> {
    const change = { old, new: next, changed, host: hostname(), ...(await ownerOf(file)) };
    // All processes on one machine write the same id, so the change is recorded once.
    await store.note(`${EVENT}-${digestOf(JSON.stringify(change))}`, EVENT, basename(file), change);
  }

  async function notify(outcome: ReloadNotice['outcome'], problems: readonly string[]): Promise<void> {
    try {
      await options.onNotice({ outcome, file, problems });
    } catch (err) {
      logger.error({ err }, 'admins not notified');
    }
  }

  async function reject(digest: string, problems: readonly string[]): Promise<void> {
    if (rejected === digest) return;
    rejected = digest;
    logger.error({ file, problems }, 'manifest rejected, previous version stays active');
    await notify('rejected', problems);
  }

  async function reload(): Promise<void> {
    const text = await readText(file);
    if (text === undefined) return reject('', [`${file} cannot be read`]);
    const nextLock = await readLockText(folder);
    const [old, next] = [active, digestOf(text, nextLock)];
    const wasRejected = rejected !== undefined;
    if (next === old) {
      rejected = undefined;
      if (wasRejected) await notify('valid-again', []);
      return;
    }
    const parsed = parseManifest(text, { file, environment });
    if (!parsed.ok) return reject(next, parsed.problems.map(formatProblem));
    if (parsed.placeholders.length > 0) return reject(next, parsed.placeholders.map(formatProblem));
    const changed = changedParts(toolbox.manifest, parsed.manifest);
    if (nextLock !== lock) changed.push(LOCK_FILE);
    await record(old, next, changed);
    for (const secret of parsed.secrets) secrets.add(secret);
    const known = toolbox.problems();
    await toolbox.replace(parsed.manifest);
    active = next;
    lock = nextLock;
    rejected = undefined;
    logger.info({ file, old, new: next, changed }, 'manifest reloaded');
    const problems = toolbox.problems().filter((problem) => !known.includes(problem));
    if (problems.length > 0) await notify('active-with-problems', problems);
    else if (wasRejected) await notify('valid-again', []);
  }

  await record(null, active, []);
  return watchFile(options, { isActive: (digest) => digest === active, reload });
}

/** Reloads the file whenever something in its folder changes, and at intervals; one reload at a time. */
function watchFile(
  { file, logger, quietMs = QUIET_MS, pollMs = POLL_MS }: ReloadOptions,
  manifest: { isActive(digest: string): boolean; reload(): Promise<void> },
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
    const digest = text === undefined ? '' : digestOf(text, await readLockText(dirname(resolve(file))));
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
  const polling = setInterval(schedule, pollMs);
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

/** Names the parts that differ, without their values. */
function changedParts(former: Manifest, next: Manifest): string[] {
  const before = partsOf(former);
  const after = partsOf(next);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.filter((name) => before.get(name) !== after.get(name));
}

function partsOf({ slack, agent, policies, tools, audit }: Manifest): ReadonlyMap<string, string> {
  const parts: [string, unknown][] = [
    ['slack', slack],
    ['agent', agent],
    ['audit', audit],
    ...[...policies].map(([name, policy]): [string, unknown] => [`policies.${name}`, policy]),
    ...tools.map((tool): [string, unknown] => [`tools.${tool.name}`, tool]),
  ];
  return new Map(parts.map(([name, part]) => [name, canonicalJson(toJson(part))]));
}

/** Returns the owner and the time of the last change of a file, for the audit log. */
async function ownerOf(
  file: string,
): Promise<{ readonly owner: number; readonly modified: string } | object> {
  return stat(file).then(
    ({ uid, mtime }) => ({ owner: uid, modified: mtime.toISOString() }),
    () => ({}),
  );
}

async function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}

/** Computes the digest of a manifest, together with its lock file if there is one. */
function digestOf(text: string, lock?: string): string {
  const whole = lock === undefined ? text : `${text}\n${lock}`;
  return createHash('sha256').update(whole).digest('hex');
}
