import { hkdfSync, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import { Sealer } from '../tools/mcp/auth/connections.ts';

const SESSION_MS = 8 * 3_600_000;
/** A person has this long to sign in at the provider. */
export const SIGN_IN_MS = 600_000;

const Session = z.object({
  who: z.string(),
  lastSignOut: z.string(),
  until: z.number(),
  /** When the person proved who they are to the provider itself, and not by an earlier sign-in there. */
  freshAt: z.number(),
});
/** A signed-in person, and the mark of their last sign-out before. The cookie holds it encrypted, so the bot keeps nothing of it. */
export type Session = Readonly<z.infer<typeof Session>>;

const Attempt = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  route: z.string(),
  isFresh: z.boolean(),
  until: z.number(),
});
/** A sign-in that was begun in this browser; it holds the PKCE verifier, so it is a secret. */
export type Attempt = Readonly<z.infer<typeof Attempt>>;

const PLACES = { session: Session, 'sign-in': Attempt } as const;
const LIFETIME_MS = { session: SESSION_MS, 'sign-in': SIGN_IN_MS } as const;
type Place = keyof typeof PLACES;

/**
 * Writes and reads the two cookies of the page. Each is encrypted for its own use with a key that only the bot can derive, ends by a time
 * that is inside it, and is sent over HTTPS or to this machine alone.
 */
export class Cookies {
  readonly #sealer: Sealer;
  readonly #prefix: string;

  constructor(secret: string, publicUrl: string) {
    const key = Buffer.from(hkdfSync('sha256', secret, '', 'countersign page cookies', 32));
    const sealer = Sealer.read(key.toString('base64'));
    if (typeof sealer === 'string') throw new Error(sealer);
    this.#sealer = sealer;
    // A browser takes this name only over HTTPS and for one host, so no neighbour of the host can plant a cookie.
    this.#prefix = publicUrl.startsWith('https://') ? '__Host-countersign' : 'countersign';
  }

  openSession(session: Omit<Session, 'until'>): string {
    return this.#write('session', { ...session, until: Date.now() + SESSION_MS });
  }

  openAttempt(attempt: Omit<Attempt, 'until'>): string {
    return this.#write('sign-in', { ...attempt, until: Date.now() + SIGN_IN_MS });
  }

  endSession(): string {
    return `${this.#nameOf('session')}=; ${ATTRIBUTES}; Max-Age=0`;
  }

  /** Returns the session that a cookie holds; `undefined` if there is none, it was changed, or its time is over. `Sessions` knows whether it ended before. */
  sessionIn(cookies: string | undefined): Session | undefined {
    return this.#read('session', Session, cookies);
  }

  attemptIn(cookies: string | undefined): Attempt | undefined {
    return this.#read('sign-in', Attempt, cookies);
  }

  #nameOf(place: Place): string {
    return `${this.#prefix}-${place}`;
  }

  #write(place: Place, value: Session | Attempt): string {
    const sealed = Buffer.from(this.#sealer.seal(place, JSON.stringify(value))).toString('base64url');
    return `${this.#nameOf(place)}=${sealed}; ${ATTRIBUTES}; Max-Age=${LIFETIME_MS[place] / 1000}`;
  }

  #read<Value extends { readonly until: number }>(
    place: Place,
    schema: z.ZodType<Value>,
    cookies = '',
  ): Value | undefined {
    const start = `${this.#nameOf(place)}=`;
    const found = cookies
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part.startsWith(start));
    // Of two cookies with one name nobody can tell which is ours.
    const [only, second] = found;
    if (only === undefined || second !== undefined) return undefined;
    const sealed = Buffer.from(only.slice(start.length), 'base64url').toString();
    const { data } = schema.safeParse(tryParseJson(this.#sealer.open(place, sealed) ?? ''));
    return data !== undefined && data.until > Date.now() ? data : undefined;
  }
}

const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Lax; Secure';

/**
 * Opens, reads and ends sessions. A sign-out leaves a mark that every session of that person is compared with, so that it ends them all,
 * also in a cookie that somebody copied. The mark outlives the sessions that it ended. Without an answer of the record there is no session.
 */
export class Sessions {
  readonly #cookies: Cookies;
  readonly #store: Pick<DocumentStore, 'readDocument' | 'writeDocument'>;

  constructor(cookies: Cookies, store: Pick<DocumentStore, 'readDocument' | 'writeDocument'>) {
    this.#cookies = cookies;
    this.#store = store;
  }

  /** Opens a session, and returns its cookie. */
  async open(who: string, { isFresh = false }: { readonly isFresh?: boolean } = {}): Promise<string> {
    const mark = await this.#store.readDocument('page', markOf(who), { forMs: MARK_MS });
    const freshAt = isFresh ? Date.now() : 0;
    return this.#cookies.openSession({ who, lastSignOut: mark?.version ?? '', freshAt });
  }

  async read(cookies: string | undefined): Promise<Session | undefined> {
    const session = this.#cookies.sessionIn(cookies);
    if (session === undefined) return undefined;
    const mark = await this.#store.readDocument('page', markOf(session.who));
    return (mark?.version ?? '') === session.lastSignOut ? session : undefined;
  }

  /** Ends every session of the person, and returns the cookie that is left of this one. */
  async end(cookies: string | undefined): Promise<string> {
    const session = await this.read(cookies);
    if (session !== undefined)
      await this.#store.writeDocument(
        'page',
        markOf(session.who),
        { version: randomUUID(), value: '' },
        { forMs: MARK_MS },
      );
    return this.#cookies.endSession();
  }
}

const MARK_MS = 2 * SESSION_MS;

function markOf(who: string): string {
  return `signed-out:${who}`;
}
