import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { thisMachine } from '../playground/install/machine.ts';
import { startLocalModel } from '../playground/model/start-local-model.ts';
import { obtainServer } from '../playground/redis/obtain-server.ts';
import { startServer } from '../playground/redis/start-server.ts';
import { appFromManifest } from '../playground/slack/app-from-manifest.ts';
import { CAST, CHANNELS } from '../playground/slack/default-cast.ts';
import { startLocalSlack } from '../playground/slack/start-local-slack.ts';
import { APPROVE } from '../src/bot/views/cards/action-ids.ts';
import { SHIPPED_SLACK } from '../src/tools/manifest/schema/slack.ts';
import { printSteps, runTimed, secondsSince } from './run-timed.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const PING = { calls: [{ name: 'ping', arguments: { word: 'ok' } }] };
const TICKET = { name: 'open_ticket', arguments: { title: 'Door is stuck' } };
/** An unhurried reader. */
const WORDS_PER_MINUTE = 200;

/** Counts what has to be read on the way: the README until the first command works, and the start page until the bot runs. */
async function readingSeconds(clone: string): Promise<number> {
  const readme = await readFile(join(clone, 'README.md'), 'utf8');
  const start = await readFile(join(clone, 'docs/start.md'), 'utf8');
  const text = `${readme.slice(0, readme.indexOf('## How finished it is'))} ${start.slice(0, start.indexOf('## 2.'))}`;
  return (60 * text.split(/\s+/).length) / WORDS_PER_MINUTE;
}

/** Starts the bot of a folder, and resolves when it is connected. */
async function startBot(folder: string, env: NodeJS.ProcessEnv) {
  // npx would end before the bot does.
  const child = spawn(join(folder, 'node_modules/.bin/countersign'), ['start'], {
    cwd: folder,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  for await (const line of createInterface(child.stdout))
    if (line.includes('connected to Slack')) {
      child.stdout.resume();
      return stop;
    }
  throw new Error('The bot ended before it was connected.');
}

/** Goes a newcomer's way from a clone to an approved action in their Slack, for which the strict local one stands in. */
async function measure(): Promise<readonly (readonly [string, number])[]> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-newcomer-'));
  const [clone, bot] = [join(folder, 'countersign'), join(folder, 'my-bot')];
  const redis = await startServer({
    server: await obtainServer(process.env, thisMachine(), () => {}),
    dataFolder: undefined,
    persistent: true,
    env: process.env,
  });
  const slack = await startLocalSlack({ app: appFromManifest(SHIPPED_SLACK) });
  const model = await startLocalModel({
    script: [PING, PING, { calls: [TICKET] }, { text: 'The ticket is open.' }],
  });
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const tokens = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    OPENAI_API_KEY: 'scripted',
  };
  const answers = ['--approvers', '@approvers', '--admins', 'ada', '--redis', redis.url];
  const ours = ['--base-url', model.url, '--model', 'scripted'];
  const step = (command: string, args: readonly string[], cwd: string, more: object = {}) =>
    runTimed(command, args, { cwd, env: { ...env, ...more } }).then(({ seconds }) => seconds);
  const steps: [string, number][] = [];
  try {
    steps.push(['`git clone`', await step('git', ['clone', '--quiet', PROJECT, clone], folder)]);
    steps.push(['`npm install` in the clone', await step('npm', ['install', '--no-progress'], clone)]);
    const init = ['countersign', 'init', '../my-bot', ...answers, ...ours];
    steps.push(['`npx countersign init ../my-bot`', await step('npx', init, clone, tokens)]);
    steps.push(['`npm install` in my-bot', await step('npm', ['install', '--no-progress'], bot)]);
    steps.push(['`npx countersign doctor`', await step('npx', ['countersign', 'doctor'], bot)]);
    const startedAt = performance.now();
    const stop = await startBot(bot, env);
    steps.push(['`npx countersign start` to connected', secondsSince(startedAt)]);
    try {
      steps.push(...(await approveTicket(slack.workspace, join(bot, 'tickets.jsonl'))));
    } finally {
      await stop();
    }
    const machine = steps.reduce((sum, [, seconds]) => sum + seconds, 0);
    const reading = await readingSeconds(clone);
    return [
      ...steps,
      ['all of it', machine],
      [
        `reading the README and the first step of docs/start.md, at ${WORDS_PER_MINUTE} words a minute`,
        reading,
      ],
      ['with reading', machine + reading],
    ];
  } finally {
    await Promise.all([slack.stop(), model.stop(), redis.stop()]);
    await rm(folder, { recursive: true, force: true });
  }
}

type Workspace = Awaited<ReturnType<typeof startLocalSlack>>['workspace'];

/** Asks for a ticket and approves it; the effect is a line in a file. */
async function approveTicket(workspace: Workspace, effect: string): Promise<[string, number][]> {
  const askedAt = performance.now();
  const mention = `<@${workspace.state.app.botUserId}> the door is stuck`;
  const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, mention);
  const shows = (words: RegExp) =>
    workspace.until(
      () =>
        workspace
          .messagesIn(CHANNELS.general, ts)
          .find(({ text, blocks }) => words.test(`${text}${JSON.stringify(blocks ?? [])}`)),
      { what: String(words) },
    );
  const card = await shows(new RegExp(`Door is stuck[\\s\\S]*${APPROVE}`));
  const toCard = secondsSince(askedAt);
  if (existsSync(effect)) throw new Error('It ran before it was approved.');
  const clickedAt = performance.now();
  await workspace.as(CAST.alice).click({ channel: CHANNELS.general, ts: card.ts }, APPROVE);
  await shows(/The ticket is open\./);
  if (!(await readFile(effect, 'utf8')).includes('Door is stuck')) throw new Error('It did not run.');
  return [
    ['from the message to the card', toCard],
    ['from the click to the effect and the reply', secondsSince(clickedAt)],
  ];
}

printSteps(await measure());
process.stdout.write(
  `\nNode ${process.versions.node}, ${cpus().length} cores, ${process.platform} ${process.arch}.\n`,
);
