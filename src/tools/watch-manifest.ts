import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import { canonicalJson, type JsonObject, toJson } from '../agent/json.ts';
import {
  chooseManifest,
  type ManifestRecord,
  type ManifestVersion,
  manifestDigest,
  type PolicyChange,
  versionOf,
} from './manifest/govern.ts';
import type { Manifest } from './manifest/manifest.ts';
import { parseManifest } from './manifest/parse.ts';
import { formatProblem } from './manifest/problem.ts';
import { LOCK_FILE, readLockText } from './manifest/tool-lock.ts';
import type { Secrets } from './secrets.ts';
import type { ModuleChange, OpenToolbox } from './toolbox/open-toolbox.ts';

/**
 * A notice for the admins: the manifest was rejected, waits for approval, is valid again, or is active although some of its tools do
 * not work.
 */
export interface ReloadNotice {
  readonly outcome: 'rejected' | 'held' | 'valid-again' | 'active-with-problems';
  readonly file: string;
  readonly problems: readonly string[];
}

export interface ReloadOptions extends WatchOptions {
  /** The version that the toolbox was opened with, so that a change before the watch begins is not missed. */
  readonly active: ManifestVersion;
  /** Holds a manifest with another governed part back until it is approved; without it every valid one becomes active. */
  readonly govern?: ManifestGovernor | undefined;
  /** Reads the environment for each version of the file: a variable may be new with it. */
  readonly readEnvironment: () => NodeJS.ProcessEnv;
  readonly toolbox: OpenToolbox;
  readonly secrets: Secrets;
  /** Writes a row of the audit log; a row with the same id is written once. */
  readonly store: {
    note(id: string, event: string, subject: string, detail: JsonObject): Promise<unknown>;
  };
  readonly onNotice: (notice: ReloadNotice) => void | Promise<void>;
}

interface ManifestGovernor {
  readonly record: ManifestRecord;
  /** Asks people about a change; called again while it waits. */
  readonly onHeld: (change: PolicyChange) => Promise<void>;
}

/** The manifest of the file, or its mistakes. */
type FileVersion =
  | { readonly digest: string; readonly version: ManifestVersion }
  | { readonly digest: string; readonly version?: undefined; readonly problems: readonly string[] };

const EVENT = 'configured';

/**
 * Activates a changed manifest without a restart. A manifest with errors is rejected, and the previous one stays active. A valid one
 * is recorded before it becomes active: while the record cannot be written, nothing changes.
 */
export async function watchManifest(options: ReloadOptions): Promise<ManifestWatch> {
  const reloader = new ManifestReloader(options);
  await reloader.start();
  return watchFile(options, reloader);
}

/** Keeps the toolbox at the manifest of the file, or at the one on record that governs it. */
class ManifestReloader implements Watched {
  readonly #options: ReloadOptions;
  #active: ManifestVersion;
  /** The digest of the file, while its manifest is the active one. */
  #activeFile: string | undefined;
  /** The manifest of the file when it was last active here. */
  #agreed: string | undefined;
  /** The digest of the file, and of its manifest, of which the admins know that it was rejected or waits. */
  #rejected: string | undefined;
  #held: string | undefined;

  constructor(options: ReloadOptions) {
    this.#options = options;
    this.#active = options.active;
  }

  /** Records the version that the toolbox was opened with, and finds out whether it is the file's. */
  async start(): Promise<void> {
    const { digest } = this.#active;
    await this.#record(null, digest, []);
    const first = await this.#readVersion();
    if (first.version?.digest !== digest) return;
    this.#activeFile = first.digest;
    this.#agreed = digest;
  }

  isActive(digest: string): boolean {
    return digest === this.#activeFile;
  }

  async isFollowing(): Promise<boolean> {
    const { govern } = this.#options;
    // Another process may have recorded another manifest.
    return govern === undefined || (await govern.record.readManifest())?.digest === this.#active.digest;
  }

  async reload(): Promise<void> {
    const read = await this.#readVersion();
    if (read.version === undefined) return this.#reject(read.digest, read.problems);
    const chosen = await this.#choose(read.version);
    const problems = await this.#activate(chosen);
    this.#activeFile = chosen.digest === read.version.digest ? read.digest : undefined;
    const wasRejected = this.#rejected !== undefined;
    this.#rejected = undefined;
    if (problems.length > 0) await this.#notify('active-with-problems', problems);
    else if (wasRejected) await this.#notify('valid-again', []);
  }

  moduleFiles(): readonly string[] | undefined {
    return this.#options.toolbox.moduleFiles();
  }

  /** Loads modules whose files have changed; one with errors keeps the tools it had, and the admins are told once. */
  async reloadModules(): Promise<void> {
    const { toolbox } = this.#options;
    const { digest } = this.#active;
    await this.#tellModules(await toolbox.reloadModules((loaded) => this.#recordModules(digest, loaded)));
  }

  #recordModules(digest: string, loaded: readonly ModuleChange[]): Promise<void> {
    const modules = Object.fromEntries(loaded.map((module) => [module.name, module.digest]));
    const changed = loaded.map(({ name }) => `tools.${name}`);
    return this.#record(digest, digest, changed, { modules });
  }

  async #tellModules(changes: readonly ModuleChange[]): Promise<void> {
    const { logger } = this.#options;
    for (const { name, file: about, problems, hadProblems } of changes) {
      if (problems.length > 0) await this.#notify('rejected', problems, about);
      else {
        logger.info({ file: about, tool: name }, 'module reloaded');
        if (hadProblems) await this.#notify('valid-again', [], about);
      }
    }
  }

  async #readVersion(): Promise<FileVersion> {
    const { file, readEnvironment } = this.#options;
    const text = await readText(file);
    if (text === undefined) return { digest: '', problems: [`${file} cannot be read`] };
    const lock = await readLockText(dirname(resolve(file)));
    const digest = manifestDigest(text, lock);
    const parsed = parseManifest(text, { file, environment: readEnvironment() });
    if (!parsed.ok) return { digest, problems: parsed.problems.map(formatProblem) };
    if (parsed.placeholders.length > 0) return { digest, problems: parsed.placeholders.map(formatProblem) };
    return { digest, version: versionOf(parsed, lock) };
  }

  async #reject(digest: string, problems: readonly string[]): Promise<void> {
    const { file, logger } = this.#options;
    if (this.#rejected === digest) return;
    this.#rejected = digest;
    logger.error({ file, problems }, 'manifest rejected, previous version stays active');
    await this.#notify('rejected', problems);
  }

  /** Chooses the manifest to use, and asks people about one of the file that has to wait. */
  async #choose(written: ManifestVersion): Promise<ManifestVersion> {
    const { file, govern, readEnvironment, logger } = this.#options;
    if (govern === undefined) return written;
    const isAgreed = written.digest === this.#agreed;
    const chosen = await chooseManifest(govern.record, written, readEnvironment(), isAgreed);
    if (chosen.held === undefined) {
      this.#agreed = written.digest;
      this.#held = undefined;
      return chosen.version;
    }
    await govern.onHeld(chosen.held);
    if (this.#held !== written.digest) {
      this.#held = written.digest;
      logger.warn({ file, ...chosen.held }, 'manifest waits for approval');
      await this.#notify('held', []);
    }
    return chosen.version;
  }

  /** Activates a manifest, once it is recorded, unless it is active; returns the problems that came with it. */
  async #activate(version: ManifestVersion): Promise<readonly string[]> {
    const { file, toolbox, secrets, logger } = this.#options;
    const { digest: old, lock } = this.#active;
    if (version.digest === old) return [];
    const changed = changedParts(toolbox.manifest, version.manifest);
    if (version.lock !== lock) changed.push(LOCK_FILE);
    await this.#record(old, version.digest, changed);
    for (const secret of version.secrets) secrets.add(secret);
    const known = toolbox.problems();
    const modules = await toolbox.replace(version.manifest, { text: version.lock }, (loaded) =>
      this.#recordModules(version.digest, loaded),
    );
    this.#active = version;
    logger.info({ file, old, new: version.digest, changed }, 'manifest reloaded');
    await this.#tellModules(modules);
    return toolbox.problems().filter((problem) => !known.includes(problem));
  }

  async #record(
    old: string | null,
    next: string,
    changed: readonly string[],
    modules: JsonObject = {},
  ): Promise<void> {
    const { file, store } = this.#options;
    const change = { old, new: next, changed, ...modules, host: hostname(), ...(await ownerOf(file)) };
    // All processes on one machine write the same id, so the change is recorded once.
    await store.note(`${EVENT}-${manifestDigest(JSON.stringify(change))}`, EVENT, basename(file), change);
  }

  async #notify(
    outcome: ReloadNotice['outcome'],
    problems: readonly string[],
    about = this.#options.file,
  ): Promise<void> {
    try {
      await this.#options.onNotice({ outcome, file: about, problems });
    } catch (err) {
      this.#options.logger.error({ err }, 'admins not notified');
    }
  }
}

/** Names the parts that differ, without their values. */
function changedParts(former: Manifest, next: Manifest): string[] {
  const before = partsOf(former);
  const after = partsOf(next);
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.filter((name) => before.get(name) !== after.get(name));
}

function partsOf({
  slack,
  agent,
  policies,
  tools,
  callers,
  audit,
  page,
}: Manifest): ReadonlyMap<string, string> {
  const parts: [string, unknown][] = [
    ['slack', slack],
    ['agent', agent],
    ['audit', audit],
    ['page', page ?? null],
    ...[...policies].map(([name, policy]): [string, unknown] => [`policies.${name}`, policy]),
    ...tools.map((tool): [string, unknown] => [`tools.${tool.name}`, tool]),
    ...[...callers].map(([name, caller]): [string, unknown] => [`callers.${name}`, caller]),
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

interface WatchOptions {
  readonly file: string;
  readonly logger: Logger;
  /** The time that the file must stay the same before it is read: editors write in several steps. */
  readonly quietMs?: number;
  /** The interval of checks for file systems that report no changes, such as some mounted folders. */
  readonly pollMs?: number;
  /** The interval in which the files of modules are looked at; a change must stay the same for as long. */
  readonly modulePollMs?: number;
}

interface ManifestWatch {
  /** Reads the file now; resolves when its manifest is active or rejected. */
  reload(): Promise<void>;
  /** Ends the watch, after a reload that is under way. */
  close(): Promise<void>;
}

const QUIET_MS = 250;
const POLL_MS = 15_000;
const MODULE_POLL_MS = 2000;

/** The manifest and the modules that a watch keeps up to date. */
interface Watched {
  isActive(digest: string): boolean;
  isFollowing(): Promise<boolean>;
  reload(): Promise<void>;
  moduleFiles(): readonly string[] | undefined;
  reloadModules(): Promise<void>;
}

/** Reloads the file whenever something in its folder changes, and at intervals; one reload at a time. */
function watchFile(
  { file, logger, quietMs = QUIET_MS, pollMs = POLL_MS, modulePollMs = MODULE_POLL_MS }: WatchOptions,
  manifest: Watched,
): ManifestWatch {
  let reloading = Promise.resolve();
  let isClosed = false;
  let scheduled: NodeJS.Timeout | undefined;
  let lastSeen: string | undefined;

  const next = (work: () => Promise<void>): Promise<void> => {
    reloading = reloading.then(async () => {
      if (isClosed) return;
      await work().catch((err) => {
        logger.error({ err, file }, 'manifest reload failed, will be retried');
      });
    });
    return reloading;
  };
  const reload = (): Promise<void> => next(() => manifest.reload());
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
  const modules = watchModules(manifest, modulePollMs, next);
  return {
    reload,
    async close() {
      isClosed = true;
      modules.close();
      clearTimeout(scheduled);
      clearInterval(polling);
      watcher?.close();
      await reloading;
    },
  };
}

/**
 * Looks at the files of modules at intervals, wherever they are, and reloads what has changed and then stayed the same for an interval.
 * At rest it reads no file, only their times and sizes.
 */
function watchModules(
  manifest: Watched,
  pollMs: number,
  next: (work: () => Promise<void>) => Promise<void>,
): { close(): void } {
  let seen: string | undefined;
  let loaded: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    const files = manifest.moduleFiles();
    const found = await Promise.all([...new Set(files)].map(versionOfFile));
    const now = found.join('\n');
    if (files === undefined || (now !== loaded && now === seen))
      await next(async () => {
        await manifest.reloadModules();
        loaded = now;
      });
    seen = now;
  };
  const polling = setInterval(() => {
    if (isLooking) return;
    isLooking = true;
    void look().finally(() => {
      isLooking = false;
    });
  }, pollMs);
  polling.unref();
  return { close: () => clearInterval(polling) };
}

async function versionOfFile(file: string): Promise<string> {
  return stat(file).then(
    ({ mtimeMs, ctimeMs, size, ino }) => [file, mtimeMs, ctimeMs, size, ino].join(' '),
    () => `${file} -`,
  );
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

async function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch(() => undefined);
}
