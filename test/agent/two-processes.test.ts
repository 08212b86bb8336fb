import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { builtProduct } from '../support/built-product.ts';

async function runProcess(step: 'pause' | 'approve', url: string, folder: string) {
  const program = join(await builtProduct(), 'transfer-process.js');
  const child = spawn(process.execPath, [program, step, url, folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [said, problems, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect(code, problems).toBe(0);
  return { pid: child.pid, said };
}

test('what pauses in one process is approved and done in another, once, through JSON on disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const local = await startLocalModel({
    script: [
      {
        calls: [
          { id: 'call_send', name: 'transferMoney', arguments: { cents: 500 } },
          { id: 'call_look', name: 'lookUpBalance', arguments: {} },
        ],
      },
      { text: 'Ada has it.' },
    ],
  });
  onTestFinished(() => local.stop());
  const ledger = () => readFile(join(folder, 'ledger'), 'utf8');

  const first = await runProcess('pause', local.url, folder);
  expect(first.said).toBe('interrupted');
  expect(await ledger()).toBe(`${first.pid} looked up\n`);

  const second = await runProcess('approve', local.url, folder);
  expect(second.said).toBe('Ada has it.');
  expect(await ledger()).toBe(`${first.pid} looked up\n${second.pid} sent 500\n`);
  expect(second.pid).not.toBe(first.pid);

  expect(local.requests[1]?.messages.slice(-2)).toEqual([
    { role: 'tool', tool_call_id: 'call_send', content: 'sent' },
    { role: 'tool', tool_call_id: 'call_look', content: '0' },
  ]);
});
