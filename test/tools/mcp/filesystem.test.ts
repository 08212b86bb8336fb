import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, npmServer, openForAll, temporaryFolder } from './support.ts';

const server = openForAll((sandbox) => npmServer('filesystem', [sandbox]));

test('a file in the sandbox is read', async () => {
  const sandbox = server().folder;
  writeFileSync(join(sandbox, 'order.txt'), 'twelve lemons');
  const output = await call(server(), 'filesystem_read_text_file', { path: join(sandbox, 'order.txt') });
  expect(output).toEqual({ content: 'twelve lemons' });
});

test('a file in the sandbox is written', async () => {
  const sandbox = server().folder;
  const path = join(sandbox, 'new.txt');
  await call(server(), 'filesystem_write_file', { path, content: 'ten limes' });
  expect(readFileSync(path, 'utf8')).toBe('ten limes');
});

test('a file outside the sandbox is refused in the words of the server', async () => {
  const path = join(temporaryFolder(), 'secret.txt');
  writeFileSync(path, 'secret');
  await expect(call(server(), 'filesystem_read_text_file', { path })).rejects.toMatchObject({
    code: 'failed',
    message: expect.stringMatching(/Access denied - path outside allowed directories/),
  });
});

test('the hints of the server stand beside the tool, and none makes it idempotent', async () => {
  expect(server().hintsOf('filesystem_read_text_file')).toMatchObject({ readOnly: true });
  expect(server().hintsOf('filesystem_write_file')).toEqual({
    title: 'Write File',
    readOnly: false,
    destructive: true,
    idempotent: true,
  });
  const write = server()
    .tools()
    .find(({ name }) => name === 'filesystem_write_file');
  expect(write).toMatchObject({ kind: 'tool', effect: 'once' });
});
