import { createHash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, resolve } from 'node:path';
import type { Logger } from 'pino';
import { canonicalJson, type JsonObject, toJson } from '../../agent/json.ts';
import type { Secrets } from '../secrets.ts';
import type { OpenToolbox } from '../toolbox/open-toolbox.ts';
import type { Manifest } from './manifest.ts';
import { parseManifest } from './parse.ts';
import { formatProblem } from './problem.ts';

/** What the admins are told: a manifest that was refused, or one that was taken over although not all of its tools work. */
export interface ManifestTrouble {
  readonly outcome: 'refused' | 'taken-over';
  readonly file: string;
  readonly problems: readonly string[];
}

export interface WatchedManifest {
  readonly file: string;
  /** The text that the toolbox was opened with, so that a change before the watch begins is not missed. */
  readonly text: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly toolbox: OpenToolbox;
  readonly secrets: Secrets;
  /** Notes a change on record; the same id is noted once. */
  readonly store: {
    note(id: string, event: string, subject: string, detail: JsonObject): Promise<unknown>;
  };
  readonly logger: Logger;
  readonly onProblem: (trouble: ManifestTrouble) => void | Promise<void>;
  /** For how long the file must stay the same before it is taken: an editor writes in several steps. */
  readonly quietMs?: number;
  /** How often the file is looked at where the system reports no changes, as on some mounted folders. */
  readonly lookEveryMs?: number;
}

export interface ManifestWatch {
  /** Takes the file as it is now, and resolves when it is taken over or refused. */
  look(): Promise<void>;
  /** Ends the watch, after the change that is being taken over. */
  close(): Promise<void>;
}

const QUIET_MS = 250;
const LOOK_EVERY_MS = 15_000;
const EVENT = 'configured';

/**
 * Takes a changed manifest over without a restart. A bad one is refused and told, and the good one stays. A good one is on record
 * before it holds: while the record cannot be written, nothing changes.
 */
export async function watchManifest(watched: WatchedManifest): Promise<ManifestWatch> {
  const { file, environment, toolbox, secrets, store, logger } = watched;
  let holding = digestOf(watched.text);
  let refused: string | undefined;

  async function note(old: string | null, next: string, changed: readonly string[]): Promise<void> {
    const change = { old, new: next, changed, host: hostname(), ...(await ownerOf(file)) };
    // Processes of one machine that read the same file say the same, and it is noted once.
    await store.note(`${EVENT}-${digestOf(JSON.stringify(change))}`, EVENT, basename(file), change);
  }

  async function tell(outcome: ManifestTrouble['outcome'], problems: readonly string[]): Promise<void> {
    try {
      await watched.onProblem({ outcome, file, problems });
    } catch (err) {
      logger.error({ err }, 'the admins could not be told of trouble with the manifest');
    }
  }

  async function refuse(found: string, problems: readonly string[]): Promise<void> {
    if (refused === found) return;
    refused = found;
    logger.error({ file, problems }, 'the changed manifest is refused; the one before it stays');
    await tell('refused', problems);
  }

  async function takeOver(): Promise<void> {
    const text = await readText(file);
    if (text === undefined) return refuse('', [`${file} cannot be read`]);
    const [old, next] = [holding, digestOf(text)];
    if (next === old) {
      refused = undefined;
      return;
    }
    const parsed = parseManifest(text, { file, environment });
    if (!parsed.ok) return refuse(next, parsed.problems.map(formatProblem));
    if (parsed.placeholders.length > 0) return refuse(next, parsed.placeholders.map(formatProblem));
    const changed = changedParts(toolbox.manifest, parsed.manifest);
    await note(old, next, changed);
    for (const secret of parsed.secrets) secrets.add(secret);
    const known = toolbox.problems();
    await toolbox.replace(parsed.manifest);
    holding = next;
    refused = undefined;
    logger.info({ file, old, new: next, changed }, 'a changed manifest is taken over');
    const problems = toolbox.problems().filter((problem) => !known.includes(problem));
    if (problems.length > 0) await tell('taken-over', problems);
  }

  await note(null, holding, []);
  return keepLooking(watched, { isHolding: (digest) => digest === holding, takeOver });
}

/** Looks at the file whenever something in its folder changes, and now and then; one look at a time. */
function keepLooking(
  { file, logger, quietMs = QUIET_MS, lookEveryMs = LOOK_EVERY_MS }: WatchedManifest,
  manifest: { isHolding(digest: string): boolean; takeOver(): Promise<void> },
): ManifestWatch {
  let working = Promise.resolve();
  let isClosed = false;
  let soon: NodeJS.Timeout | undefined;
  let seen: string | undefined;

  const look = (): Promise<void> => {
    working = working.then(async () => {
      if (isClosed) return;
      await manifest.takeOver().catch((err) => {
        logger.error({ err, file }, 'a changed manifest could not be taken over; it is tried again');
      });
    });
    return working;
  };
  const lookTwice = async (): Promise<void> => {
    soon = undefined;
    const text = await readText(file);
    const digest = text === undefined ? '' : digestOf(text);
    if (isClosed || manifest.isHolding(digest)) seen = undefined;
    // Other files of the folder may change all the time, so it is the text that must be quiet and not the folder.
    else if (digest === seen) await look();
    else lookSoon();
    seen = digest;
  };
  const lookSoon = (): void => {
    if (isClosed) return;
    soon ??= setTimeout(() => void lookTwice(), quietMs);
  };

  const watcher = watchFolder(dirname(resolve(file)), lookSoon, logger);
  const looking = setInterval(lookSoon, lookEveryMs);
  looking.unref();
  lookSoon();
  return {
    look,
    async close() {
      isClosed = true;
      clearTimeout(soon);
      clearInterval(looking);
      watcher?.close();
      await working;
    },
  };
}

/** The folder and not the file: editors and deployments put a new file, or a new link, in the place of the old one. */
function watchFolder(folder: string, onChange: () => void, logger: Logger): FSWatcher | undefined {
  const giveUp = (err: unknown): void =>
    logger.warn({ err, folder }, 'changes of the manifest are not reported; it is looked at now and then');
  try {
    return watch(folder, { persistent: false }, onChange).on('error', giveUp);
  } catch (err) {
    giveUp(err);
    return undefined;
  }
}

/** Names what differs, and repeats no value of it. */
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

/** Who could have changed it, as far as the file tells. */
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

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
