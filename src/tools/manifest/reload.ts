import { stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Secrets } from '../secrets.ts';
import type { LockText, OpenToolbox } from '../toolbox/open-toolbox.ts';
import type { PolicyChange } from '../toolbox/policy-change.ts';
import { LOCK_FILE, readLockText } from '../toolbox/tool-lock.ts';
import { chooseManifest, type ManifestRecord, type ManifestVersion, manifestDigest } from './govern.ts';
import type { Manifest } from './manifest.ts';
import { parseManifest } from './parse.ts';
import { formatProblem } from './problem.ts';
import { type ManifestWatch, readText, type WatchOptions, watchFile } from './watch-file.ts';

/**
 * A notice for the admins: the manifest was rejected, waits for approval because it is weaker, is valid again, or is active although some
 * of its tools do not work.
 */
export interface ReloadNotice {
  readonly outcome: 'rejected' | 'held' | 'valid-again' | 'active-with-problems';
  readonly file: string;
  readonly problems: readonly string[];
}

export interface ReloadOptions extends WatchOptions {
  /** The text that the toolbox was opened with, so that a change before the watch begins is not missed. */
  readonly text: string;
  /** The lock file that the toolbox was opened with; without it, the one beside the manifest. */
  readonly lock?: LockText | undefined;
  /** Holds a manifest that is weaker back until it is approved; without it every valid one becomes active. */
  readonly govern?: ManifestGovernor | undefined;
  readonly environment: NodeJS.ProcessEnv;
  readonly toolbox: OpenToolbox;
  readonly secrets: Secrets;
  /** Writes a row of the audit log; a row with the same id is written once. */
  readonly store: {
    note(id: string, event: string, subject: string, detail: JsonObject): Promise<unknown>;
  };
  readonly onNotice: (notice: ReloadNotice) => void | Promise<void>;
}

export interface ManifestGovernor {
  readonly record: ManifestRecord;
  /** Asks people about a change; called again while it waits. */
  readonly onHeld: (change: PolicyChange) => Promise<void>;
}

const EVENT = 'configured';

/**
 * Activates a changed manifest without a restart. A manifest with errors is rejected, and the previous one stays active. A valid one
 * is recorded before it becomes active: while the record cannot be written, nothing changes.
 */
export async function watchManifest(options: ReloadOptions): Promise<ManifestWatch> {
  const { file, environment, toolbox, secrets, store, logger } = options;
  const folder = dirname(resolve(file));
  let { text: lock } = options.lock ?? { text: await readLockText(folder) };
  let active = manifestDigest(options.text, lock);
  /** The file as it was when its manifest was last active here. */
  let agreed = (await readText(file)) === options.text ? active : undefined;
  let rejected: string | undefined;
  let held: string | undefined;

  async function record(old: string | null, next: string, changed: readonly string[]): Promise<void> {
    const change = { old, new: next, changed, host: hostname(), ...(await ownerOf(file)) };
    // All processes on one machine write the same id, so the change is recorded once.
    await store.note(`${EVENT}-${manifestDigest(JSON.stringify(change))}`, EVENT, basename(file), change);
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
    const digest = manifestDigest(text, nextLock);
    const wasRejected = rejected !== undefined;
    if (digest === active && options.govern === undefined) {
      rejected = undefined;
      if (wasRejected) await notify('valid-again', []);
      return;
    }
    const parsed = parseManifest(text, { file, environment });
    if (!parsed.ok) return reject(digest, parsed.problems.map(formatProblem));
    if (parsed.placeholders.length > 0) return reject(digest, parsed.placeholders.map(formatProblem));
    const written = { digest, text, lock: nextLock, manifest: parsed.manifest, secrets: parsed.secrets };
    const problems = await activate(await choose(written));
    rejected = undefined;
    if (problems.length > 0) await notify('active-with-problems', problems);
    else if (wasRejected) await notify('valid-again', []);
  }

  /** Chooses the manifest to use, and asks people about one of the file that has to wait. */
  async function choose(written: ManifestVersion): Promise<ManifestVersion> {
    if (options.govern === undefined) return written;
    const chosen = await chooseManifest(options.govern.record, written, environment);
    if (chosen.held === undefined) {
      agreed = written.digest;
      held = undefined;
      return chosen.version;
    }
    // Where the file is the same as before, it is the record that another process has changed.
    if (written.digest === agreed) return chosen.version;
    await options.govern.onHeld(chosen.held);
    if (held !== written.digest) {
      held = written.digest;
      logger.warn({ file, ...chosen.held }, 'manifest is weaker and waits for approval');
      await notify('held', chosen.held.weaker);
    }
    return chosen.version;
  }

  /** Activates a manifest, once it is recorded, unless it is active; returns the problems that came with it. */
  async function activate(version: ManifestVersion): Promise<readonly string[]> {
    if (version.digest === active) return [];
    const changed = changedParts(toolbox.manifest, version.manifest);
    if (version.lock !== lock) changed.push(LOCK_FILE);
    const old = active;
    await record(old, version.digest, changed);
    for (const secret of version.secrets) secrets.add(secret);
    const known = toolbox.problems();
    await toolbox.replace(version.manifest, { text: version.lock });
    active = version.digest;
    lock = version.lock;
    logger.info({ file, old, new: active, changed }, 'manifest reloaded');
    return toolbox.problems().filter((problem) => !known.includes(problem));
  }

  await record(null, active, []);
  return watchFile(options, {
    isActive: (digest) => digest === active,
    reload,
    // Another process may have recorded another manifest.
    isFollowing: async () =>
      options.govern === undefined || (await options.govern.record.readManifest())?.digest === active,
  });
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
