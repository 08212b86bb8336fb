import { randomUUID } from 'node:crypto';
import * as oauth from 'oauth4webapi';
import type { Logger } from 'pino';
import { describeError } from '../agent/errors.ts';
import type { Directory } from '../bot/slack/directory.ts';
import { mayDecide } from '../engine/asks/may-decide.ts';
import type { DocumentStore } from '../store/port/documents.ts';
import type { PageDeclaration } from '../tools/manifest/manifest.ts';
import { personInClaims, type SignInProblem, SLACK_ISSUER } from './claims.ts';
import { type Attempt, type Cookies, type Sessions, SIGN_IN_MS } from './session.ts';

export const RETURN_PATH = '/page/signed-in';
/** The provider has this long for each answer. */
const PROVIDER_MS = 10_000;
const METADATA_MS = 600_000;
/** Views that a person may be sent back to; nothing in it can name another host. */
const ROUTE = /^[A-Za-z0-9:._~%?=&+/-]{0,500}$/;
/** The view where people add passkeys. */
const PASSKEYS = 'passkeys';
/** A person who signs in afresh has proven who they are to the provider at most this long ago. */
const FRESH_SECONDS = 300;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

export interface SignInOptions {
  readonly page: () => PageDeclaration | undefined;
  readonly publicUrl: string;
  readonly cookies: Cookies;
  readonly sessions: Sessions;
  readonly directory: Directory;
  readonly store: Pick<DocumentStore, 'writeDocument'>;
  readonly fetch: typeof fetch;
  /** The issuer of people who sign in with Slack. */
  readonly slackIssuer?: string;
  readonly logger: Logger;
}

export type Begun =
  | { readonly outcome: 'redirect'; readonly url: string; readonly cookie: string }
  | { readonly outcome: 'no-provider' };

export type Completed =
  | { readonly outcome: 'signed-in'; readonly cookie: string; readonly route: string }
  | { readonly outcome: 'failed'; readonly problem: SignInProblem };

interface ProviderRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: URLSearchParams | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Signs people in by OpenID Connect: the authorization code flow with PKCE, a state that is bound to the browser and works once, and a
 * nonce. Who comes back is a person of the bot's own workspace, or nobody.
 */
export class SignIn {
  readonly #options: SignInOptions;
  #discovered:
    | { readonly issuer: string; readonly server: Promise<oauth.AuthorizationServer>; readonly until: number }
    | undefined;

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /** Returns the address of the provider, and the cookie that binds the answer to this browser. Passkeys need a fresh sign-in. */
  async begin(page: PageDeclaration, wanted: string): Promise<Begun> {
    const { cookies, directory, logger } = this.#options;
    const issuer = this.#issuerOf(page);
    const route = routeOf(wanted);
    const isFresh = route === PASSKEYS;
    try {
      const server = await this.#discover(issuer);
      const { authorization_endpoint: endpoint } = server;
      if (endpoint === undefined) throw new Error('The provider names no authorization endpoint');
      const attempt = {
        state: oauth.generateRandomState(),
        nonce: oauth.generateRandomNonce(),
        verifier: oauth.generateRandomCodeVerifier(),
        issuer,
        clientId: page.clientId,
        route,
        isFresh,
      };
      const url = new URL(endpoint);
      const parameters = {
        response_type: 'code',
        client_id: page.clientId,
        redirect_uri: this.#returnUrl(),
        scope: page.issuer === undefined ? 'openid' : 'openid email',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        ...(page.issuer === undefined && { team: await directory.ownTeam() }),
        // Slack knows neither; there an admin confirms what needs more than a sign-in.
        ...(page.issuer !== undefined && isFresh && { prompt: 'login', max_age: String(FRESH_SECONDS) }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { outcome: 'redirect', url: url.href, cookie: cookies.openAttempt(attempt) };
    } catch (error) {
      logger.warn({ issuer, reason: describeError(error) }, 'sign-in provider not reached');
      return { outcome: 'no-provider' };
    }
  }

  /** Completes a sign-in by the answer of the provider, in the browser that began it and once. */
  async complete(page: PageDeclaration, answer: URLSearchParams, cookies?: string): Promise<Completed> {
    const attempt = this.#options.cookies.attemptIn(cookies);
    const isSame = attempt?.issuer === this.#issuerOf(page) && attempt.clientId === page.clientId;
    if (attempt === undefined || !isSame) return failed('not-begun');
    try {
      const claims = await this.#exchange(page, attempt, answer);
      if (claims === 'used') return failed('used');
      const who = await this.#personOf(page, claims);
      if (typeof who === 'object') return who;
      const permission = await mayDecide(this.#options.directory.fresh(), who, [who]);
      if (!permission.eligible) {
        this.#options.logger.warn({ user: who, why: permission.why }, 'sign-in refused');
        return failed(permission.why);
      }
      this.#options.logger.info({ user: who }, 'signed in');
      const { route, isFresh } = attempt;
      return { outcome: 'signed-in', cookie: await this.#options.sessions.open(who, { isFresh }), route };
    } catch (error) {
      this.#options.logger.warn({ issuer: attempt.issuer, reason: describeError(error) }, 'sign-in refused');
      return failed('refused');
    }
  }

  /** Exchanges the code for claims whose signature, issuer, audience, time and nonce are checked; `used` for a state that came before. */
  async #exchange(
    page: PageDeclaration,
    attempt: Attempt,
    answer: URLSearchParams,
  ): Promise<oauth.IDToken | 'used'> {
    const server = await this.#discover(attempt.issuer);
    const client = { client_id: page.clientId };
    const checked = oauth.validateAuthResponse(server, client, answer, attempt.state);
    if (!(await this.#takeOnce(attempt.state))) return 'used';
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const authenticate = methods.includes('client_secret_basic')
      ? oauth.ClientSecretBasic(page.clientSecret)
      : oauth.ClientSecretPost(page.clientSecret);
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      authenticate,
      checked,
      this.#returnUrl(),
      attempt.verifier,
      this.#requestOptions(attempt.issuer),
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: attempt.nonce,
      requireIdToken: true,
      ...(page.issuer !== undefined && attempt.isFresh && { maxAge: FRESH_SECONDS }),
    });
    await oauth.validateApplicationLevelSignature(server, response, this.#requestOptions(attempt.issuer));
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    if (claims === undefined) throw new Error('The provider gave no ID token');
    return claims;
  }

  async #personOf(page: PageDeclaration, claims: oauth.IDToken): Promise<string | Completed> {
    const { directory, logger } = this.#options;
    const found = await personInClaims(directory, claims, { isSlack: page.issuer === undefined });
    if ('who' in found) return found.who;
    if (found.problem === 'other-workspace') logger.warn('sign-in from another workspace');
    return failed(found.problem);
  }

  #takeOnce(state: string): Promise<boolean> {
    // A write with the version that is there counts as the same write, sent twice.
    const document = { version: randomUUID(), value: '' };
    return this.#options.store
      .writeDocument('page', state, document, { replaces: '', forMs: 2 * SIGN_IN_MS })
      .then((written) => written === 'written');
  }

  #issuerOf({ issuer }: PageDeclaration): string {
    return issuer ?? this.#options.slackIssuer ?? SLACK_ISSUER;
  }

  #returnUrl(): string {
    return `${this.#options.publicUrl.replace(/\/$/, '')}${RETURN_PATH}`;
  }

  /** Reads the metadata of a provider, and keeps it: a flood of sign-ins must not become one of requests to the provider. */
  #discover(issuer: string): Promise<oauth.AuthorizationServer> {
    const known = this.#discovered;
    if (known?.issuer === issuer && performance.now() < known.until) return known.server;
    const server = this.#readMetadata(issuer);
    const discovered = { issuer, server, until: performance.now() + METADATA_MS };
    this.#discovered = discovered;
    server.catch(() => {
      if (this.#discovered === discovered) this.#discovered = undefined;
    });
    return server;
  }

  async #readMetadata(issuer: string): Promise<oauth.AuthorizationServer> {
    const url = new URL(issuer);
    const options = { ...this.#requestOptions(issuer), algorithm: 'oidc' as const };
    return await oauth.processDiscoveryResponse(url, await oauth.discoveryRequest(url, options));
  }

  /** Only a provider on this machine is reached without HTTPS. */
  #requestOptions(issuer: string) {
    const { fetch } = this.#options;
    return {
      signal: () => AbortSignal.timeout(PROVIDER_MS),
      [oauth.customFetch]: (url: string, { method, headers, body, signal }: ProviderRequest) =>
        fetch(url, {
          method,
          headers,
          redirect: 'manual',
          ...(body !== undefined && { body }),
          ...(signal !== undefined && { signal }),
        }),
      [oauth.allowInsecureRequests]: LOOPBACK.test(new URL(issuer).hostname),
    };
  }
}

function failed(problem: SignInProblem): Completed {
  return { outcome: 'failed', problem };
}

/** Returns the wanted view, or the first one if it is none of ours. */
export function routeOf(wanted: string): string {
  const isOurs =
    ROUTE.test(wanted) && !wanted.startsWith('/') && !wanted.includes('..') && !wanted.includes('//');
  return isOurs ? wanted : '';
}
