import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv } from 'node:process';
import { z } from 'zod';
import { defineTool, generate, openAIModel, parseMessage } from '../../src/index.ts';

/*
 * One of the two processes of the story: `pause` starts a task, keeps it as JSON in the folder and ends; `approve` knows
 * nothing but that JSON. What the tools do is a line in the ledger, with the process that did it.
 */
const [, , step, baseURL, folder = '.'] = argv;
const threadFile = join(folder, 'thread.json');
const record = (line: string) => appendFile(join(folder, 'ledger'), `${process.pid} ${line}\n`);

const lookUpBalance = defineTool(
  { name: 'lookUpBalance', description: 'looks up the balance', outputSchema: z.number() },
  async () => {
    await record('looked up');
    return 0;
  },
);
const transferMoney = defineTool(
  {
    name: 'transferMoney',
    description: 'transfers money',
    inputSchema: z.object({ cents: z.number() }),
    outputSchema: z.string(),
  },
  async ({ cents }, { interrupt, resumed }) => {
    if (resumed?.approved !== true) return interrupt({ ask: `Send ${cents}?` });
    await record(`sent ${cents}`);
    return 'sent';
  },
);
const settings = {
  model: openAIModel({ model: 'scripted', apiKey: 'test', baseURL, firstRetryMs: 1 }),
  tools: [lookUpBalance, transferMoney],
} as const;

if (step === 'pause') {
  const { finishReason, messages } = await generate({ ...settings, prompt: 'Send 500 to Ada.' });
  await writeFile(threadFile, JSON.stringify(messages));
  process.stdout.write(finishReason);
} else {
  const kept: unknown[] = JSON.parse(await readFile(threadFile, 'utf8'));
  const history = kept.map(parseMessage);
  const waiting = history.flatMap(({ content }) =>
    content.flatMap((part) => ('interrupt' in part ? [part.interrupt] : [])),
  );
  const { text } = await generate({
    ...settings,
    messages: history,
    resume: { restart: waiting.map((interrupt) => transferMoney.restart(interrupt, { approved: true })) },
  });
  process.stdout.write(text);
}
