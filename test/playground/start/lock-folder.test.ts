import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { lockFolder } from '../../../playground/start/lock-folder.ts';
import { temporaryFolder } from '../install/stand-ins.ts';

async function hold(folder: string) {
  const held = await lockFolder(folder);
  onTestFinished(() => held.release());
  return held;
}

test('a folder that is missing is made and held', async () => {
  const folder = join(temporaryFolder(), 'of', 'mine');
  const { path } = await hold(folder);
  expect(existsSync(path)).toBe(true);
});

test('a folder in use is refused in one sentence, however it is spelled', async () => {
  const folder = temporaryFolder();
  await hold(folder);
  const spelled = `${folder}/../${folder.split('/').at(-1)}/`;
  await expect(lockFolder(spelled)).rejects.toThrow(
    `The data folder ${spelled} is in use by another playground; stop that one, or choose another folder with --data.`,
  );
});

test('a released folder can be held again', async () => {
  const folder = temporaryFolder();
  await (await lockFolder(folder)).release();
  await hold(folder);
});

test('a folder is free once the process that held it was killed', async () => {
  const folder = temporaryFolder();
  const module = fileURLToPath(new URL('../../../playground/start/lock-folder.ts', import.meta.url));
  const program = `import { lockFolder } from ${JSON.stringify(module)};
    await lockFolder(${JSON.stringify(folder)});
    process.stdout.write('held');
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  await expect(lockFolder(folder)).rejects.toThrow('is in use by another playground');
  const ended = once(holder, 'exit');
  holder.kill('SIGKILL');
  await ended;
  await hold(folder);
});

test('a path where no folder can be created is refused in one sentence', async () => {
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  await expect(lockFolder(join(file, 'data'))).rejects.toThrow(
    `The data folder ${join(file, 'data')} cannot be made (ENOTDIR); choose another one with --data.`,
  );
});
