import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Identity } from './auth/auth-config.ts';
import { authorizedFetch } from './auth/authorized-fetch.ts';
import type { Fetch, HttpConfig } from './mcp-config.ts';

const MAX_ANSWER_BYTES = 10 * 1024 * 1024;

export interface ConnectionEvents {
  readonly onLost: (reason: string) => void;
  /** Called whenever the stream of events is open again; announcements before that are lost. */
  readonly onStream: () => void;
}

/** Creates the SDK's transport and reports a server that is gone, which the SDK itself does not notice. */
export function openHttpTransport(
  config: HttpConfig,
  guardedFetch: Fetch,
  events: ConnectionEvents,
  identity: Identity | undefined,
): StreamableHTTPClientTransport {
  const watched = watchFetch(guardedFetch, events);
  return new StreamableHTTPClientTransport(new URL(config.url), {
    requestInit: { headers: { ...config.headers } },
    fetch: identity === undefined ? watched : authorizedFetch(watched, identity),
  });
}

function watchFetch(guardedFetch: Fetch, { onLost, onStream }: ConnectionEvents): Fetch {
  return async (url, init) => {
    let response: Response;
    try {
      response = await guardedFetch(url, init);
    } catch (error) {
      if (init?.signal?.aborted !== true) onLost(`it cannot be reached: ${reasonOf(error)}`);
      throw error;
    }
    if (init?.method === 'GET' && response.ok) onStream();
    if (init?.method !== 'POST') return response;
    // A server that no longer recognizes our session needs a new handshake; a 404 to GET may only mean "no stream".
    if (response.status === 404 && new Headers(init.headers).has('mcp-session-id')) {
      onLost('it no longer recognizes our session');
    }
    return response.ok ? limitBody(response, onLost) : response;
  };
}

function limitBody(response: Response, onLost: ConnectionEvents['onLost']): Response {
  if (response.body === null) return response;
  let seen = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > MAX_ANSWER_BYTES) {
        const reason = `an answer of it is longer than ${MAX_ANSWER_BYTES} bytes`;
        onLost(reason);
        controller.error(new Error(reason));
      } else {
        controller.enqueue(chunk);
      }
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/** Returns the cause under undici's "fetch failed", which has the actual reason. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (!(cause instanceof Error)) return error.message;
  const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : undefined;
  return cause.message || code || error.message;
}
