const HELD =
  'takes only `accept` as the first response; a held call cannot wait for days, so it is told `cancel` ("User dismissed without making an explicit choice") and made again with the answer';
const REGISTRATION =
  'only the check for a registration fails; specification: "Dynamic Client Registration is deprecated. New implementations should use Client ID Metadata Documents instead."';

/** A scenario that fails, and why. */
export interface Exception {
  readonly reason: string;
  /** Matches the only checks that may fail; without it any may. */
  readonly failing?: RegExp;
}

const registration: Exception = { reason: REGISTRATION, failing: /client-registration|re-registers with/ };

const EXCEPTIONS: ReadonlyMap<string, Exception> = new Map([
  ['elicitation-sep1034-client-defaults', { reason: HELD }],
  ['auth/metadata-default', registration],
  ['auth/metadata-var1', registration],
  ['auth/metadata-var2', registration],
  ['auth/metadata-var3', registration],
  ['auth/authorization-server-migration', registration],
]);

/** Returns why a scenario fails, or nothing for one that has to pass. */
export function exceptionFor(scenario: string): Exception | undefined {
  return EXCEPTIONS.get(scenario);
}
