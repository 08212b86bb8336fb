import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moodyServer } from '../tools/mcp/support.ts';
import { GOOD, jsonLines, newFolder, run, writeManifest } from './support.ts';

/** A manifest with the MCP server of the fixtures, in a folder of its own. */
function lockable() {
  const folder = newFolder();
  const { command, args } = moodyServer().config;
  const server = `{ command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} }`;
  const MANIFEST = writeManifest(
    `${GOOD.replace(/tools:[\s\S]*$/, '')}tools: { moody: { mcp: ${server} } }\n`,
    folder,
  );
  return { environment: { MANIFEST }, file: join(folder, 'manifest.lock.json') };
}

const lockFindings = async (environment: Readonly<Record<string, string>>) => {
  const [report] = jsonLines((await run(['doctor', '--json'], environment)).out);
  const findings = report?.findings as { check: string; status: string; message: string; fix?: string }[];
  return findings
    .filter(({ check }) => check === 'tool lock' || check === 'tool moody')
    .map(
      ({ status, message, fix }) => `${status}: ${[message, ...(fix === undefined ? [] : [fix])].join('; ')}`,
    );
};

test('the lock holds one sorted line for each tool of each server, and locking again changes nothing', async () => {
  const { environment, file } = lockable();
  const first = await run(['manifest', 'lock'], environment);
  expect(first).toMatchObject({ code: 0, error: '' });
  expect(first.out).toContain('new: moody: greet\n');
  expect(first.out).toContain('manifest.lock.json: 9 definitions of 1 servers\n');
  const text = readFileSync(file, 'utf8');
  const tools = Object.keys(JSON.parse(text).servers.moody);
  expect(tools).toEqual([...tools].sort());
  const again = await run(['manifest', 'lock'], environment);
  expect(again.out).toBe('manifest.lock.json: 9 definitions of 1 servers\n');
  expect(readFileSync(file, 'utf8')).toBe(text);
});

test('doctor recommends the lock, confirms it, and names each definition that differs from it', async () => {
  const { environment, file } = lockable();
  expect(await lockFindings(environment)).toContainEqual(
    expect.stringMatching(/^warning: servers can change their tools unseen.*countersign manifest lock/),
  );
  await run(['manifest', 'lock'], environment);
  expect(await lockFindings(environment)).toContain('ok: all 9 definitions match the lock file');
  const locked = readFileSync(file, 'utf8');
  writeFileSync(file, locked.replace(/"greet": ".{4}/, '"greet": "0000'));
  const findings = await lockFindings(environment);
  expect(findings).toContainEqual(
    expect.stringMatching(/^failed: greet: its definition has changed since it was locked/),
  );
  expect(findings).toContain(
    'failed: 1 tool definition differs from the lock file, so the tool is disabled; review it and run "countersign manifest lock"',
  );
});

test('a server that cannot be reached is named, and nothing is locked', async () => {
  const folder = newFolder();
  const MANIFEST = writeManifest(
    `${GOOD.replace(/tools:[\s\S]*$/, '')}tools: { gone: { mcp: { command: /bin/false } } }\n`,
    folder,
  );
  const { code, error } = await run(['manifest', 'lock'], { MANIFEST });
  expect(code).toBe(1);
  expect(error).toMatch(/nothing was locked\ngone: /);
  expect(() => readFileSync(join(folder, 'manifest.lock.json'))).toThrow('ENOENT');
});
