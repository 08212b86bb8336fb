import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { approvalOf } from '../../../src/tools/gate.ts';
import { approve, ask, attempt } from '../../store/support.ts';
import { connectTestRedis } from '../../support/redis.ts';
import { interruptIn, runOnce } from '../gate/support.ts';
import { eventually, moodyServer, temporaryFolder } from '../mcp/support.ts';
import { APPROVED, actionIn, digestOf, manifestOf, openTools, writeModule } from './support.ts';

const FILES = 'node_modules/@modelcontextprotocol/server-filesystem/dist/index.js';
const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

/** The server of the fixtures, and its entry in a manifest. */
function moodyEntry() {
  const moody = moodyServer();
  const { command, args } = moody.config;
  const entry = `  moody:\n    mcp: { command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} }\n`;
  return { moody, entry };
}

test('the hints of a server open nothing, unless the manifest trusts them', async () => {
  const folder = temporaryFolder();
  const files = (rest: string) =>
    manifestOf(`  files:\n    mcp: { command: node, args: [${FILES}, "${folder}"]${rest} }\n`);
  const wary = await openTools(files(''));
  interruptIn(await runOnce(actionIn(wary, 'list_directory'), { path: folder }));
  expect(wary.find('write_file')?.execution.idempotent).toBe(false);
  expect(wary.find('list_directory')?.tool).toMatchObject({ effect: 'once' });

  const trusting = await openTools(files(', trust_hints: true'));
  expect(await runOnce(actionIn(trusting, 'list_directory'), { path: folder })).toMatchObject({
    status: 'ok',
  });
  interruptIn(await runOnce(actionIn(trusting, 'write_file'), { path: join(folder, 'a'), content: 'a' }));
  expect(trusting.find('write_file')?.execution).toMatchObject({ idempotent: true, maxAttempts: 3 });
  expect(trusting.find('write_file')?.tool).toMatchObject({ effect: 'idempotent' });
  expect(trusting.find('list_directory')?.tool).toMatchObject({ effect: 'none' });
  // No hint says that something can be taken back, destructive or not.
  const servers = trusting.tools().map(({ name }) => trusting.find(name));
  const ofServer = servers.filter((entry) => entry?.source === 'mcp');
  expect(new Set(ofServer.map((entry) => entry?.reversible))).toEqual(new Set(['no']));
});

test('what the manifest says of a tool goes before a trusted hint', async () => {
  const folder = temporaryFolder();
  const toolbox = await openTools(
    manifestOf(`  files:
    mcp: { command: node, args: [${FILES}, "${folder}"], trust_hints: true }
    approval: [ { match: "list_*", policy: finance } ]
`),
  );
  const interrupt = interruptIn(await runOnce(actionIn(toolbox, 'list_directory'), { path: folder }));
  expect(approvalOf(interrupt)?.policy).toBe('finance');
  expect(await runOnce(actionIn(toolbox, 'read_text_file'), { path: folder })).not.toHaveProperty(
    'interrupt',
  );
});

test('through the filesystem server a read runs without approval, and a write asks and runs after it', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'order.txt'), 'twelve lemons');
  const toolbox = await openTools(
    manifestOf(`  files:
    mcp: { command: node, args: [${FILES}, "${folder}"] }
    approval: [ { match: "read_*", require: never }, { match: "*", policy: default } ]
`),
  );
  const read = await runOnce(actionIn(toolbox, 'read_text_file'), { path: join(folder, 'order.txt') });
  expect(read).toMatchObject({
    status: 'ok',
    toolResponse: { output: { untrusted_output: { content: 'twelve lemons' } } },
  });

  const path = join(folder, 'new.txt');
  const input = { path, content: 'ten limes' };
  const interrupt = interruptIn(await runOnce(actionIn(toolbox, 'write_file'), input));
  expect(approvalOf(interrupt)?.policy).toBe('default');
  expect(() => readFileSync(path)).toThrow('ENOENT');
  await runOnce(actionIn(toolbox, 'write_file'), input, { resumed: { ...APPROVED } });
  expect(readFileSync(path, 'utf8')).toBe('ten limes');
});

test('a tool whose definition a server has changed has another digest, so that what was signed for it is superseded', async () => {
  const { entry } = moodyEntry();
  const toolbox = await openTools(manifestOf(`${entry}    approval: { require: never }\n`));
  const redis = connectTestRedis();
  const store = openRedisStore(redis);
  const [greet, tick] = [digestOf(toolbox, 'greet'), digestOf(toolbox, 'tick')];
  const signed = async (digest: string) => {
    const id = await ask(store, { digest });
    await store.vote(id, approve('U-ann', { shown: digest }));
    return id;
  };
  const [greeting, ticking] = [await signed(greet), await signed(tick)];

  await runOnce(actionIn(toolbox, 'refine'), {});
  await eventually(() => expect(toolbox.find('greet')?.tool.description).toBe('Greets loudly'));
  expect(await store.start(greeting, attempt('a', { digest: digestOf(toolbox, 'greet') }))).toEqual({
    outcome: 'superseded',
    reason: 'changed',
  });
  expect(await store.start(ticking, attempt('b', { digest: digestOf(toolbox, 'tick') }))).toMatchObject({
    outcome: 'started',
  });
  await redis.close();
});

test('a changed manifest exchanges what it changes, and a source that it leaves alone stays open', async () => {
  const folder = temporaryFolder();
  writeModule(folder, 'one.ts', 'one');
  writeModule(folder, 'two.ts', 'two');
  const { entry, moody } = moodyEntry();
  const toolbox = await openTools(manifestOf(`${entry}  one: { module: ./one.ts }\n`), { folder });
  const pid = moody.pid();
  interruptIn(await runOnce(actionIn(toolbox, 'one'), {}));

  const next = manifestOf(
    `${entry}  one: { module: ./one.ts, approval: { require: never } }\n  two: { module: ./two.ts }\n`,
  );
  await toolbox.replace(next);
  expect(toolbox.manifest).toBe(next);
  expect(await runOnce(actionIn(toolbox, 'one'), {})).toMatchObject({ status: 'ok' });
  expect(names(toolbox.tools())).toContain('two');
  expect(moody.pid()).toBe(pid);
  await toolbox.replace(manifestOf('  two: { module: ./two.ts }\n'));
  expect(toolbox.find('one')).toBeUndefined();
  expect(toolbox.servers()).toEqual([]);
});

test('a name belongs to its module: a server that lists a tool of that name does not get its calls, wherever it stands in the manifest', async () => {
  const folder = temporaryFolder();
  writeModule(folder, 'greet.ts', 'greet', "return 'from the module';");
  const { entry } = moodyEntry();
  const server = `${entry}    approval: { require: never }\n`;
  const module = '  greet: { module: ./greet.ts, approval: { policy: finance } }\n';
  for (const tools of [`${server}${module}`, `${module}${server}`]) {
    const toolbox = await openTools(manifestOf(tools), { folder });
    expect(toolbox.find('greet')?.source).toBe('module');
    expect(approvalOf(interruptIn(await runOnce(actionIn(toolbox, 'greet'), {})))?.policy).toBe('finance');
    expect(await runOnce(actionIn(toolbox, 'greet'), {}, { resumed: { ...APPROVED } })).toMatchObject({
      toolResponse: { output: 'from the module' },
    });
    const problem = expect.stringContaining('moody: the name "greet" belongs to "greet"');
    expect(toolbox.problems()).toContainEqual(problem);
    expect(toolbox.unlocked()).toMatchObject([{ server: 'moody', tool: 'greet', problem }]);
  }
});

test('the name of a module that cannot be loaded stays with its entry: a server does not get its calls', async () => {
  const { entry } = moodyEntry();
  const tools = `${entry}    approval: { require: never }\n  greet: { module: ./gone.ts }\n`;
  const toolbox = await openTools(manifestOf(tools), { folder: temporaryFolder() });
  expect(toolbox.find('greet')).toBeUndefined();
});

test('an error that a tool of a server reports leaves its outcome unknown, unless the manifest says that errors are final', async () => {
  const { entry } = moodyEntry();
  const unknown: boolean[] = [];
  for (const errors of [
    '',
    ', errors: final',
    ', errors: { final: ["fa*"] }',
    ', errors: { final: [greet] }',
  ]) {
    const tools = `${entry.replace(' }\n', `${errors} }\n`)}    approval: { require: never }\n`;
    const toolbox = await openTools(manifestOf(tools));
    await runOnce(actionIn(toolbox, 'fail'), {}, { onToolError: ({ isUnknown }) => unknown.push(isUnknown) });
  }
  expect(unknown).toEqual([true, false, false, true]);
});
