import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, inject, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { appFromManifest } from '../../playground/slack/app-from-manifest.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { extractSamples } from '../../scripts/extract-samples.ts';
import { openWith, resumeWith } from '../../src/tools/gate.ts';
import { SHIPPED_SLACK } from '../../src/tools/manifest/schema/slack.ts';
import { askOf, meaningOf } from '../../src/tools/pause.ts';
import { newFolder, writeManifest } from '../commands/support.ts';
import { KEYS, startCalling } from '../stories/calling.ts';
import { clickCard } from '../support/click-card.ts';
import { PATIENT_SLACK } from '../support/patience.ts';
import { interruptIn, runOnce } from '../tools/gate/support.ts';
import { actionIn, manifestOf, openTools } from '../tools/toolbox/support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const samples = extractSamples();

function fileOf(name: string): string {
  const file = samples.find((sample) => sample.name === name)?.file;
  if (file === undefined) throw new Error(`There is no sample ${name}`);
  return file;
}

test('every TypeScript sample of the documentation is run here', () => {
  expect(samples.map(({ name }) => name)).toEqual([
    'docs/door.md 1',
    'docs/library.md 1',
    'docs/modules.md 1',
    'docs/modules.md 2',
    'docs/modules.md 3',
    'docs/modules.md 4',
  ]);
});

test.each([
  ['yes', 'Sent 100000 cents to ABC123'],
  ['no', '"reason":"Too much."'],
])('the loop as a library pauses a transfer, and a %s decides about it', async (answer, told) => {
  const model = await startLocalModel({
    script: [
      { calls: [{ name: 'transferMoney', arguments: { to: 'ABC123', cents: 100_000 } }] },
      { text: 'That is all.' },
    ],
  });
  onTestFinished(() => model.stop());
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', fileOf('docs/library.md 1')],
    {
      cwd: root,
      env: { ...process.env, OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: model.url, ANSWER: answer },
    },
  );
  expect(stdout).toBe('That is all.\n');
  expect(model.requests.at(-1)?.messages.at(-1)).toMatchObject({ content: expect.stringContaining(told) });
});

test('the job of the page of the door asks, waits while people decide, and prints the result', async () => {
  const door = await startCalling();
  const job = promisify(execFile)(process.execPath, ['--import', 'tsx', fileOf('docs/door.md 1')], {
    cwd: root,
    env: {
      ...process.env,
      COUNTERSIGN_URL: `http://127.0.0.1:${door.bot().port}`,
      NIGHT_JOB_KEY: KEYS.pipeline,
    },
  });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect((await job).stdout).toBe('succeeded {"orderId":"A-1001","refunded":12000,"total":12000}\n');
});

test('the same transfer takes no fewer lines in any other library, and the page counts them right', () => {
  const read = (page: string) => readFileSync(join(root, 'docs', page), 'utf8');
  const linesOf = (page: string) =>
    [...read(page).matchAll(/^```ts\n(.*?)^```$/gms)].map(
      ([, code = '']) => code.split('\n').filter((line) => line.trim() !== '').length,
    );
  const [ours = 0] = linesOf('library.md');
  const others = linesOf('examples/transfer.md');
  const counted = [...read('library.md').matchAll(/^\| [\w ]+ \| (\d+) \|/gm)].map(([, lines]) =>
    Number(lines),
  );
  expect(others).toHaveLength(3);
  expect(counted).toEqual([ours, ...others]);
  expect(ours).toBeLessThanOrEqual(Math.min(...others));
});

test('the module of the page of modules is a tool that the bot can load and run', async () => {
  const file = fileOf('docs/modules.md 1');
  const toolbox = await openTools(
    manifestOf(`  tickets: { module: ${file}, approval: { require: never } }\n`),
  );
  expect(toolbox.problems()).toEqual([]);
  expect(await runOnce(actionIn(toolbox, 'open_ticket'), { title: 'Door is stuck' })).toMatchObject({
    toolResponse: { output: { ticket: 'T-1: Door is stuck, requested by U1' } },
  });
});

test('the test of the page of modules approves a call of a tool, and gets its output', async () => {
  const folder = newFolder();
  const module = join(root, 'templates/tools/open-ticket.mts');
  writeManifest(
    `policies: { default: { approvers: [${CAST.alice}] } }\ntools: { open_ticket: { module: ${module} } }\n`,
    folder,
  );
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), fileOf('docs/modules.md 4')],
    { cwd: folder, env: { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.json') } },
  );
  expect(stdout).toMatch(/^ran \{ ticket: 'T-\d+' \}\n$/);
});

test('the tool of the page of modules that asks twice keeps both answers', async () => {
  const file = fileOf('docs/modules.md 2');
  const toolbox = await openTools(manifestOf(`  rooms: { module: ${file}, approval: { require: never } }\n`));
  expect(toolbox.problems()).toEqual([]);
  const tool = actionIn(toolbox, 'book_room');
  const first = interruptIn(await runOnce(tool, { people: 6 }));
  expect(askOf(first)).toMatchObject({ message: 'Which room for 6?', by: 'requester' });
  const answered = (interrupt: typeof first, answer: string) => {
    const ask = askOf(interrupt);
    const meaning = ask && meaningOf(ask, answer);
    if (ask === undefined || meaning?.reply !== 'restart') throw new Error('It is not restarted.');
    return resumeWith(interrupt, { ask, answer, resumed: meaning.resumed }, 'U1');
  };
  const second = interruptIn(await runOnce(tool, { people: 6 }, { resumed: answered(first, 'Blue') }));
  expect(askOf(second)).toMatchObject({ message: 'The blue room costs $40.', by: { policy: 'default' } });
  const resumed = openWith(
    second,
    { by: 'U2', own: true, under: null },
    { room: 'blue', status: 'APPROVED' },
  );
  expect(await runOnce(tool, { people: 6 }, { resumed })).toMatchObject({
    toolResponse: { output: { booked: 'blue' } },
  });
});

test('the program of the page of modules starts a bot, whose tool runs when it was approved', async () => {
  const slack = await startLocalSlack({ timings: PATIENT_SLACK, app: appFromManifest(SHIPPED_SLACK) });
  onTestFinished(() => slack.stop());
  const payment = { name: 'transfer_money', arguments: { to: 'ABC', cents: 100 } };
  const model = await startLocalModel({ script: [{ calls: [payment] }, { text: 'It is on its way.' }] });
  onTestFinished(() => model.stop());
  const child = spawn(process.execPath, ['--import', 'tsx', fileOf('docs/modules.md 3')], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: model.url,
      REDIS_URL: inject('redisUrl'),
      REDIS_PREFIX: `sample-${randomUUID()}`,
      MANIFEST: writeManifest(`policies: { default: { approvers: [${CAST.alice}] } }\n`),
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const lines = createInterface(child.stdout);
  await new Promise<void>((resolve, reject) => {
    lines.on('line', (line) => line.includes('connected to Slack') && resolve());
    lines.on('close', () => reject(new Error('The program ended before it was connected.')));
  });
  const { workspace } = slack;
  const mention = `<@${workspace.state.app.botUserId}> pay ABC`;
  const { ts } = workspace.as(CAST.requester).send(CHANNELS.general, mention);
  const shows = (words: RegExp) =>
    workspace.until(
      () =>
        workspace
          .messagesIn(CHANNELS.general, ts)
          .find(({ text, blocks }) => words.test(`${text}${JSON.stringify(blocks ?? [])}`)),
      { what: String(words) },
    );
  const card = await shows(/Transfer money[\s\S]*approve/i);
  await clickCard(workspace, CAST.alice, { channel: CHANNELS.general, ts: card.ts }, 'approve');
  await shows(/It is on its way\./);
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain('sent 100 cents to ABC');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});
