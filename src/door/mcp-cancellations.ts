import type { CallerDeclaration } from '../tools/callers.ts';
import type { Door } from './door.ts';
import type { Answered } from './problems.ts';
import type { RunView } from './run-view.ts';

/** A call of an MCP client that waits for its answer. */
interface WaitingCall {
  readonly caller: CallerDeclaration;
  /** Whether it has opened the request; an identical one joins it. */
  readonly isNew: boolean;
  /** Closing the stream of the answer cancels the call, or a message with this id of the client does. */
  readonly cancelledBy: AbortSignal | string | number;
}

/** The calls that wait for one request. */
interface Waiting {
  count: number;
  isOpenedHere: boolean;
}

/** The reason on the card. */
const REASON = 'The client cancelled its call.';

/**
 * Withdraws the requests of calls that were cancelled: with the last call that waits for one, if one of them has opened it. What has
 * started goes on, and so does what was answered before, as a task or with the id of the request.
 */
export class Cancellations {
  readonly #door: Door;
  readonly #waiting = new Map<string, Waiting>();
  readonly #inWords = new Map<string, Set<AbortController>>();

  constructor(door: Door) {
    this.#door = door;
  }

  /** Waits for the answer about a request, until the client cancels its call. */
  async follow(
    id: string,
    { caller, isNew, cancelledBy }: WaitingCall,
    wait: () => Promise<Answered<RunView>>,
  ): Promise<Answered<RunView>> {
    const { signal, end } =
      cancelledBy instanceof AbortSignal
        ? { signal: cancelledBy, end: () => {} }
        : this.#listen(caller, cancelledBy);
    const waiting = this.#waiting.get(id) ?? { count: 0, isOpenedHere: false };
    this.#waiting.set(id, waiting);
    waiting.count += 1;
    waiting.isOpenedHere ||= isNew;
    let answer: Answered<RunView> | undefined;
    try {
      answer = await Promise.race([whenAborted(signal), wait()]);
    } finally {
      end();
      waiting.count -= 1;
      if (waiting.count === 0) this.#waiting.delete(id);
    }
    // A process that stops closes its streams itself, and what was asked for goes on.
    const isLast = waiting.count === 0 && waiting.isOpenedHere;
    if (signal.aborted && isLast && !this.#door.isClosed) await this.#door.withdraw(caller, id, REASON);
    return answer ?? this.#door.read(caller, id);
  }

  /** Cancels a call by its id, which is the client's: where two clients of a caller use the same one, neither is meant. */
  cancel(caller: CallerDeclaration, requestId: string | number): void {
    const [only, second] = this.#inWords.get(keyOf(caller, requestId)) ?? [];
    if (second === undefined) only?.abort();
  }

  #listen(
    caller: CallerDeclaration,
    requestId: string | number,
  ): { readonly signal: AbortSignal; readonly end: () => void } {
    const key = keyOf(caller, requestId);
    const listening = this.#inWords.get(key) ?? new Set();
    this.#inWords.set(key, listening);
    const call = new AbortController();
    listening.add(call);
    const end = (): void => {
      listening.delete(call);
      if (listening.size === 0) this.#inWords.delete(key);
    };
    return { signal: call.signal, end };
  }
}

function keyOf({ name }: CallerDeclaration, requestId: string | number): string {
  return JSON.stringify([name, requestId]);
}

function whenAborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}
