const OAUTH = 'not built: OAuth; a server takes a token from `headers`';

const HELD =
  'takes only `accept` as the first response; a held call cannot wait for days, so it is told `cancel` ("User dismissed without making an explicit choice") and made again with the answer';

/** Returns why a scenario fails, or nothing for one that has to pass. */
export function exceptionFor(scenario: string): string | undefined {
  if (scenario === 'elicitation-sep1034-client-defaults') return HELD;
  return scenario.startsWith('auth/') ? OAUTH : undefined;
}
