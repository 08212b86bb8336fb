import { z } from 'zod';
import type { NewRequest, RequestRecord, Store } from '../store/port/store.ts';

/** The part of a request that logs, metrics and traces name. It holds no content. */
export interface RequestFacts {
  readonly requestId: string;
  readonly threadId: string;
  readonly kind: string;
  readonly tool: string;
  readonly policy: string;
  readonly requester: string;
  readonly createdAt: number;
  readonly decidedAt: number | undefined;
  readonly state: string;
  /** The votes on record, as `decision person`. */
  readonly votes: readonly string[];
  readonly trace: string | undefined;
}

const MAX_KNOWN = 2_000;
const NONE = 'none';

const Shown = z.object({
  interrupt: z
    .object({ toolRequest: z.object({ name: z.string() }) })
    .optional()
    .catch(undefined),
  policy: z.object({ name: z.string() }).optional().catch(undefined),
});

/** Remembers the facts of the requests that this process has met lately, so that watching them costs no look-ups. */
export class KnownRequests {
  readonly #store: Pick<Store, 'load'>;
  readonly #known = new Map<string, RequestFacts>();

  constructor(store: Pick<Store, 'load'>) {
    this.#store = store;
  }

  /** Returns the facts of a request, from the record if it is new here; `undefined` if it cannot be read. */
  async find(requestId: string): Promise<RequestFacts | undefined> {
    const known = this.#known.get(requestId);
    if (known !== undefined) return known;
    const loaded = await this.#store.load(requestId).catch(() => undefined);
    return loaded?.outcome === 'found' ? this.keep(factsOf(loaded.request)) : undefined;
  }

  keep(facts: RequestFacts): RequestFacts {
    this.#known.delete(facts.requestId);
    this.#known.set(facts.requestId, facts);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    return facts;
  }
}

export function factsOf(request: RequestRecord): RequestFacts {
  const { id, threadId, kind, requester, createdAt, decidedAt, state, votes, trace } = request;
  return {
    ...{ requestId: id, threadId, kind, requester, createdAt, decidedAt, state, trace },
    ...shownIn(request),
    votes: votes.map(({ decision, who }) => `${decision} ${who}`),
  };
}

export function factsOfNew(request: NewRequest, threadId: string): RequestFacts {
  const { id, kind, requester, trace, unsigned = false } = request;
  const [createdAt, state] = [Date.now(), unsigned ? 'unknown' : 'pending'];
  return {
    ...{ requestId: id, threadId, kind, requester, createdAt, decidedAt: undefined, state, trace },
    ...shownIn(request),
    votes: [],
  };
}

function shownIn({ details }: Pick<NewRequest, 'details'>): Pick<RequestFacts, 'tool' | 'policy'> {
  const { interrupt, policy } = Shown.safeParse(details).data ?? {};
  return { tool: interrupt?.toolRequest.name ?? NONE, policy: policy?.name ?? NONE };
}
