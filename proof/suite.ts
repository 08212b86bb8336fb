/** The result of a suite: each case passed, failed for a listed reason, or failed unexpectedly. */
export interface Tally {
  passed: number;
  /** The number of failed cases of each reason. */
  readonly listed: Map<string, number>;
  /** The failed cases without a reason; each is a defect. */
  readonly unexpected: string[];
}

/** The options that name a folder from which suites come. */
export const GIVEN = [
  'json-schema',
  'bipia',
  'purplellama',
  'bolt-js',
  'java-slack-sdk',
  'vercel-chat',
  'python-slack-sdk',
  'aisvs',
  'agentdojo',
] as const;
export type Given = (typeof GIVEN)[number];

export interface RunOptions {
  /** Runs the cases against a subject with a known hole, which the suite must notice. */
  readonly isLoosened: boolean;
  /** The checkout that the suite comes from; empty for a suite from a package. */
  readonly folder: string;
}

/** A suite that others wrote. */
export interface Suite {
  readonly name: string;
  /** The package and version, or what to check out. */
  readonly source: string;
  run(options: RunOptions): Promise<Tally>;
  /** The hole of the loosened subject. */
  readonly hole: string;
  /** The option with the folder that the suite comes from, if it has to be given. */
  readonly given?: Given;
  /** The packages that have to be installed in that folder. */
  readonly needs?: string;
  /** Whether it takes longer than the rest together; it runs with `all`. */
  readonly isLong?: true;
  /** The lines of the page that only this suite has, after it has run. */
  report?(): readonly string[];
}

export function newTally(): Tally {
  return { passed: 0, listed: new Map(), unexpected: [] };
}

/** Counts one failed case. */
export function fail(tally: Tally, name: string, reason: string | undefined): void {
  if (reason === undefined) tally.unexpected.push(name);
  else tally.listed.set(reason, (tally.listed.get(reason) ?? 0) + 1);
}

/** Counts one case: passed, or failed for what is wrong. */
export function count(tally: Tally, name: string, wrong: readonly string[]): void {
  const [first] = wrong;
  if (first === undefined) tally.passed += 1;
  else fail(tally, `${name}: ${first}`, undefined);
}
