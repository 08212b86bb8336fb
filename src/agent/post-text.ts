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

/** What came back: the answer, to be read as it comes, or a refusal with its words. */
export type Posted =
  | { readonly outcome: 'answered'; readonly body: IncomingMessage }
  | {
      readonly outcome: 'refused';
      readonly status: number;
      readonly headers: Headers;
      readonly words: string;
    };

export interface PostOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long the other side may take to begin its answer. */
  readonly silenceMs: number;
}

/** The other side did not begin its answer in time. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError';
}

/**
 * Posts texts to one address with the same headers, over Node's own HTTP client, on connections that are kept: the built-in `fetch`
 * takes twice its CPU. Redirects are not followed, and nothing is compressed.
 */
export function textPoster(
  address: string,
  headers: Headers,
): (body: string, options: PostOptions) => Promise<Posted> {
  const { request, agent } = address.startsWith('https:') ? safe : plain;
  const target: RequestOptions = {
    ...urlToHttpOptions(new URL(address)),
    method: 'POST',
    agent,
    headers: Object.fromEntries(headers),
  };
  return (body, { signal, silenceMs }) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const sent = request(target, (message) => {
        const status = message.statusCode ?? 0;
        if (status >= 200 && status < 300) {
          clearTimeout(silence);
          resolve({ outcome: 'answered', body: message });
          return;
        }
        text(message)
          .then((words) => resolve({ outcome: 'refused', status, headers: headersOf(message), words }))
          .catch(reject)
          .finally(() => clearTimeout(silence));
      });
      const silence = setTimeout(() => sent.destroy(new SilenceError('No answer in time')), silenceMs);
      const giveUp = (): void => {
        sent.destroy(new Error('Aborted', { cause: signal?.reason }));
      };
      signal?.addEventListener('abort', giveUp);
      sent.on('error', reject);
      sent.on('close', () => {
        clearTimeout(silence);
        signal?.removeEventListener('abort', giveUp);
      });
      sent.end(body);
    });
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  return headers;
}
