import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { messagesMatching, openPageClient, type PageClient } from '../../../playground/page-client.ts';
import type { PlaygroundEntity } from '../../../playground/protocol.ts';
import { SAME_CTRL_C_MS } from '../../../playground/run-playground.ts';
import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';
import { expectGone, isAlive } from './processes.ts';
import { type CommandLine, runCommandLine } from './run-command-line.ts';

const PATIENCE_MS = 180_000;

/** Three starts on one data folder in sequence; each finds, or resets, the state of the previous one. */
describe('npm run playground', { timeout: PATIENCE_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-playground-'));
  let playground: CommandLine;
  let url: string;

  async function start(...args: readonly string[]): Promise<void> {
    playground = runCommandLine('--port', '0', '--data', folder, ...args);
    url = await playground.ready();
  }

  async function openClient(userId: string = CAST.requester): Promise<PageClient> {
    const client = await openPageClient(url, userId);
    onTestFinished(() => client.close());
    await client.until((entities) => entities[0], { what: 'anything' });
    return client;
  }

  function botOf(client: PageClient): PlaygroundEntity['bot'] | undefined {
    const entity = client.entities.get('playground');
    return entity?.kind === 'playground' ? entity.bot : undefined;
  }

  async function expectAllGone(processes: readonly number[]): Promise<void> {
    // The command line itself, the bot with its MCP server, Redis and its watchdog.
    expect(processes.length).toBeGreaterThanOrEqual(5);
    for (const processId of processes) await expectGone(processId);
  }

  afterAll(() => {
    playground.abandon();
    rmSync(folder, { recursive: true, force: true });
  });

  describe('on a new data folder', () => {
    beforeAll(() => start(), PATIENCE_MS);

    test('prints its address, the model, and how to stop it', () => {
      const output = playground.output();
      expect(output.match(/https?:\/\//g)).toHaveLength(1);
      expect(output).toContain('Model: scripted (fixed rules, no AI; set OPENAI_API_KEY for a real one)');
      expect(output).toContain('Press Ctrl-C here to stop.');
      expect(output).toContain(`Data is kept in ${folder} for the next start; --reset deletes it.`);
    });

    test('says each step of its start when it begins, and opens with a card that waits', async () => {
      const steps = [
        'Loading the playground.',
        'Starting Redis, the model and a Slack workspace.',
        'Redis runs and the page is built. Starting the bot.',
        'The bot is connected.',
        'Ready after',
      ];
      const places = steps.map((step) => playground.output().indexOf(step));
      expect(places).not.toContain(-1);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      const client = await openClient(CAST.alice);
      await client.until((entities) => messagesMatching(entities, /Approval needed: Refund \$120\.00/)[0], {
        what: 'the card',
      });
    });

    test('serves the page to a browser', async () => {
      const page = await fetch(url);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain('<div id="root">');
    });

    test('shows the tour and a bot that is connected', async () => {
      const client = await openClient();
      expect(botOf(client)).toMatchObject({ state: 'connected', kills: 0 });
      expect(client.entities.get('playground')).toMatchObject({
        model: { isScripted: true, name: 'scripted' },
      });
      const about = client.entities.get(`person:${CAST.alice}`);
      expect(about).toMatchObject({
        title: 'Approver',
        about: 'approves refunds, deployments and deletions',
      });
    });

    test('has a bot that answers, and marks the step of the tour that was done', async () => {
      const client = await openClient();
      const workspace = client.entities.get('workspace');
      const botUserId = workspace?.kind === 'workspace' ? workspace.app.botUserId : '';
      await client.act('send', {
        channel: CHANNELS.general,
        text: `<@${botUserId}> Please refund 20 dollars of order A-1001, it came late.`,
      });
      await client.until((entities) => messagesMatching(entities, /Refunded \$20\.00 of order A-1001/)[0], {
        what: 'the refund',
      });
      await client.until(
        (entities) =>
          entities
            .find((entity) => entity.kind === 'playground')
            ?.tour.find(({ id, isDone }) => id === 'small-refund' && isDone),
        { what: 'the step as done' },
      );
    });

    test('starts a killed bot again', async () => {
      const client = await openClient();
      const before = botOf(client)?.pid;
      const killed = await fetch(new URL('/playground/kill', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      expect(killed.ok).toBe(true);
      await client.until(() => botOf(client)?.state === 'down' || undefined, { what: 'a bot that is down' });
      await client.until(() => botOf(client)?.state === 'connected' || undefined, {
        what: 'a bot that is connected again',
        timeoutMs: PATIENCE_MS,
      });
      expect(botOf(client)).toMatchObject({ kills: 1 });
      expect(botOf(client)?.pid).not.toBe(before);
    });

    test('refuses a second playground on its folder in one sentence', async () => {
      const second = runCommandLine('--port', '0', '--data', folder);
      expect(await second.ended()).toBe(1);
      expect(second.output()).toBe(
        `Loading the playground.\nThe data folder ${folder} is in use by another playground; stop that one, or choose another folder with --data.\n`,
      );
    });

    test('refuses a second playground on its port in one sentence, and leaves nothing running', async () => {
      const other = mkdtempSync(join(tmpdir(), 'countersign-playground-'));
      onTestFinished(() => rmSync(other, { recursive: true, force: true }));
      const { port } = new URL(url);
      const second = runCommandLine('--port', port, '--data', other);
      expect(await second.ended()).toBe(1);
      expect(second.errors()).toBe(
        `Port ${port} is taken by another program; choose another one with --port.\n`,
      );
      await expectGone(redisProcessIn(other));
    });

    test('ends with everything on Ctrl-C, in order', async () => {
      const client = await openClient();
      const { ts = '' } = await client.act('send', { channel: CHANNELS.withoutBot, text: 'said' });
      const saved = () => readFileSync(join(folder, 'slack.json'), 'utf8');
      await expect.poll(saved).toContain('"text":"said"');
      await client.act('edit', { channel: CHANNELS.withoutBot, ts, text: 'edited just before the end' });
      const processes = playground.processes();
      playground.signal('SIGINT');
      expect(await playground.ended()).toBe(0);
      await expectAllGone(processes);
      expect(playground.output()).toMatch(/\n\nStopping\.\n$/);
    });
  });

  describe('on the same data folder', () => {
    beforeAll(() => start(), PATIENCE_MS);

    test('has kept the messages of people and the bot, and the record', async () => {
      const client = await openClient();
      const entities = [...client.entities.values()];
      expect(messagesMatching(entities, /edited just before the end/)).toHaveLength(1);
      expect(messagesMatching(entities, /Refunded \$20\.00 of order A-1001/)).toHaveLength(1);
      const steps = entities.find((entity) => entity.kind === 'playground')?.tour ?? [];
      expect(steps.filter(({ isDone }) => isDone).map(({ id }) => id)).toEqual(['small-refund']);
    });

    test('leaves nothing running when it is killed with SIGKILL', async () => {
      const processes = playground.processes();
      playground.signal('SIGKILL');
      await expectAllGone(processes);
    });
  });

  describe('with --reset', () => {
    beforeAll(() => start('--reset'), PATIENCE_MS);

    test('starts with the request of the first act alone', async () => {
      const client = await openClient();
      await client.until((all) => messagesMatching(all, /Refund \$120\.00 of order A-1001/)[0], {
        what: 'a card that waits',
      });
      const entities = [...client.entities.values()];
      expect(messagesMatching(entities, /\b20 dollars|edited just before/)).toEqual([]);
      const steps = entities.find((entity) => entity.kind === 'playground')?.tour ?? [];
      expect(steps.filter(({ isDone }) => isDone)).toEqual([]);
    });

    test('ends immediately on a second Ctrl-C, and its child processes end too', async () => {
      const client = await openClient();
      const bot = botOf(client)?.pid ?? 0;
      const processes = playground.processes();
      // A stopped bot delays the shutdown until its grace time is over.
      process.kill(bot, 'SIGSTOP');
      const goOn = () => isAlive(bot) && process.kill(bot, 'SIGCONT');
      onTestFinished(() => void goOn());
      playground.signal('SIGINT');
      await expect.poll(() => playground.output()).toContain('Stopping.');
      // The second press must come later than what counts as the same one. A third one could meet npm itself,
      // after its child has ended, and end npm by the signal.
      await sleep(2 * SAME_CTRL_C_MS);
      playground.signal('SIGINT');
      expect(await playground.ended()).toBe(130);
      expect(goOn()).toBe(true);
      await expectAllGone(processes);
    });
  });
});

/** The server's log names the process that wrote it. */
function redisProcessIn(folder: string): number {
  const log = readFileSync(join(folder, 'redis', 'server.log'), 'utf8');
  return Number(/pid=(\d+)/.exec(log)?.[1]);
}
