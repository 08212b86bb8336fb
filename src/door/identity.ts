import { hash, timingSafeEqual } from 'node:crypto';
import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import type { Logger } from 'pino';
import { z } from 'zod';
import { RateLimiter } from '../agent/util/rate-limiter.ts';
import type { AuditStore } from '../store/port/audit.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import type { CallerDeclaration, CallerIdentity } from '../tools/callers.ts';
import { type Answered, accept, type ProblemCode, refuse } from './problems.ts';

type Oidc = Extract<CallerIdentity, { kind: 'oidc' }>;

interface IdentityContext {
  readonly store: Pick<AuditStore, 'note'> & Pick<DocumentStore, 'writeDocument'>;
  readonly callers: () => ReadonlyMap<string, CallerDeclaration>;
  /** Finds the person of the workspace whom the claims of an issuer name; `undefined` if there is none. */
  readonly personIn: (claims: JWTPayload, issuer: string) => Promise<string | undefined>;
  /** Reads the metadata and the keys of issuers. */
  readonly fetch: typeof globalThis.fetch;
  readonly logger: Logger;
}

/** Signatures that only the issuer can make. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const CLOCK_SKEW_S = 30;
/** The age at which a token is of no use any more, whatever end it names. */
const MAX_TOKEN_AGE_S = 3_600;
const ISSUER_MS = 600_000;
const ISSUER_TIMEOUT_MS = 5_000;
/** How often the keys of an issuer are read. */
const KEY_READS = { max: 10, perMs: 60_000 };
const HOUR_MS = 3_600_000;
const MOST_NOTED = 1_000;
const BEARER = /^Bearer ([A-Za-z0-9._~+/-]{1,8192}=*)$/i;
const KEY = /^[A-Za-z0-9_-]{43,200}$/;
const JWT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
const Metadata = z.object({ issuer: z.string(), jwks_uri: z.url() });

/** A caller that has proven who it is. */
export interface Proven {
  readonly caller: CallerDeclaration;
  /** The token of an issuer, which is for one change only. */
  readonly token?: { readonly id: string; readonly expiresAt: number } | undefined;
}

/** Recognizes callers by what only they can have: a key of the manifest, or a token that their issuer has signed. Names count for nothing. */
export class Identities {
  readonly #context: IdentityContext;
  readonly #noted = new Set<string>();
  readonly #keyReads = new RateLimiter(KEY_READS);
  readonly #issuers = new Map<string, { readonly keys: Promise<JWTVerifyGetKey>; readonly until: number }>();

  constructor(context: IdentityContext) {
    this.#context = context;
  }

  /** Recognizes the caller of a request by its `Authorization` header. */
  async prove(authorization: string | undefined): Promise<Answered<Proven>> {
    const token = BEARER.exec(authorization ?? '')?.[1];
    if (token === undefined)
      return refuse('unauthorized', 'Send the key or the token of a caller as a bearer token.');
    const proven = JWT.test(token) ? await this.#byToken(token) : this.#byKey(token);
    if (!proven.ok) await this.#note(proven.problem.code, proven.problem.detail);
    return proven;
  }

  /**
   * Binds the token of a caller to the first change that it makes; the same request may be sent again, another one is refused. A key
   * is bound to nothing.
   */
  async bind({ caller, token }: Proven, change: string): Promise<Answered<CallerDeclaration>> {
    if (token === undefined || (await this.#isFirstUse(token, change))) return accept(caller);
    await this.#note('replayed', `A token of ${caller.name} was used a second time.`);
    return refuse('replayed', 'Get a new token for each change.');
  }

  /**
   * Recognizes the person for whom a caller asks, by a token of theirs that the issuer of the manifest has signed for this use. It is bound
   * to this change, and its use is in the audit log.
   */
  async person(
    { name, onBehalfOf }: CallerDeclaration,
    token: string,
    change: string,
  ): Promise<Answered<string>> {
    const found = await this.#personOf(onBehalfOf, token, change, name);
    if (!found.ok) await this.#note(found.problem.code, `${name}: ${found.problem.detail}`);
    return found;
  }

  async #personOf(
    terms: CallerDeclaration['onBehalfOf'],
    token: string,
    change: string,
    caller: string,
  ): Promise<Answered<string>> {
    const unproven = (detail: string) => refuse('person-unproven', detail);
    if (terms === undefined) return unproven('It has no "on_behalf_of" in the manifest.');
    const verified = await this.#verify(token, terms.issuer);
    if (!verified.ok)
      return verified.problem.code === 'unavailable'
        ? verified
        : unproven('The token of the person is not valid, or not of the issuer in the manifest.');
    const claims = verified.value;
    if (![claims.aud ?? []].flat().includes(terms.audience))
      return unproven('The token of the person is for another audience.');
    const person = await this.#context.personIn(claims, terms.issuer);
    if (person === undefined) return unproven('The token names nobody of this workspace.');
    const audit = {
      event: 'on-behalf-of',
      subject: caller,
      detail: person,
      body: { issuer: terms.issuer, token: tokenIn(claims).id },
    };
    if (await this.#isFirstUse(tokenIn(claims), change, audit)) return accept(person);
    return refuse('replayed', 'Get a new token of the person for each change.');
  }

  /** Binds a token to a change; the same change again is no second use. */
  async #isFirstUse(
    { id, expiresAt }: NonNullable<Proven['token']>,
    change: string,
    audit?: NonNullable<Parameters<DocumentStore['writeDocument']>[3]>['audit'],
  ): Promise<boolean> {
    const forMs = Math.max(1_000, expiresAt - Date.now() + 2 * CLOCK_SKEW_S * 1_000);
    const document = { version: hash('sha256', change), value: '' };
    const options = { replaces: '', forMs, ...(audit !== undefined && { audit }) };
    return (await this.#context.store.writeDocument('door-token', id, document, options)) === 'written';
  }

  /** Compares digests, which have one length, with those of all callers, so that the time of the answer tells nothing. */
  #byKey(key: string): Answered<Proven> {
    const digest = hash('sha256', key, 'buffer');
    let found: CallerDeclaration | undefined;
    for (const caller of this.#context.callers().values()) {
      if (caller.identity.kind !== 'key') continue;
      if (timingSafeEqual(digest, Buffer.from(caller.identity.sha256, 'hex'))) found = caller;
    }
    if (found === undefined || !KEY.test(key))
      return refuse('unauthorized', 'This key belongs to no caller.');
    return accept({ caller: found });
  }

  async #byToken(token: string): Promise<Answered<Proven>> {
    const unknown = refuse('unauthorized', 'This token belongs to no caller.');
    const claimed = claimsIn(token);
    const candidates = [...this.#context.callers().values()].flatMap((caller) =>
      caller.identity.kind === 'oidc' && caller.identity.issuer === claimed?.iss
        ? [{ caller, oidc: caller.identity }]
        : [],
    );
    const [first] = candidates;
    if (first === undefined) return unknown;
    const payload = await this.#verify(token, first.oidc.issuer);
    if (!payload.ok) return payload;
    const [only, ...others] = candidates.filter(({ oidc }) => fits(oidc, payload.value));
    if (only === undefined) return unknown;
    if (others.length > 0) return refuse('unauthorized', 'This token fits several callers of the manifest.');
    return accept({ caller: only.caller, token: tokenIn(payload.value) });
  }

  /** Checks that an issuer has signed a token, and that it is of now. */
  async #verify(token: string, issuer: string): Promise<Answered<JWTPayload>> {
    try {
      const { payload } = await jwtVerify(token, await this.#keysOf(issuer), {
        issuer,
        algorithms: ALGORITHMS,
        clockTolerance: CLOCK_SKEW_S,
        maxTokenAge: MAX_TOKEN_AGE_S,
        requiredClaims: ['exp', 'iat', 'jti', 'aud'],
      });
      return accept(payload);
    } catch (error) {
      if (error instanceof errors.JWTExpired) return refuse('unauthorized', 'This token has expired.');
      if (error instanceof errors.JOSEError && !isOutage(error))
        return refuse('unauthorized', 'This token belongs to no caller.');
      this.#context.logger.warn({ err: error, issuer }, 'keys of an issuer not read');
      return refuse('unavailable', 'The issuer of this token cannot be asked for its keys now.', {
        retryAfterS: 5,
      });
    }
  }

  /** Finds the keys of an issuer by its metadata, which has to be its own. jose keeps the keys, and asks again for one that it does not know. */
  #keysOf(issuer: string): Promise<JWTVerifyGetKey> {
    const known = this.#issuers.get(issuer);
    if (known !== undefined && performance.now() < known.until) return known.keys;
    const keys = this.#readIssuer(issuer);
    this.#issuers.set(issuer, { keys, until: performance.now() + ISSUER_MS });
    keys.catch(() => this.#issuers.delete(issuer));
    return keys;
  }

  async #readIssuer(issuer: string): Promise<JWTVerifyGetKey> {
    const { fetch } = this.#context;
    const response = await fetch(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {
      redirect: 'error',
      signal: AbortSignal.timeout(ISSUER_TIMEOUT_MS),
    });
    if (!response.ok) throw new Error(`${issuer} answered ${response.status}`);
    const { issuer: named, jwks_uri } = Metadata.parse(await response.json());
    if (named !== issuer) throw new Error(`${issuer} calls itself by another name`);
    const url = new URL(jwks_uri);
    if (url.protocol !== 'https:' && url.protocol !== new URL(issuer).protocol)
      throw new Error(`${issuer} has its keys at an address without https`);
    // A new key of the issuer counts at once. Whoever invents names of keys must not make the bot flood the issuer.
    return createRemoteJWKSet(url, {
      timeoutDuration: ISSUER_TIMEOUT_MS,
      cooldownDuration: 0,
      [customFetch]: (address, options) => {
        if (!this.#keyReads.admits(issuer)) throw new Error(`The keys of ${issuer} were read too often`);
        return fetch(address, options);
      },
    });
  }

  /** Writes a row to the audit log, at most one an hour for each kind: whoever has no key must not fill it. */
  async #note(code: ProblemCode, detail: string): Promise<void> {
    const { store, logger } = this.#context;
    logger.warn({ code }, 'caller refused');
    if (code === 'unavailable') return;
    const hour = Math.floor(Date.now() / HOUR_MS);
    const id = `door/${hour}/${hash('sha256', `${code} ${detail}`).slice(0, 16)}`;
    // A flood of them costs the record nothing.
    if (this.#noted.has(id)) return;
    if (this.#noted.size >= MOST_NOTED) this.#noted.clear();
    await store.note(id, 'caller-refused', 'door', { code, detail });
    this.#noted.add(id);
  }
}

/** Reads the claims of a token that nobody has checked, to find out whose keys to check it with. */
function claimsIn(token: string): JWTPayload | undefined {
  try {
    return decodeJwt(token);
  } catch {
    return undefined;
  }
}

/** Names a token, and the moment at which it is of no use any more. Its times may have fractions; the record takes whole milliseconds. */
function tokenIn({ iss, jti, exp = 0, iat = 0 }: JWTPayload): NonNullable<Proven['token']> {
  const expiresAt = Math.ceil(Math.min(exp, iat + MAX_TOKEN_AGE_S) * 1_000);
  return { id: hash('sha256', `${iss} ${jti}`), expiresAt };
}

function fits({ audience, claims }: Oidc, payload: JWTPayload): boolean {
  const audiences = [payload.aud ?? []].flat();
  return (
    audiences.includes(audience) &&
    Object.entries(claims).every(([name, value]) => Object.hasOwn(payload, name) && payload[name] === value)
  );
}

/** Tells an issuer that cannot be asked from a token that is wrong. */
function isOutage(error: errors.JOSEError): boolean {
  return (
    error instanceof errors.JWKSTimeout ||
    error.code === 'ERR_JOSE_GENERIC' ||
    error instanceof errors.JWKSInvalid
  );
}
