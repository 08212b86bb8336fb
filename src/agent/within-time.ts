import { createContext, Script } from 'node:vm';

const context = createContext({ work: () => {} });
const script = new Script('work()');

/**
 * Does work that ends by itself or is ended, also in the middle of a regular expression; `undefined` says that it was ended.
 * The work must leave nothing half done behind: it is cut off wherever it is.
 */
export function withinTime<Result>(
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

/** Not `instanceof`: it is an error of the other context. */
function isTimeout(error: unknown): boolean {
  const isObject = typeof error === 'object' && error !== null;
  return isObject && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
