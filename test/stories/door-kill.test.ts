import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { countFor } from '../support/count-for.ts';
import { CALLERS, ENVIRONMENT, KEYS } from './calling.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { CAST, PLACES, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const Body = z.record(z.string(), z.unknown());
const SWEEP = { everyMs: 100, overdueMs: 0 };
const ROUNDS = countFor('DOOR_KILLS', { quick: 2, full: 3 });
const RELEASE = `policies:\n  release: { approvers: [${CAST.alice}], notify: { direct_messages: false } }`;
const manifest = `${workshopManifest().replace('policies:', RELEASE)}${CALLERS.replace('tools: [refund_*, delete_customer, read_order]', 'tools: [press_part]').replace('tools: [refund_order]', 'tools: [press_part]')}`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Starts bots one after another at one address, each killed in its time, and a caller that tries until it is answered. */
async function startMortal() {
  const story = await startStory({
    manifest,
    environment: ENVIRONMENT,
    timing: MORTAL,
    sweep: SWEEP,
    withoutBot: true,
  });
  const port = await freePort();
  const setup = { ...story.setup, settings: { ...story.setup.settings, port } };
  const send = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    for (;;) {
      try {
        const response = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          headers: {
            authorization: `Bearer ${KEYS.pipeline}`,
            'content-type': 'application/json',
            ...headers,
          },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        });
        return { code: response.status, body: Body.parse(await response.json()) };
      } catch {
        // The bot is dead: the next one is asked.
        await sleep(50);
      }
    }
  };
  return { story, send, start: () => startDoomedBot({ setup }, manifest, ENVIRONMENT) };
}

test(`through ${ROUNDS} kills while it asks, waits and runs, a caller's call takes effect at most once, and it learns its end`, async () => {
  const { story, send, start } = await startMortal();
  let bot = await start();
  const place = story.placeIn(PLACES.general);
  for (let round = 0; round < ROUNDS; round += 1) {
    const workshop = await openWorkshop();
    const name = `part-${round}`;
    const headers = { 'idempotency-key': name };
    const body = { tool: 'press_part', input: workshop.call('press_part').arguments, explanation: name };
    const kill = async (afterMs: number) => {
      await sleep(afterMs);
      await bot.kill();
      bot = await start();
    };
    const asking = kill(round % 3 === 0 ? 15 * round : 600);
    const asked = await send('POST', '/v1/runs', body, headers);
    expect(asked).toMatchObject({ code: 202 });
    await asking;
    const again = await send('POST', '/v1/runs', body, headers);
    expect(again.body.id).toBe(asked.body.id);
    await place.click(CAST.alice, /Approval needed|Approve/, 'approve');
    await kill(10 * (round % 4));
    let run = await send('GET', `/v1/runs/${asked.body.id}?wait=20`);
    // An approval whose bot died before it was recorded is given again.
    if (run.body.status === 'waiting') {
      await place.click(CAST.bruno, /Approval needed|Approve/, 'approve');
      run = await send('GET', `/v1/runs/${asked.body.id}?wait=20`);
    }
    const effects = await workshop.linesOf('effects');
    expect(effects.length).toBeLessThanOrEqual(1);
    expect(['succeeded', 'unknown', 'failed']).toContain(run.body.status);
    if (run.body.status === 'succeeded') expect(effects).toHaveLength(1);
  }
});

test('an approved ask is started once, although the bot is killed around the start', async () => {
  const { story, send, start } = await startMortal();
  let bot = await start();
  const place = story.placeIn(PLACES.general);
  for (let round = 0; round < ROUNDS; round += 1) {
    const { body } = await send('POST', '/v1/asks', {
      policy: 'release',
      title: 'Go',
      command: `go ${round}`,
    });
    await place.click(CAST.alice, /Approval needed|Approve/, 'approve');
    await expect
      .poll(async () => (await send('GET', `/v1/asks/${body.id}`)).body.status, { timeout: 20_000 })
      .toBe('approved');
    const killing = sleep(2 * round).then(() => bot.kill());
    const starts = [send('POST', `/v1/asks/${body.id}/start`), send('POST', `/v1/asks/${body.id}/start`)];
    await killing;
    bot = await start();
    const codes = (await Promise.all(starts)).map(({ code }) => code);
    // An answer that was lost may have been the one start; it is never given twice.
    expect(codes.filter((code) => code === 200).length).toBeLessThanOrEqual(1);
    expect((await send('POST', `/v1/asks/${body.id}/start`)).code).toBe(409);
    expect((await send('GET', `/v1/asks/${body.id}`)).body.status).toBe('running');
    expect((await send('POST', `/v1/asks/${body.id}/report`, { outcome: 'succeeded' })).code).toBe(200);
  }
});
