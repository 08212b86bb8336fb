import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { saveOnChange } from '../../../playground/start/save-on-change.ts';
import { deleteSaved, loadSaved } from '../../../playground/start/saved-state.ts';
import { temporaryFolder } from '../install/stand-ins.ts';

function keep(value: { count: number }, folder = temporaryFolder()) {
  const file = join(folder, 'slack.json');
  const problems: unknown[] = [];
  let writes = 0;
  const snapshot = () => {
    writes += 1;
    return value;
  };
  const kept = saveOnChange({ file, snapshot, onProblem: (error) => problems.push(error), delayMs: 5 });
  return {
    kept,
    file,
    folder,
    problems,
    writes: () => writes,
    read: () => JSON.parse(readFileSync(file, 'utf8')),
  };
}

test('changes are written automatically, several at a time', async () => {
  const value = { count: 0 };
  const { kept, file, writes, read } = keep(value);
  for (let change = 1; change <= 50; change += 1) {
    value.count = change;
    kept.changed();
  }
  await expect.poll(() => existsSync(file) && read()).toEqual({ count: 50 });
  expect(writes()).toBe(1);
});

test('a change during a write is written too', async () => {
  const value = { count: 1 };
  const { kept, read } = keep(value);
  kept.changed();
  await expect.poll(() => read()).toEqual({ count: 1 });
  value.count = 2;
  kept.changed();
  await kept.flush();
  expect(read()).toEqual({ count: 2 });
});

test('a flush writes pending changes, and nothing without changes', async () => {
  const { kept, file, folder, writes, read } = keep({ count: 3 });
  await kept.flush();
  expect(existsSync(file)).toBe(false);
  kept.changed();
  await kept.flush();
  expect(read()).toEqual({ count: 3 });
  await kept.flush();
  expect(writes()).toBe(1);
  expect(readdirSync(folder)).toEqual(['slack.json']);
});

test('a failed write is reported, and the next change is written', async () => {
  const { kept, file, problems, read } = keep({ count: 4 });
  mkdirSync(`${file}.new`);
  kept.changed();
  await kept.flush();
  expect(problems).toHaveLength(1);
  rmSync(`${file}.new`, { recursive: true });
  kept.changed();
  await kept.flush();
  expect(read()).toEqual({ count: 4 });
});

test('a folder without a saved workspace has none', async () => {
  expect(await loadSaved(temporaryFolder())).toBeUndefined();
});

test.each(['', '{"workspace":', '[]', '{"workspace":1}'])(
  'a saved workspace that says %j is refused in one sentence',
  async (text) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'slack.json'), text);
    await expect(loadSaved(folder)).rejects.toThrow(
      `${join(folder, 'slack.json')} cannot be read; use --reset to delete it and start over.`,
    );
  },
);

test("a reset deletes the playground's files, and nothing else", async () => {
  const folder = temporaryFolder();
  for (const name of ['slack.json', 'bot.log', 'mine.txt']) writeFileSync(join(folder, name), '');
  mkdirSync(join(folder, 'redis', 'appendonlydir'), { recursive: true });
  await deleteSaved(folder);
  expect(readdirSync(folder)).toEqual(['mine.txt']);
});
