import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { messagesMatching, openPageClient, type PageClient } from '../playground/page-client.ts';
import type { Entity, MessageEntity } from '../playground/protocol.ts';
import { findFreePort } from '../playground/redis/find-free-port.ts';
import { CAST } from '../playground/slack/default-cast.ts';
import { tourSteps } from '../playground/tour/tour-steps.ts';
import { APPROVE } from '../src/bot/views/cards/action-ids.ts';
import { printSteps, runTimed, secondsSince } from './run-timed.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const ActionElements = z.array(
  z.looseObject({ action_id: z.string().optional(), value: z.string().optional() }),
);
const NO_FACTS = { requests: [], kills: 0, refunds: [], openings: [] };

/** Starts the playground of a clone and returns its URL once it is ready. */
async function startIn(clone: string): Promise<{ url: string; stop(): Promise<void> }> {
  const options = ['--port', String(await findFreePort()), '--data', join(clone, '.playground')];
  const playground = spawn('npm', ['run', '--silent', 'playground', '--', ...options], {
    cwd: clone,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(playground, 'exit');
  const stop = async () => {
    playground.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface(playground.stdout)) {
    const url = /^Ready after .*: (\S+)$/.exec(line)?.[1];
    if (url !== undefined) return { url, stop };
  }
  throw new Error('The playground exited before it was ready.');
}

/** Requests a refund above the limit and approves it; returns the seconds until the bot reported the result. */
async function approveFirstAction(url: string): Promise<number> {
  const step = tourSteps(NO_FACTS).find(({ id }) => id === 'approved-refund');
  if (step?.prompt === undefined) throw new Error('The tour has no refund that needs approval.');
  const [remi, alice] = await Promise.all([
    openPageClient(url, CAST.requester),
    openPageClient(url, CAST.alice),
  ]);
  const { botUserId } = await appOf(remi);
  const requestedAt = performance.now();
  const { ts: threadTs } = await remi.act('send', {
    channel: step.channel,
    text: `<@${botUserId}> ${step.prompt}`,
  });
  const inThread = (entities: readonly Entity[], words: RegExp) =>
    messagesMatching(entities, words).filter(
      (message) => message.threadTs === threadTs && message.user === botUserId,
    );
  const card = await alice.until((entities) => inThread(entities, /"text":"Approve"/)[0], {
    what: 'a card with Approve',
  });
  await alice.act('click', { target: { channel: card.channel, ts: card.ts }, ...approveButton(card.blocks) });
  await remi.until(
    (entities) => inThread(entities, /./).find(({ ts, isStreaming }) => ts > card.ts && !isStreaming),
    { what: 'what the bot says after the refund' },
  );
  const took = secondsSince(requestedAt);
  for (const client of [remi, alice]) client.close();
  return took;
}

function appOf(client: PageClient) {
  return client.until((entities) => entities.find((entity) => entity.kind === 'workspace')?.app, {
    what: 'the workspace',
  });
}

function approveButton(blocks: MessageEntity['blocks']) {
  for (const { block_id: blockId, elements } of blocks)
    for (const element of ActionElements.catch([]).parse(elements))
      if (element.action_id === APPROVE)
        return { actionId: APPROVE, blockId, ...(element.value !== undefined && { value: element.value }) };
  throw new Error('The card has no Approve button.');
}

/** Clones, installs, starts, requests and approves; everything is removed afterwards. */
async function measure(): Promise<readonly (readonly [string, number])[]> {
  const clone = await mkdtemp(join(tmpdir(), 'countersign-clone-'));
  try {
    await runTimed('git', ['clone', '--quiet', PROJECT, clone], { cwd: tmpdir() });
    const { seconds: install } = await runTimed('npm', ['install', '--no-progress'], { cwd: clone });
    const commandAt = performance.now();
    const playground = await startIn(clone);
    const ready = secondsSince(commandAt);
    const approved = await approveFirstAction(playground.url).finally(() => playground.stop());
    return [
      ['`npm install` in a fresh clone', install],
      ['`npm run playground` to "Ready"', ready],
      ['from the request to the approved and booked refund', approved],
      ['from the command to the first approved action', ready + approved],
    ];
  } finally {
    await rm(clone, { recursive: true, force: true });
  }
}

printSteps(await measure());
process.stdout.write(
  `\nNode ${process.versions.node}, ${cpus().length} cores, ${process.platform} ${process.arch}.\n`,
);
