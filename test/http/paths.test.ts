import { request } from 'node:http';
import { expect, test } from 'vitest';
import { jsonAnswer } from '../../src/http/http-answer.ts';
import { serverForTest } from '../bot/slack/support.ts';

/** Sends a path as it is; `fetch` would bring it into its normal form. */
const statusOf = (url: string, path: string) =>
  new Promise<number>((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const sent = request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end();
  });

test.each([
  ['/v1/../metrics', 400],
  ['/v1/%2e%2e/metrics', 400],
  ['/v1/.%2E/metrics', 400],
  ['/v1/./../metrics', 400],
  ['//metrics', 400],
  ['/v1//metrics', 400],
  ['/\\metrics', 400],
  ['/v1\\..\\metrics', 400],
  ['/metrics/', 404],
  ['/%6detrics', 404],
  ['/METRICS', 404],
  ['/v1/..%2fmetrics', 404],
  ['/metrics?of=all', 200],
  ['/metrics', 200],
])(
  '%s is answered with %i: an address has one spelling, so that a proxy cannot be passed by another',
  async (path, status) => {
    const part = {
      paths: ['/v1/*'],
      open: async () => ({
        routes: [{ method: 'GET', path: '/v1/tools', answer: () => jsonAnswer(200, {}) } as const],
      }),
    };
    const { url } = await serverForTest({ parts: [part] });
    expect(await statusOf(url, path)).toBe(status);
  },
);
