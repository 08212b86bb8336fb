const HELD =
  'takes only `accept` as the first response; a held call cannot wait for days, so it is told `cancel` ("User dismissed without making an explicit choice") and made again with the answer';

/** A scenario that fails, and why. */
export interface Exception {
  readonly reason: string;
  /** Matches the only checks that may fail; without it any may. */
  readonly failing?: RegExp;
}

const EXCEPTIONS: ReadonlyMap<string, Exception> = new Map([
  ['elicitation-sep1034-client-defaults', { reason: HELD }],
]);

/** Returns why a scenario fails, or nothing for one that has to pass. */
export function exceptionFor(scenario: string): Exception | undefined {
  return EXCEPTIONS.get(scenario);
}
