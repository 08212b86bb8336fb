import { hkdfSync } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../agent/json.ts';
import { Sealer } from '../tools/mcp/auth/connections.ts';

const SESSION_MS = 8 * 3_600_000;
/** A person has this long to sign in at the provider. */
export const SIGN_IN_MS = 600_000;

const Session = z.object({
  who: z.string(),
  until: z.number(),
  /** When the person proved who they are to the provider itself, and not by an earlier sign-in there. */
  freshAt: z.number(),
});
/** A signed-in person. The cookie holds it encrypted, so the bot keeps nothing of it. */
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

  openSession(who: string, { isFresh = false }: { readonly isFresh?: boolean } = {}): string {
    const now = Date.now();
    return this.#write('session', { who, until: now + SESSION_MS, freshAt: isFresh ? now : 0 });
  }

  openAttempt(attempt: Omit<Attempt, 'until'>): string {
    return this.#write('sign-in', { ...attempt, until: Date.now() + SIGN_IN_MS });
  }

  endSession(): string {
    return `${this.#nameOf('session')}=; ${ATTRIBUTES}; Max-Age=0`;
  }

  /** Returns the session of a request; `undefined` if there is none, it was changed, or it is over. */
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
