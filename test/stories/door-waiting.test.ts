import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { nonEmpty } from '../support/non-empty.ts';
import { type DoorReply, KEYS, startCalling } from './calling.ts';
import { countersign, temporaryFolder } from './shell.ts';
import { CAST } from './support.ts';

test('a caller that waits on too many connections is told when to ask again, and others wait on', async () => {
  const door = await startCalling();
  const first = await door.refund(12_000);
  const second = await door.refund(13_000, { key: KEYS.other });
  await door.place.shows(/Approval needed/);
  // Nobody has decided, so whoever is answered has found no place.
  const turnedAway: DoorReply[] = [];
  const waiting = Array.from({ length: 401 }, async () => {
    const answer = await door.end(first.body.id);
    turnedAway.push(answer);
    return answer;
  });
  await expect.poll(() => turnedAway.length, { timeout: 50_000 }).toBe(301);
  for (const { body, headers } of nonEmpty(turnedAway))
    expect([body.status, headers.get('retry-after')]).toEqual(['waiting', '5']);
  const other = door.send('GET', `/v1/runs/${second.body.id}?wait=60`, { key: KEYS.other });
  await door.reject(CAST.bruno, /other-job/, 'Not today.');
  expect((await other).body.status).toBe('rejected');
  await door.reject(CAST.bruno, /release-pipeline/, 'Not today.');
  const answers = await Promise.all(waiting);
  expect(answers.filter(({ body }) => body.status === 'rejected')).toHaveLength(100);
});

/** Stands in front of the door as a bot without a place to wait: it lets a request through without its wait. */
async function withoutPlaces(port: number) {
  let reads = 0;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', `http://127.0.0.1:${port}`);
    if (url.searchParams.has('wait')) reads += 1;
    url.searchParams.delete('wait');
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { authorization = '', 'content-type': type = 'application/json' } = request.headers;
      const answer = await fetch(url, {
        method: request.method ?? 'GET',
        headers: { authorization, 'content-type': type },
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
      response.writeHead(answer.status, { 'content-type': 'application/json', 'retry-after': '600' });
      response.end(await answer.text());
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, reads: () => reads };
}

test('"countersign ask" does not ask again before the bot has said so', async () => {
  const door = await startCalling();
  const front = await withoutPlaces(door.bot().port);
  const args = ['ask', '--policy', 'release', '--', 'true'];
  const shell = countersign(door, args, {
    cwd: temporaryFolder(),
    environment: { COUNTERSIGN_URL: front.url },
  });
  await shell.says(/Waiting for approval in Slack/);
  await expect.poll(front.reads, { timeout: 15_000 }).toBe(1);
  // Long enough for a client without a pause to ask again: a whole other request is asked and answered.
  const other = await door.refund(500);
  expect((await door.end(other.body.id)).body.status).toBe('succeeded');
  expect(front.reads()).toBe(1);
  shell.child.kill('SIGINT');
  expect(await shell.ended).toBe(82);
});
