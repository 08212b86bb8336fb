import { createHash } from 'node:crypto';
import { changeKey, type PolicyChange } from '../toolbox/policy-change.ts';
import { compareManifests, weakeningsIn } from './compare/compare-manifests.ts';
import type { Environment } from './environment.ts';
import type { Manifest } from './manifest.ts';
import { parseManifest } from './parse.ts';
import { formatProblem } from './problem.ts';

/** A valid manifest with its text and the lock file beside it. */
export interface ManifestVersion {
  readonly digest: string;
  readonly text: string;
  readonly lock: string | undefined;
  readonly manifest: Manifest;
  readonly secrets: readonly string[];
}

interface Recorded {
  readonly digest: string;
  readonly text: string;
  readonly lock: string | undefined;
  readonly isGoverned: boolean;
}

/** The record of the manifest that all processes agree on. */
export interface ManifestRecord {
  readManifest(): Promise<(Recorded & { readonly approved: string | undefined }) | undefined>;
  recordManifest(former: string | undefined, next: Recorded): Promise<'recorded' | 'changed'>;
}

/** The manifest to use: the one of the file, or the recorded one while the file's waits for approval. */
export interface ChosenManifest {
  readonly version: ManifestVersion;
  /** The change that needs approval before the file's manifest is used. */
  readonly held?: PolicyChange;
}

const MAX_RACES = 10;

/**
 * Chooses between the manifest of the file and the one on record. Without a record the file's is taken and recorded. Where the recorded
 * one says who must approve changes, the file's takes its place only if it is not weaker, or if exactly this change was approved.
 */
export async function chooseManifest(
  record: ManifestRecord,
  file: ManifestVersion,
  environment: Environment,
): Promise<ChosenManifest> {
  for (let races = 0; races < MAX_RACES; races += 1) {
    const recorded = await record.readManifest();
    if (recorded?.digest === file.digest) return { version: file };
    const former = recorded?.isGoverned === true ? parseRecorded(recorded, environment) : undefined;
    const held = former && changeFrom(former, file);
    if (former !== undefined && held !== undefined && recorded?.approved !== changeKey(held))
      return { version: former, held };
    const { digest, text, lock, manifest } = file;
    const isGoverned = manifest.agent.policyChanges !== undefined;
    const next = { digest, text, lock, isGoverned };
    if ((await record.recordManifest(recorded?.digest, next)) === 'recorded') return { version: file };
  }
  throw new Error('The manifest on record kept changing');
}

/** Describes the change from one manifest to another if it makes anything weaker. */
function changeFrom(former: ManifestVersion, next: ManifestVersion): PolicyChange | undefined {
  const weaker = weakeningsIn(compareManifests(former, next)).map(({ part, words }) => `${part}: ${words}`);
  return weaker.length === 0 ? undefined : { from: former.digest, to: next.digest, weaker };
}

/**
 * Parses the manifest on record. It was valid once; if this version or this environment cannot read it, nobody can tell what it allowed,
 * and it throws.
 */
export function parseRecorded({ digest, text, lock }: Recorded, environment: Environment): ManifestVersion {
  const parsed = parseManifest(text, { file: 'the recorded manifest', environment });
  if (parsed.ok) return { digest, text, lock, manifest: parsed.manifest, secrets: parsed.secrets };
  const problems = parsed.problems.map(formatProblem);
  throw new UnreadableManifestError(digest, problems, variablesAtFault(text, environment));
}

/** The manifest on record cannot be read, so nobody can tell whether the file's is weaker. */
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
