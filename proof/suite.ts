/** The result of a suite: each case passed, failed for a listed reason, or failed unexpectedly. */
export interface Tally {
  passed: number;
  /** The number of failed cases of each reason. */
  readonly listed: Map<string, number>;
  /** The failed cases without a reason; each is a defect. */
  readonly unexpected: string[];
}

/** A suite that others wrote. */
export interface Suite {
  readonly name: string;
  /** The package and version, or what to check out. */
  readonly source: string;
  /** Runs every case; `isLoosened` runs them against a subject with a known hole, which the suite must notice. */
  run(options: { readonly isLoosened: boolean; readonly folder?: string | undefined }): Promise<Tally>;
  /** The hole of the loosened subject. */
  readonly hole: string;
  /** The option with the folder that the suite comes from, if it has to be given. */
  readonly given?: 'json-schema' | 'agentdojo';
  /** The packages that have to be installed in that folder. */
  readonly needs?: string;
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
