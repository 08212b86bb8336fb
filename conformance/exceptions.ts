const INPUT = 'not built: a server that asks for input gets no answer';
const OAUTH = 'not built: OAuth; a server takes a token from `headers`';

/** Returns why a scenario fails, or nothing for one that has to pass. */
export function exceptionFor(scenario: string): string | undefined {
  if (scenario.startsWith('auth/')) return OAUTH;
  return EXCEPTIONS.get(scenario);
}

const EXCEPTIONS: ReadonlyMap<string, string> = new Map([
  ['elicitation-sep1034-client-defaults', INPUT],
  ['sep-2322-client-request-state', INPUT],
]);
