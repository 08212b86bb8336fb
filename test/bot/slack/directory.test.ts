import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebClient } from '@slack/web-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Directory } from '../../../src/bot/slack/directory.ts';

const asked: string[] = [];
const slack = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  const user = new URLSearchParams(body).get('user');
  if (user !== null) asked.push(user);
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ ok: true, team_id: 'T1', user: { id: user, name: user, team_id: 'T1' } }));
});
beforeAll(() => new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  slack.closeAllConnections();
  slack.close();
});

test('a person is looked up once within the time that answers are kept, and the cache keeps a bounded number of people', async () => {
  const { port } = slack.address() as AddressInfo;
  const directory = new Directory(new WebClient('xoxb-1', { slackApiUrl: `http://127.0.0.1:${port}/api/` }));
  for (let i = 0; i < 1_500; i += 100)
    await Promise.all(Array.from({ length: 100 }, (_, at) => directory.member(`U${i + at}`)));
  const before = asked.length;
  expect((await directory.member('U1499')).name).toBe('U1499');
  expect(asked).toHaveLength(before);
  // The first ones have left the cache.
  expect((await directory.member('U0')).name).toBe('U0');
  expect(asked).toHaveLength(before + 1);
});
