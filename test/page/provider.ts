import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

export const CLIENT = { id: 'countersign-page', secret: 'the-secret-of-the-page-0123456789' };

/** The claims of the person who signs in, beside those that the provider adds. */
export type Person = Readonly<Record<string, unknown>>;

/** Changes of an ID token, its key or its answer by which a test lets the provider lie. */
export interface Lies {
  claims?: Readonly<Record<string, unknown>>;
  /** Signs with a key that the provider does not publish. */
  foreignKey?: boolean;
  /** Writes a token without a signature. */
  unsigned?: boolean;
  noIdToken?: boolean;
  /** Takes a code more than once. */
  keepsCodes?: boolean;
  /** The `iss` of the answer to the browser. */
  answerIssuer?: string;
  /** The `issuer` of its metadata. */
  metadataIssuer?: string;
}

export interface Provider {
  readonly issuer: string;
  /** The person whom the next authorization signs in. */
  person: Person;
  lies: Lies;
  /** The number of codes that were exchanged. */
  readonly exchanged: number;
  /** The number of times that its metadata were read. */
  readonly lookups: number;
  stop(): Promise<void>;
}

interface Granted {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string;
  readonly person: Person;
  /** Whether the client wants to know when the person signed in here. */
  readonly isAged: boolean;
}

/**
 * Starts an OpenID Connect provider on loopback that takes nothing but a correct request: a registered address, PKCE with S256, a state, a
 * nonce, the client's secret, and each code once. What is not its own goes to `forwardTo`, so that it can stand where Slack does.
 */
export async function startProvider({
  redirectUri,
  forwardTo,
}: {
  readonly redirectUri: string;
  readonly forwardTo?: string | undefined;
}): Promise<Provider> {
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  const [keys, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const published = {
    keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'RS256', use: 'sig', kid: 'one' }],
  };
  const codes = new Map<string, Granted>();
  const state = { person: {} as Person, lies: {} as Lies, exchanged: 0, lookups: 0 };

  const send = (response: ServerResponse, status: number, body: object) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

  const authorize = ({ searchParams: given }: URL, response: ServerResponse) => {
    const isRight =
      given.get('client_id') === CLIENT.id &&
      given.get('redirect_uri') === redirectUri &&
      given.get('response_type') === 'code' &&
      given.get('code_challenge_method') === 'S256' &&
      (given.get('scope') ?? '').split(' ').includes('openid') &&
      [given.get('state'), given.get('nonce'), given.get('code_challenge')].every(
        (each) => (each ?? '').length > 20,
      );
    if (!isRight) return send(response, 400, { error: 'invalid_request' });
    const code = randomBytes(16).toString('hex');
    codes.set(code, {
      redirectUri,
      challenge: given.get('code_challenge') ?? '',
      nonce: given.get('nonce') ?? '',
      person: state.person,
      isAged: given.has('max_age'),
    });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', given.get('state') ?? '');
    back.searchParams.set('iss', state.lies.answerIssuer ?? issuer);
    return response.writeHead(302, { location: back.href }).end();
  };

  const exchange = async (request: IncomingMessage, response: ServerResponse) => {
    const given = new URLSearchParams(await text(request));
    const [, basic = ''] = (request.headers.authorization ?? '').split('Basic ');
    // Both parts are form-encoded before they are joined (RFC 6749, 2.3.1).
    const client = Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent).join(':');
    const code = given.get('code') ?? '';
    const granted = codes.get(code);
    if (state.lies.keepsCodes !== true) codes.delete(code);
    const challenge = createHash('sha256')
      .update(given.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      client === `${CLIENT.id}:${CLIENT.secret}` &&
      given.get('grant_type') === 'authorization_code' &&
      given.get('redirect_uri') === granted?.redirectUri &&
      challenge === granted.challenge;
    if (!isRight || granted === undefined) return send(response, 400, { error: 'invalid_grant' });
    state.exchanged += 1;
    const token = { access_token: randomBytes(16).toString('hex'), token_type: 'Bearer' };
    if (state.lies.noIdToken === true) return send(response, 200, token);
    return send(response, 200, { ...token, id_token: await idToken(granted) });
  };

  const idToken = async ({ nonce, person, isAged }: Granted): Promise<string> => {
    const now = Math.floor(Date.now() / 1000);
    const sub = String(person.sub ?? 'somebody');
    const claims = {
      iss: issuer,
      aud: CLIENT.id,
      sub,
      nonce,
      iat: now,
      exp: now + 300,
      ...(isAged && { auth_time: now }),
      ...person,
      ...state.lies.claims,
    };
    if (state.lies.unsigned === true)
      return `${[{ alg: 'none' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.`;
    const { privateKey } = state.lies.foreignKey === true ? foreign : keys;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
  };

  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const { authorization = '', 'content-type': type = '' } = request.headers;
    const body = await text(request);
    const answer = await fetch(`${forwardTo}${request.url}`, {
      method: request.method ?? 'GET',
      headers: { authorization, 'content-type': type },
      ...(request.method === 'POST' && { body }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const url = new URL(request.url ?? '/', issuer);
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        state.lookups += 1;
        return send(response, 200, {
          issuer: state.lies.metadataIssuer ?? issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          authorization_response_iss_parameter_supported: true,
        });
      case '/keys':
        return send(response, 200, published);
      case '/authorize':
        return authorize(url, response);
      case '/token':
        return exchange(request, response);
      default:
        return forwardTo === undefined ? send(response, 404, {}) : forward(request, response);
    }
  };
  listener.on('request', (request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  return Object.assign(state, {
    issuer,
    stop: () =>
      new Promise<void>((resolve) => {
        listener.closeAllConnections();
        listener.close(() => resolve());
      }),
  });
}
