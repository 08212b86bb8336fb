import { createHook, executionAsyncId } from 'node:async_hooks';
import { fileURLToPath } from 'node:url';

/** A function of the source that led to a place in the code. */
export interface Caller {
  readonly name: string;
  /** Its file, from the root of the repository. */
  readonly file: string;
}

interface Origin {
  readonly parent: number;
  readonly callers: readonly Caller[];
}

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));
const FOLLOWED = ['PROMISE', 'Timeout', 'Immediate', 'TickObject', 'Microtask'];

/** Keeps for each promise and timer which functions of the source made it, so that the callers of a function are known across `await`. */
export class CallTrace {
  readonly #origins = new Map<number, Origin>();
  readonly #hook = createHook({
    init: (id, type) => {
      if (FOLLOWED.includes(type))
        this.#origins.set(id, { parent: executionAsyncId(), callers: callersNow() });
    },
  });

  start(): void {
    this.#hook.enable();
  }

  stop(): void {
    this.#hook.disable();
    this.#origins.clear();
  }

  /** Lists the named functions of the source that led here, the first one first; a function is listed once. */
  callers(): readonly Caller[] {
    const found = [...callersNow()];
    let id = executionAsyncId();
    for (;;) {
      const origin = this.#origins.get(id);
      if (origin === undefined) break;
      found.push(...origin.callers);
      id = origin.parent;
    }
    const first = new Map(found.map((caller) => [`${caller.file} ${caller.name}`, caller]));
    return [...first.values()].reverse();
  }
}

function callersNow(): readonly Caller[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  const holder: { stack?: readonly NodeJS.CallSite[] } = {};
  Error.stackTraceLimit = 100;
  Error.prepareStackTrace = (_error, sites) => sites;
  Error.captureStackTrace(holder, callersNow);
  const sites = holder.stack ?? [];
  Error.prepareStackTrace = prepareStackTrace;
  Error.stackTraceLimit = stackTraceLimit;
  return sites.flatMap((site) => {
    const file = (site.getFileName() ?? '').replace(/^file:\/\//, '');
    const name = site.getFunctionName() ?? '';
    // The frames behind an `await` come from the hook, in order. A function without a name belongs to the one around it.
    const isNamed = /^#?\w+$/.test(name);
    if (!file.startsWith(SOURCE) || !isNamed || site.isAsync()) return [];
    return [{ name, file: `src/${file.slice(SOURCE.length)}` }];
  });
}
