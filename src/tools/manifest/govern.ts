import { createHash, hash } from 'node:crypto';
import { diffArrays } from 'diff';
import { z } from 'zod';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toJson,
  tryParseJson,
} from '../../agent/json.ts';
import type { Environment } from './environment.ts';
import type { Manifest } from './manifest.ts';
import { type ParsedManifest, parseManifest } from './parse.ts';
import { formatProblem } from './problem.ts';
import { LOCK_FILE } from './tool-lock.ts';

export const PolicyChange = z.object({
  /** The digests of the manifest that is active and of the changed one. */
  from: z.string(),
  to: z.string(),
  /** The lines of the governed part that differ. */
  diff: z.string().min(1),
});
/** A changed manifest that waits for approval. */
export type PolicyChange = Readonly<z.infer<typeof PolicyChange>>;

/** Computes the key of a change. It covers the lines, so that an approval of other lines is no approval. */
export function changeKey({ from, to, diff }: PolicyChange): string {
  return hash('sha256', canonicalJson({ from, to, diff }));
}

/** A valid manifest with the text that is put on record, and the lock file beside it. */
export interface ManifestVersion extends ManifestText {
  /** Covers the values of the environment but the secrets. */
  readonly digest: string;
  readonly manifest: Manifest;
  readonly secrets: readonly string[];
}

interface Recorded extends ManifestText {
  readonly digest: string;
  readonly isGoverned: boolean;
}

/** Makes a version of a parsed manifest and the lock file beside it. */
export function versionOf(
  { text, manifest, secrets }: Extract<ParsedManifest, { ok: true }>,
  lock: string | undefined,
): ManifestVersion {
  return { digest: manifestDigest(text, lock), text, lock, manifest, secrets };
}

/** Returns what is put on record of a version. */
export function recordOf({ digest, text, lock, manifest }: ManifestVersion): Recorded {
  return { digest, text, lock, isGoverned: manifest.agent.policyChanges !== undefined };
}

/** The record of the manifest that all processes agree on. */
export interface ManifestRecord {
  readManifest(): Promise<(Recorded & { readonly approved: string | undefined }) | undefined>;
  recordManifest(former: string | undefined, next: Recorded): Promise<'recorded' | 'changed'>;
}

/** The manifest to use: the one of the file, or the recorded one while the file's waits for approval. */
interface ChosenManifest {
  readonly version: ManifestVersion;
  /** The change that needs approval before the file's manifest is used. */
  readonly held?: PolicyChange;
}

const MAX_RACES = 10;

/**
 * Chooses between the manifest of the file and the one on record. Without a record the file's is taken and recorded. Where the recorded
 * one says who must approve changes, the file's takes its place only if their governed parts are the same, or if exactly this change was
 * approved. A file that was active before and has not changed since asks nobody: then another process has changed the record.
 */
export async function chooseManifest(
  record: ManifestRecord,
  file: ManifestVersion,
  environment: Environment,
  wasActive = false,
): Promise<ChosenManifest> {
  for (let races = 0; races < MAX_RACES; races += 1) {
    const recorded = await record.readManifest();
    if (recorded?.digest === file.digest) return { version: file };
    const former = recorded?.isGoverned === true ? parseRecorded(recorded, environment) : undefined;
    if (former !== undefined && wasActive) return { version: former };
    const held = former && changeFrom(former, file);
    if (former !== undefined && held !== undefined && recorded?.approved !== changeKey(held))
      return { version: former, held };
    if ((await record.recordManifest(recorded?.digest, recordOf(file))) === 'recorded')
      return { version: file };
  }
  throw new Error('The manifest on record kept changing');
}

function changeFrom(former: ManifestVersion, next: ManifestVersion): PolicyChange | undefined {
  const diff = governedDiff(former, next);
  return diff === undefined ? undefined : { from: former.digest, to: next.digest, diff };
}

/**
 * Parses the manifest on record. It was valid once; if this version or this environment cannot read it, nobody can tell what it allowed,
 * and it throws.
 */
export function parseRecorded({ digest, text, lock }: Recorded, environment: Environment): ManifestVersion {
  const parsed = parseManifest(text, { file: 'the recorded manifest', environment });
  if (parsed.ok) return { ...versionOf(parsed, lock), digest };
  const problems = parsed.problems.map(formatProblem);
  throw new UnreadableManifestError(digest, problems, variablesAtFault(text, environment));
}

/** The manifest on record cannot be read, so nobody can tell what the file's would change. */
export class UnreadableManifestError extends Error {
  override readonly name = 'UnreadableManifestError';
  /** The variables of the environment that alone are at fault; without them this version is. */
  readonly variables: readonly string[];

  constructor(digest: string, problems: readonly string[], variables: readonly string[]) {
    const wayOut =
      variables.length > 0
        ? `Set these environment variables again: ${variables.join(', ')}.`
        : 'Either run the previous version and change the manifest until this version accepts it, or accept the current file (recorded in the audit log): countersign manifest adopt --reason "..."';
    super(
      `the recorded manifest (${digest.slice(0, 12)}) requires approval for changes, but it can't be read:\n${problems.join('\n')}\n${wayOut}`,
    );
    this.variables = variables;
  }
}

/** Fits most places where a value of the environment may be. */
const STAND_INS = ['https://example.com', 'example.com'];

/** Lists the variables that alone keep a text from being a valid manifest; none if it has other errors. */
function variablesAtFault(text: string, environment: Environment): string[] {
  const names = [...new Set([...text.matchAll(/\$\{(\w+)\}/g)].flatMap(([, name]) => name ?? []))];
  const isValid = STAND_INS.some((standIn) => {
    const filled = { ...environment, ...Object.fromEntries(names.map((name) => [name, standIn])) };
    return parseManifest(text, { file: '', environment: filled }).ok;
  });
  if (!isValid) return [];
  const unset = names.filter((name) => (environment[name] ?? '') === '');
  return unset.length > 0 ? unset : names;
}

/** Computes the digest of a manifest, together with its lock file if there is one. */
export function manifestDigest(text: string, lock?: string): string {
  const whole = lock === undefined ? text : `${text}\n${lock}`;
  return createHash('sha256').update(whole).digest('hex');
}

/** A manifest without its secrets as JSON, and the lock file beside it. */
interface ManifestText {
  readonly text: string;
  readonly lock: string | undefined;
}

/** The sections that decide nothing about who approves what: the app at Slack, and how long ended requests are kept. */
const FREE_SECTIONS: ReadonlySet<string> = new Set(['slack', 'retention']);
/** The keys of the agent that give nobody a right: the model, its words and its limits. All others are governed. */
const FREE_KEYS: ReadonlySet<string> = new Set([
  'model',
  'instructions',
  'max_steps',
  'context',
  'files',
  'feedback',
  'cards',
  'limits',
]);

/** A value of the governed part, or an item of a list with all that is in it, such as a rule. */
interface Piece {
  /** Stands for the content; that of an item has no place in the list. */
  readonly content: string;
  readonly lines: readonly string[];
}

/**
 * Writes the governed part of a manifest, which decides who approves what, and when: one line for each value, with its whole path, so
 * that a changed line says where it is. The order is that of the file, since it counts for rules and tools.
 */
function governedPieces({ text, lock }: ManifestText): readonly Piece[] {
  const written = toJson(tryParseJson(text));
  const { agent, ...sections } = without(isJsonObject(written) ? written : {}, FREE_SECTIONS);
  const parts: JsonObject = {
    ...(isJsonObject(agent) && { agent: without(agent, FREE_KEYS) }),
    ...sections,
    ...(lock !== undefined && { [LOCK_FILE]: toJson(tryParseJson(lock) ?? lock) }),
  };
  return Object.entries(parts)
    .filter(([, part]) => !isEmpty(part))
    .flatMap(([name, part]) => piecesOf(name, part));
}

/** More edits than these are shown as everything removed and everything added. */
const MAX_EDITS = 2_000;

/**
 * Lists the lines of the governed part that differ, with `- ` or `+ ` before each; `undefined` if none does. An item that moved only
 * because others were added or removed before it has not changed.
 */
export function governedDiff(former: ManifestText, next: ManifestText): string | undefined {
  const [before, after] = [governedPieces(former), governedPieces(next)];
  const parts = diffArrays([...before], [...after], {
    comparator: (one, other) => one.content === other.content,
    maxEditLength: MAX_EDITS,
  });
  if (parts === undefined) return marked(linesIn(before), linesIn(after));
  const changed = parts.filter(({ added, removed }) => added || removed);
  if (changed.length === 0) return undefined;
  return parts
    .flatMap(({ value, added, removed }, index) => {
      if (added) return parts[index - 1]?.removed === true ? [] : [marked([], linesIn(value))];
      if (!removed) return [];
      const following = parts[index + 1];
      const replacing = following?.added === true ? following.value : [];
      return [
        replacing.length === value.length
          ? lineDiff(linesIn(value), linesIn(replacing))
          : marked(linesIn(value), linesIn(replacing)),
      ];
    })
    .join('\n');
}

/** Compares as many items as took the place of others, line by line. */
function lineDiff(before: string[], after: string[]): string {
  return diffArrays(before, after)
    .filter(({ added, removed }) => added || removed)
    .map(({ value, added }) => (added ? marked([], value) : marked(value, [])))
    .join('\n');
}

function linesIn(pieces: readonly Piece[]): string[] {
  return pieces.flatMap(({ lines }) => lines);
}

function marked(removed: readonly string[], added: readonly string[]): string {
  return [...removed.map((line) => `- ${line}`), ...added.map((line) => `+ ${line}`)].join('\n');
}

function without(written: JsonObject, keys: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(written).filter(([key]) => !keys.has(key)));
}

function isEmpty(value: JsonValue): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function piecesOf(path: string, value: JsonValue): readonly Piece[] {
  if (isJsonObject(value) && !isEmpty(value))
    return Object.entries(value).flatMap(([key, entry]) => piecesOf(`${path}.${nameText(key)}`, entry));
  if (Array.isArray(value) && !value.every(isScalar))
    return value.map((item, index) => ({
      content: `${path}[]: ${JSON.stringify(item)}`,
      lines: linesOf(`${path}[${index}]`, item),
    }));
  const lines = linesOf(path, value);
  return [{ content: lines.join('\n'), lines }];
}

function linesOf(path: string, value: JsonValue): string[] {
  if (isEmpty(value) || isScalar(value)) return [`${path}: ${scalarText(value)}`];
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, entry]) => linesOf(`${path}.${nameText(key)}`, entry));
  if (!Array.isArray(value)) return [];
  if (value.every(isScalar)) return [`${path}: [${value.map(scalarText).join(', ')}]`];
  return value.flatMap((item, index) => linesOf(`${path}[${index}]`, item));
}

function isScalar(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}

const BARE = /^(?!(?:true|false|null)$)[A-Za-z][\w.:/@*-]*$/;

function scalarText(value: JsonValue): string {
  return typeof value === 'string' && BARE.test(value) ? value : JSON.stringify(value);
}

function nameText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}
