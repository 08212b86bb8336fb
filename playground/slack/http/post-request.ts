import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { MissReason, SentRequest } from '../delivery/delivery.ts';

/** The app's answer, or the reason why there is none. */
export type PostAnswer =
  | { kind: 'response'; status: number; headers: Record<string, unknown>; body: string }
  | { kind: 'missed'; reason: Exclude<MissReason, 'http_error'> };

/** Posts a request on a new connection and waits for the whole answer, up to the timeout. */
export function postRequest({ url, headers, body }: SentRequest, timeoutMs: number): Promise<PostAnswer> {
  const open = url.startsWith('https:') ? requestSecure : requestPlain;
  return new Promise((resolve) => {
    const length = String(Buffer.byteLength(body));
    const agentName = 'Slackbot 1.0 (+https://api.slack.com/robots)';
    const request = open(url, {
      method: 'POST',
      agent: false,
      headers: { accept: '*/*', 'user-agent': agentName, 'content-length': length, ...headers },
    });
    const timer = setTimeout(() => {
      resolve({ kind: 'missed', reason: 'timeout' });
      request.destroy();
    }, timeoutMs);
    const fail = () => {
      clearTimeout(timer);
      resolve({ kind: 'missed', reason: 'no_connection' });
    };
    request.on('error', fail);
    request.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('error', fail);
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        clearTimeout(timer);
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          kind: 'response',
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
        });
      });
    });
    request.end(body);
  });
}
