import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCK_FILE, writeLock } from '../../../src/tools/manifest/tool-lock.ts';
import { interruptIn, runOnce } from '../gate/support.ts';
import { eventually, moodyServer, temporaryFolder } from '../mcp/support.ts';
import { actionIn, manifestOf, openTools } from './support.ts';

/** A toolbox with the server of the fixtures, whose calls need no approval. */
async function openMoody() {
  const folder = temporaryFolder();
  const { command, args } = moodyServer().config;
  const server = `{ command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} }`;
  const manifest = manifestOf(`  moody:\n    mcp: ${server}\n    approval: { require: never }\n`);
  const toolbox = await openTools(manifest, { folder });
  const lock = async () => {
    await writeLock(folder, toolbox.definitions());
    await toolbox.replace(manifest);
  };
  return { folder, manifest, toolbox, lock };
}

test('a locked tool runs by its rule; one that changes is offered to nobody until it is locked again', async () => {
  const { toolbox, lock } = await openMoody();
  await lock();
  expect(toolbox.problems()).toEqual([]);
  expect(await runOnce(actionIn(toolbox, 'greet'), {})).toMatchObject({ status: 'ok' });
  await runOnce(actionIn(toolbox, 'refine'), {});
  await eventually(() => expect(toolbox.find('greet')).toBeUndefined());
  expect(toolbox.problems()).toEqual([expect.stringMatching(/^moody: greet: .*changed since it was locked/)]);
  await lock();
  expect(await runOnce(actionIn(toolbox, 'greet'), { name: 'Tomo' })).toMatchObject({ status: 'ok' });
});

test('a change that the server does not announce is found before the call', async () => {
  const { toolbox, lock } = await openMoody();
  await lock();
  const greet = actionIn(toolbox, 'greet');
  await runOnce(actionIn(toolbox, 'refine'), { quietly: true });
  interruptIn(await runOnce(greet, { name: 'Tomo' }));
  expect(toolbox.find('greet')).toBeUndefined();
});

test('a lock file that cannot be read locks every tool of a server out', async () => {
  const { folder, manifest, toolbox } = await openMoody();
  writeFileSync(join(folder, LOCK_FILE), '{ "version": 1');
  await toolbox.replace(manifest);
  expect(toolbox.find('greet')).toBeUndefined();
  expect(toolbox.unlocked()).toHaveLength(9);
});
