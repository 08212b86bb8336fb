import { createHash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { sendJson } from '../../send-json.ts';
import type { WorkspaceState } from '../state/workspace-state.ts';
import { readBody } from '../web-api/read-request.ts';

/** The app as "Sign in with Slack" knows it. */
export interface SignInClient {
  readonly id: string;
  readonly secret: string;
  /** The one address that a browser is sent back to. */
  readonly redirectUri: string;
}

interface Granted {
  readonly who: string;
  readonly nonce: string;
  readonly challenge: string;
}

const PATHS = {
  metadata: '/.well-known/openid-configuration',
  authorize: '/openid/connect/authorize',
  keys: '/openid/connect/keys',
  token: '/api/openid.connect.token',
} as const;
const TOKEN_SECONDS = 300;

/**
 * "Sign in with Slack" of a local workspace: OpenID Connect with PKCE at Slack's own paths. Nobody has a password here, so its form asks
 * which person the browser is.
 */
export class SignInWithSlack {
  readonly #client: SignInClient;
  readonly #state: WorkspaceState;
  readonly #codes = new Map<string, Granted>();
  readonly #keys = generateKeyPair('RS256');

  constructor(client: SignInClient, state: WorkspaceState) {
    this.#client = client;
    this.#state = state;
  }

  /** Answers what is about signing in; false for everything else. */
  async answer(request: IncomingMessage, response: ServerResponse, url: URL): Promise<boolean> {
    switch (url.pathname) {
      case PATHS.metadata:
        sendJson(response, 200, metadataOf(url.origin));
        return true;
      case PATHS.keys: {
        const { publicKey } = await this.#keys;
        const key = { ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig', kid: 'one' };
        sendJson(response, 200, { keys: [key] });
        return true;
      }
      case PATHS.authorize:
        this.#authorize(url, response);
        return true;
      case PATHS.token:
        await this.#exchange(request, response, url.origin);
        return true;
      default:
        return false;
    }
  }

  #authorize(url: URL, response: ServerResponse): void {
    const { searchParams: given } = url;
    const isRight =
      given.get('client_id') === this.#client.id &&
      given.get('redirect_uri') === this.#client.redirectUri &&
      given.get('response_type') === 'code' &&
      given.get('code_challenge_method') === 'S256' &&
      ['state', 'nonce', 'code_challenge'].every((name) => (given.get(name) ?? '') !== '');
    const who = this.#people().find(({ id }) => id === given.get('as'));
    if (!isRight) sendJson(response, 400, { ok: false, error: 'invalid_request' });
    else if (who === undefined) this.#choose(url, response);
    else this.#grant(who.id, given, response);
  }

  #grant(who: string, given: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(16).toString('hex');
    const [nonce, challenge] = [given.get('nonce') ?? '', given.get('code_challenge') ?? ''];
    this.#codes.set(code, { who, nonce, challenge });
    const back = new URL(this.#client.redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', given.get('state') ?? '');
    response.writeHead(302, { location: back.href, 'cache-control': 'no-store' }).end();
  }

  #people() {
    return [...this.#state.users.values()].filter(({ is_bot, deleted }) => !is_bot && !deleted);
  }

  /** Asks which person the browser is. */
  #choose(url: URL, response: ServerResponse): void {
    const choices = this.#people().map(({ id, real_name }) => {
      const chosen = new URL(url);
      chosen.searchParams.set('as', id);
      return `<li><a href="${escapeHtml(chosen.pathname + chosen.search)}">Sign in as ${escapeHtml(real_name)}</a></li>`;
    });
    const body = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Sign in with Slack</title><style>${STYLE}</style></head><body><main><h1>Sign in with Slack</h1><p>The playground has no passwords. Who are you?</p><ul>${choices.join('')}</ul></main></body></html>\n`;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    response.end(body);
  }

  /** Exchanges a code once, for the client that has the secret and for the browser that began. */
  async #exchange(request: IncomingMessage, response: ServerResponse, issuer: string): Promise<void> {
    const given = new URLSearchParams(await readBody(request));
    const code = given.get('code') ?? '';
    const granted = this.#codes.get(code);
    this.#codes.delete(code);
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      isClient(request, given, this.#client) &&
      given.get('grant_type') === 'authorization_code' &&
      given.get('redirect_uri') === this.#client.redirectUri &&
      challenge === granted?.challenge;
    if (!isRight || granted === undefined) {
      sendJson(response, 400, { error: 'invalid_grant' });
      return;
    }
    const { privateKey } = await this.#keys;
    const { who, nonce } = granted;
    const team = this.#state.users.get(who)?.team_id ?? '';
    const token = await new SignJWT({
      nonce,
      ...{ 'https://slack.com/user_id': who, 'https://slack.com/team_id': team },
    })
      .setProtectedHeader({ alg: 'RS256', kid: 'one' })
      .setIssuer(issuer)
      .setAudience(this.#client.id)
      .setSubject(who)
      .setIssuedAt()
      .setExpirationTime(`${TOKEN_SECONDS}s`)
      .sign(privateKey);
    const access = randomBytes(16).toString('hex');
    sendJson(response, 200, { ok: true, access_token: access, token_type: 'Bearer', id_token: token });
  }
}

function metadataOf(issuer: string) {
  return {
    issuer,
    authorization_endpoint: `${issuer}${PATHS.authorize}`,
    token_endpoint: `${issuer}${PATHS.token}`,
    jwks_uri: `${issuer}${PATHS.keys}`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  };
}

function isClient(
  { headers }: IncomingMessage,
  form: URLSearchParams,
  { id, secret }: SignInClient,
): boolean {
  const [, basic] = (headers.authorization ?? '').split('Basic ');
  if (basic === undefined) return form.get('client_id') === id && form.get('client_secret') === secret;
  // Both parts are form-encoded before they are joined (RFC 6749, 2.3.1).
  const [givenId, givenSecret] = Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent);
  return givenId === id && givenSecret === secret;
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;margin:0;color:#1d1c1d;background:#fff}main{max-width:28rem;margin:10vh auto;padding:0 1rem}ul{list-style:none;padding:0}a{display:block;margin:.5rem 0;padding:.6rem 1rem;border:1px solid #767676;border-radius:.4rem;color:inherit;text-decoration:none}a:hover,a:focus{background:#f4ede4}';

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
