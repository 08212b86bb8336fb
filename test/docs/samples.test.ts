import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { extractSamples } from '../../scripts/extract-samples.ts';
import { runOnce } from '../tools/gate/support.ts';
import { actionIn, manifestOf, openTools } from '../tools/toolbox/support.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const samples = extractSamples();

function fileOf(name: string): string {
  const file = samples.find((sample) => sample.name === name)?.file;
  if (file === undefined) throw new Error(`There is no sample ${name}`);
  return file;
}

test('every TypeScript sample of the documentation is run here', () => {
  expect(samples.map(({ name }) => name)).toEqual(['docs/library.md 1', 'docs/modules.md 1']);
});

test('the loop as a library pauses a transfer, and makes it when it was approved', async () => {
  const model = await startLocalModel({
    script: [
      { calls: [{ name: 'transferMoney', arguments: { toAccountId: 'ABC123', amount: 100_000 } }] },
      { text: 'The money is on its way.' },
    ],
  });
  onTestFinished(() => model.stop());
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', fileOf('docs/library.md 1')],
    {
      cwd: root,
      env: { ...process.env, OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: model.url },
    },
  );
  expect(stdout).toBe("{ message: 'Please confirm.' }\nThe money is on its way.\n");
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).toContain('sent 100000 cents to ABC123');
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
