import * as oauth from 'oauth4webapi';
import { notDone } from '../../agent/errors.ts';
import { toAuthorizationError } from '../errors.ts';
import type { guardedFetch } from './guard/guarded-fetch.ts';

/** A client of an authorization server that gets tokens for itself (OAuth 2.0 client credentials). */
export interface HttpAuth {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | undefined;
}

type Fetch = ReturnType<typeof guardedFetch>;

const DEFAULT_SECONDS = 3600;

interface Token {
  readonly text: string;
  readonly renewAt: number;
}

/** Keeps the token of a client: the same for all calls until it ends or a server refuses it. A token that cannot be had is an error before anything was sent. */
export class ClientToken {
  readonly #auth: HttpAuth;
  readonly #fetch: Fetch;
  readonly #onToken: (token: string) => void;
  #current: Promise<Token> | undefined;

  constructor(auth: HttpAuth, fetch: Fetch, onToken: (token: string) => void) {
    this.#auth = auth;
    this.#fetch = fetch;
    this.#onToken = onToken;
  }

  /** Returns a token; a new one in place of one that was refused. */
  async token(refused?: string): Promise<string> {
    const known = await this.#current?.catch(() => undefined);
    if (known !== undefined && known.text !== refused && Date.now() < known.renewAt) return known.text;
    this.#current = this.#request();
    return (await this.#current).text;
  }

  async #request(): Promise<Token> {
    const { tokenUrl, clientId, clientSecret, scope } = this.#auth;
    const { origin, protocol, host } = new URL(tokenUrl);
    const server = { issuer: origin, token_endpoint: tokenUrl };
    const client = { client_id: clientId };
    try {
      const response = await oauth.clientCredentialsGrantRequest(
        server,
        client,
        oauth.ClientSecretBasic(clientSecret),
        scope === undefined ? {} : { scope },
        {
          [oauth.customFetch]: (url, { method, headers, body }) =>
            this.#fetch(url, { method, headers, body }),
          [oauth.allowInsecureRequests]: protocol === 'http:',
        },
      );
      const answer = await oauth.processClientCredentialsResponse(server, client, response);
      this.#onToken(answer.access_token);
      // A token is renewed early, so that none ends on its way.
      const lifeMs = (answer.expires_in ?? DEFAULT_SECONDS) * 1000;
      return { text: answer.access_token, renewAt: Date.now() + lifeMs * 0.9 };
    } catch (error) {
      throw notDone(toAuthorizationError(`${host} gave no token, so nothing was sent`, error));
    }
  }
}
