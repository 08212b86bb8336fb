import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { toAuthorizationError } from '../../errors.ts';
import type { Challenge, Fetch, Identity } from '../mcp-config.ts';

const MAX_WIDENINGS = 2;

/**
 * Sends requests to a server with the token of an identity. A refused request is sent again: once after a 401, and twice after a 403 that
 * asks for more scope. By these answers the server says that it did nothing, so nothing runs twice.
 */
export function authorizedFetch(fetch: Fetch, identity: Identity): Fetch {
  return async (url, init = {}) => {
    let token = await asking(() => identity.token());
    let isRenewed = false;
    for (let widenings = 0; ; ) {
      const response = await fetch(url, { ...init, headers: withToken(init.headers, token) });
      const used = token;
      if (response.status === 401 && !isRenewed) {
        isRenewed = true;
        token = await asking(() => identity.renew(used, challengeIn(response)));
      } else if (isInsufficientScope(response) && widenings < MAX_WIDENINGS) {
        widenings += 1;
        token = await asking(() => identity.widen(used, challengeIn(response)));
      } else {
        return response;
      }
      await response.body?.cancel();
    }
  };
}

async function asking<Value>(ask: () => Promise<Value>): Promise<Value> {
  try {
    return await ask();
  } catch (error) {
    throw toAuthorizationError('it cannot be authorized', error);
  }
}

/** Reads what a server asks for in its answer. */
export function challengeIn(response: Response): Challenge {
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
  return { resourceMetadataUrl, scope };
}

function isInsufficientScope(response: Response): boolean {
  return response.status === 403 && extractWWWAuthenticateParams(response).error === 'insufficient_scope';
}

function withToken(given: RequestInit['headers'], token: string | undefined): Headers {
  const headers = new Headers(given);
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  return headers;
}
