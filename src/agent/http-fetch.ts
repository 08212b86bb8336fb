import {
  type IncomingMessage,
  Agent as PlainAgent,
  type RequestOptions,
  request as requestPlain,
} from 'node:http';
import { request as requestSafe, Agent as SafeAgent } from 'node:https';
import { text } from 'node:stream/consumers';
import { urlToHttpOptions } from 'node:url';

const plain = { request: requestPlain, agent: new PlainAgent({ keepAlive: true }) };
const safe = { request: requestSafe, agent: new SafeAgent({ keepAlive: true }) };

/** A `fetch` for requests with a text as their body, whose answers are read as they come. */
export interface HttpFetch {
  readonly fetch: typeof fetch;
  /** The body of an answer that was a success. */
  bodyOf(response: Response): IncomingMessage;
}

/** Where requests go; a model is always called at one address, and to read it anew each time would be a part of the call's cost. */
let lastTarget: { readonly address: string; readonly options: RequestOptions } | undefined;

function targetOf(address: string): RequestOptions {
  if (lastTarget?.address !== address)
    lastTarget = { address, options: { ...urlToHttpOptions(new URL(address)) } };
  return lastTarget.options;
}

/**
 * Sends requests over Node's own HTTP client, on connections that are kept: the built-in `fetch` takes twice its CPU, most of it
 * for web streams. Redirects are not followed, and nothing is compressed.
 */
export function httpFetch(): HttpFetch {
  const bodies = new WeakMap<Response, IncomingMessage>();
  return {
    async fetch(input, { method = 'GET', headers, body, signal } = {}) {
      const target = targetOf(input instanceof Request ? input.url : String(input));
      const { request, agent } = target.protocol === 'https:' ? safe : plain;
      const message = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request({ ...target, method, agent, ...(signal && { signal }) }, resolve);
        sent.once('error', reject);
        sent.setHeaders(headers instanceof Headers ? headers : new Headers(headers));
        if (typeof body === 'string') sent.end(body);
        else sent.end();
      });
      const status = message.statusCode ?? 0;
      const isSuccess = status >= 200 && status < 300;
      const response = new Response(isSuccess ? null : await text(message), {
        status,
        headers: headersOf(message),
      });
      bodies.set(response, message);
      return response;
    },

    bodyOf(response) {
      const body = bodies.get(response);
      if (body === undefined) throw new TypeError('This answer came another way');
      return body;
    },
  };
}

function headersOf({ rawHeaders }: IncomingMessage): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] satisfies [string, string]] : [],
  );
}
