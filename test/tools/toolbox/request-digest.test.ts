import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { moodyServer, temporaryFolder } from '../mcp/support.ts';
import { digestOf, manifestOf, openTools, writeModule } from './support.ts';

const HTTP = `  ping:
    description: Pings.
    http: { method: POST, url: "https://example.com/a", headers: { authorization: "Bearer \${TOKEN}", x-stage: staging } }
    approval: [ { match: "p*", policy: default } ]
    allow: { people: [U0RITA001, U0BEN00002] }
`;
const ENVIRONMENT = { TOKEN: 'first-token', OTHER: 'other-token' };

const digestOfPing = async (tools: string, environment: Record<string, string> = ENVIRONMENT) =>
  digestOf(await openTools(manifestOf(tools, environment)), 'ping');

test('a rotated secret, or another order of the same entry, leaves the digest as it is', async () => {
  const first = await digestOfPing(HTTP);
  expect(await digestOfPing(HTTP, { ...ENVIRONMENT, TOKEN: 'rotated-token' })).toBe(first);
  const [head = '', ...lines] = HTTP.trimEnd().split('\n');
  expect(await digestOfPing(`${[head, ...lines.reverse()].join('\n')}\n`)).toBe(first);
});

test.each([
  ['the address', 'example.com/a', 'example.com/b'],
  ['a header', 'x-stage: staging', 'x-stage: production'],
  ['the secret that a header names', 'TOKEN', 'OTHER'],
  ['the method', 'method: POST', 'method: PUT'],
  ['the description', 'Pings.', 'Pings twice.'],
  ['the rule that applies', 'match: "p*"', 'match: "pi*"'],
  ['the policy of the rule', 'policy: default }', 'policy: finance }'],
  ['the people who may use it', ', U0BEN00002', ''],
  ['the effect', '    allow:', '    effect: idempotent\n    allow:'],
  ['the limit of its output', '    allow:', '    max_output: 7\n    allow:'],
])('a change of %s gives another digest', async (_what, from, to) => {
  expect(HTTP).toContain(from);
  expect(await digestOfPing(HTTP.replace(from, () => to))).not.toBe(await digestOfPing(HTTP));
});

test('a change of the environment or the folder of a server gives another digest', async () => {
  const { command, args } = moodyServer().config;
  const digest = async (rest: string) => {
    const server = `command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)}, ${rest}`;
    return digestOf(await openTools(manifestOf(`  moody: { mcp: { ${server} } }\n`, ENVIRONMENT)), 'greet');
  };
  const digests = [
    await digest('env: { STAGE: staging }'),
    await digest('env: { STAGE: production }'),
    await digest('env: { STAGE: staging }, cwd: ./src'),
    await digest(`env: { STAGE: "\${TOKEN}" }`),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test('a changed file of a module gives another digest', async () => {
  const folder = temporaryFolder();
  const digest = async () =>
    digestOf(await openTools(manifestOf('  one: { module: ./one.ts }\n'), { folder }), 'one');
  writeModule(folder, 'one.ts', 'one', "return 'first';");
  const first = await digest();
  expect(await digest()).toBe(first);
  writeModule(folder, 'one.ts', 'one', "return 'second';");
  expect(await digest()).not.toBe(first);
});

test('a changed file that a module imports from its folder gives another digest, however deep, and another library does too', async () => {
  const folder = temporaryFolder();
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const digest = async () =>
    digestOf(await openTools(manifestOf('  one: { module: ./one.ts }\n'), { folder }), 'one');
  writeModule(folder, 'one.ts', 'one', "return (await import('./client.js')).pay();");
  write('client.ts', "export { pay } from './deep';\n");
  write(
    'deep.ts',
    "import fee from './fee.json' with { type: 'json' };\nexport const pay = () => fee.cents;\n",
  );
  write('fee.json', '{ "cents": 1 }');
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', '{ "lockfileVersion": 3 }');
  const digests = [await digest()];
  expect(await digest()).toBe(digests[0]);
  write('unrelated.ts', 'export {};\n');
  expect(await digest()).toBe(digests[0]);
  write('client.ts', "export { pay } from './deep';\n// another host\n");
  digests.push(await digest());
  write('deep.ts', "export const pay = () => 2;\nexport * from './client';\n");
  digests.push(await digest());
  write('package-lock.json', '{ "lockfileVersion": 3, "packages": {} }');
  digests.push(await digest());
  expect(new Set(digests).size).toBe(4);
});

test('a change of the policy, the people, the editor, the thread or the arguments gives another digest', async () => {
  const toolbox = await openTools(manifestOf(HTTP, ENVIRONMENT));
  const policy = toolbox.policy('default');
  if (policy === undefined) throw new Error('There is no policy "default"');
  const digests = [
    digestOf(toolbox, 'ping'),
    digestOf(toolbox, 'ping', { policy: undefined }),
    digestOf(toolbox, 'ping', { policy: { ...policy, quorum: 2 } }),
    digestOf(toolbox, 'ping', { policy: { ...policy, separation: 'thread' } }),
    digestOf(toolbox, 'ping', { policy: { ...policy, announce: ['C2'] } }),
    digestOf(toolbox, 'ping', { asked: { policy: 'default', rule: 'edited by U0BEN00002' } }),
    digestOf(toolbox, 'ping', { requesters: ['U0RITA001', 'U0BEN00002'] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'context_authors', value: ['U0BEN00002'] }] }),
    digestOf(toolbox, 'ping', { barred: ['U0BEN00002'] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'edited_by', value: 'U0BEN00002' }] }),
    digestOf(toolbox, 'ping', { threadId: 'C1:1.3' }),
    digestOf(toolbox, 'ping', { input: { amount: 1 } }),
    digestOf(toolbox, 'ping', { presented: { title: 'Ping' } }),
    digestOf(toolbox, 'ping', { terms: { principals: ['U0ALICE001'] } }),
    digestOf(toolbox, 'ping', { terms: { principals: ['U0ALICE001'], passkey: true } }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'files', value: [{ name: 'a.txt', sha256: 'a' }] }] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'reversible', value: 'no' }] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'runs_as', value: 'U0RITA001' }] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'undoes', value: 'C1:1.1~a' }] }),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});

test('a changed file of a module gives another digest', async () => {
  const folder = temporaryFolder();
  const digest = async () =>
    digestOf(await openTools(manifestOf('  one: { module: ./one.ts }\n'), { folder }), 'one');
  writeModule(folder, 'one.ts', 'one', "return 'first';");
  const first = await digest();
  expect(await digest()).toBe(first);
  writeModule(folder, 'one.ts', 'one', "return 'second';");
  expect(await digest()).not.toBe(first);
});

test('a changed file that a module imports from its folder gives another digest, however deep, and another library does too', async () => {
  const folder = temporaryFolder();
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const digest = async () =>
    digestOf(await openTools(manifestOf('  one: { module: ./one.ts }\n'), { folder }), 'one');
  writeModule(folder, 'one.ts', 'one', "return (await import('./client.js')).pay();");
  write('client.ts', "export { pay } from './deep';\n");
  write(
    'deep.ts',
    "import fee from './fee.json' with { type: 'json' };\nexport const pay = () => fee.cents;\n",
  );
  write('fee.json', '{ "cents": 1 }');
  write('package.json', '{ "type": "module" }');
  write('package-lock.json', '{ "lockfileVersion": 3 }');
  const digests = [await digest()];
  expect(await digest()).toBe(digests[0]);
  write('unrelated.ts', 'export {};\n');
  expect(await digest()).toBe(digests[0]);
  write('client.ts', "export { pay } from './deep';\n// another host\n");
  digests.push(await digest());
  write('deep.ts', "export const pay = () => 2;\nexport * from './client';\n");
  digests.push(await digest());
  write('package-lock.json', '{ "lockfileVersion": 3, "packages": {} }');
  digests.push(await digest());
  expect(new Set(digests).size).toBe(4);
});

test('a change of the policy, the people, the editor, the thread or the arguments gives another digest', async () => {
  const toolbox = await openTools(manifestOf(HTTP, ENVIRONMENT));
  const policy = toolbox.policy('default');
  if (policy === undefined) throw new Error('There is no policy "default"');
  const digests = [
    digestOf(toolbox, 'ping'),
    digestOf(toolbox, 'ping', { policy: undefined }),
    digestOf(toolbox, 'ping', { policy: { ...policy, quorum: 2 } }),
    digestOf(toolbox, 'ping', { policy: { ...policy, separation: 'thread' } }),
    digestOf(toolbox, 'ping', { policy: { ...policy, announce: ['C2'] } }),
    digestOf(toolbox, 'ping', { asked: { policy: 'default', rule: 'edited by U0BEN00002' } }),
    digestOf(toolbox, 'ping', { requesters: ['U0RITA001', 'U0BEN00002'] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'context_authors', value: ['U0BEN00002'] }] }),
    digestOf(toolbox, 'ping', { barred: ['U0BEN00002'] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'edited_by', value: 'U0BEN00002' }] }),
    digestOf(toolbox, 'ping', { threadId: 'C1:1.3' }),
    digestOf(toolbox, 'ping', { input: { amount: 1 } }),
    digestOf(toolbox, 'ping', { presented: { title: 'Ping' } }),
    digestOf(toolbox, 'ping', { terms: { principals: ['U0ALICE001'] } }),
    digestOf(toolbox, 'ping', { terms: { principals: ['U0ALICE001'], passkey: true } }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'files', value: [{ name: 'a.txt', sha256: 'a' }] }] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'reversible', value: 'no' }] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'runs_as', value: 'U0RITA001' }] }),
    digestOf(toolbox, 'ping', { facets: [{ name: 'undoes', value: 'C1:1.1~a' }] }),
  ];
  expect(new Set(digests).size).toBe(digests.length);
});
