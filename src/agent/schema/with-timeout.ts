import { createContext, Script } from 'node:vm';

const context = createContext({ work: () => {} });
const script = new Script('work()');

/**
 * Runs synchronous work with a time limit that holds even inside a regular expression; `undefined` means that the limit was reached.
 * The work is cut off anywhere, so it must not leave state half written.
 */
export function withTimeout<Result>(
  work: () => Result,
  limitMs: number,
): { readonly result: Result } | undefined {
  let done: { readonly result: Result } | undefined;
  context.work = () => {
    done = { result: work() };
  };
  try {
    script.runInContext(context, { timeout: limitMs });
    return done;
  } catch (error) {
    if (isTimeout(error)) return undefined;
    throw error;
  } finally {
    context.work = () => {};
  }
}

/** Avoids `instanceof`: the error belongs to the other context. */
function isTimeout(error: unknown): boolean {
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
