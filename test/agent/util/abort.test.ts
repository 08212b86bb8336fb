import { execFile } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { followSignals } from '../../../src/agent/util/abort.ts';
import { buildModule } from '../../support/build-module.ts';

const program = (module: string) => `
import { followSignals } from ${JSON.stringify(pathToFileURL(module).href)};
const sources = [new AbortController().signal, new AbortController().signal];
const follow = async (times) => {
  for (let i = 0; i < times; i += 1) {
    const { signal, end } = followSignals(sources);
    const own = new AbortController();
    signal.addEventListener('abort', () => own.abort());
    end();
  }
  for (let i = 0; i < 3; i += 1) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return process.memoryUsage().heapUsed;
};
const all = Array.from({ length: 20 }, () => followSignals(sources));
for (const { end } of all) end();
await follow(1_000);
const before = await follow(1_000);
const after = await follow(5_000);
console.log(JSON.stringify({ grown: (after - before) / 5_000 }));
`;

describe('a signal that follows others', () => {
  test('fires with the first of them and its reason, and not after its end', () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const both = followSignals([first.signal, second.signal]);
    const ended = followSignals([first.signal, second.signal]);
    ended.end();
    second.abort('enough');
    first.abort('too late');
    expect(both.signal.reason).toBe('enough');
    expect(ended.signal.aborted).toBe(false);
    expect(followSignals([first.signal]).signal.reason).toBe('too late');
  });

  test('leaves nothing behind when it has ended, though somebody still listens to it', async () => {
    const module = await buildModule('src/agent/util/abort.ts');
    const args = ['--expose-gc', '--input-type=module', '--eval', program(module)];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
    expect(stderr).toBe('');
    // A signal that is kept takes some 2,000 bytes.
    expect(JSON.parse(stdout).grown).toBeLessThan(200);
  });
});
