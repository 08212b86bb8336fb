import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Policy } from '../../../src/policy/policy.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';
import {
  coveredOf,
  ENTRY_FIELDS,
  type FieldList,
  type Fields,
  POLICY_FIELDS,
} from '../../../src/tools/toolbox/covered-fields.ts';
import { definitionDigest } from '../../../src/tools/toolbox/request-digest.ts';
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

test('another release of Countersign beside a module leaves its digest as it is; a library of the module does not', async () => {
  const folder = temporaryFolder();
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  const digest = async () =>
    digestOf(await openTools(manifestOf('  one: { module: ./one.ts }\n'), { folder }), 'one');
  const lock = ({
    ours = '1.0.0',
    itsOwn = '1.0.0',
    declared = '1.0.0',
    undeclared = '1.0.0',
    nested = '1.0.0',
  }) => ({
    packages: {
      '': { dependencies: { countersign: `^${ours}`, bank: '^1.0.0' } },
      'node_modules/countersign': { version: ours, dependencies: { redis: '^1.0.0', yaml: '^1.0.0' } },
      'node_modules/redis': { version: itsOwn },
      'node_modules/bank': { version: declared, dependencies: { redis: '0.1.0' } },
      'node_modules/bank/node_modules/redis': { version: nested },
      'node_modules/yaml': { version: undeclared },
    },
  });
  writeModule(folder, 'one.ts', 'one', "return (await import('yaml')).parse('a: 1');");
  write('package.json', '{ "type": "module" }');
  const withLock = async (versions: Parameters<typeof lock>[0]) => {
    write('package-lock.json', JSON.stringify(lock(versions)));
    return digest();
  };
  const first = await withLock({});
  expect(await withLock({ ours: '1.1.0', itsOwn: '2.0.0' })).toBe(first);
  const others = [{ declared: '1.0.1' }, { nested: '0.1.1' }, { undeclared: '1.0.1' }];
  const digests = [first];
  for (const versions of others) digests.push(await withLock(versions));
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

const POLICY = `slack: { display_information: { name: Countersign } }
policies:
  money:
    approvers: [U0ALICE001]
    grants: { for: 1h, uses: 3 }
    confirm: { high: true }
    risk: "input.amount > 10 ? 'high' : 'low'"
    escalate: { after: 1h, to: [U0BEN00002] }
    notify:
      remind: 1h
      quiet_hours: { from: "20:00", to: "07:00", time_zone: Europe/Berlin }
      load: { waiting: 5, summary: { after: 3, within: 10m } }
`;

/** Says of each field that no list names what to do. */
function unlisted(value: unknown, fields: FieldList, path: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => unlisted(item, fields, path));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const listing = fields[name];
    if (listing === undefined)
      return [
        `${path}.${name} is new: list it in src/tools/toolbox/covered-fields.ts, as covered if an approval must not hold when it changes ("unless" keeps the digests of today while it has its default), or as not covered, with the reason.`,
      ];
    return typeof listing === 'object' && 'of' in listing
      ? unlisted(inner, listing.of, `${path}.${name}`)
      : [];
  });
}

test('every field of a policy and a tool is listed as covered or as not; one that is new has to be', async () => {
  const parsed = parseManifest(POLICY, { file: 'test.yml', environment: {} });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  const policy = parsed.manifest.policies.get('money');
  expect(unlisted(policy, POLICY_FIELDS, 'Policy')).toEqual([]);
  const entry = (await openTools(manifestOf(HTTP, ENVIRONMENT))).find('ping');
  expect(Object.keys(entry ?? {}).filter((name) => !(name in ENTRY_FIELDS))).toEqual([
    // Of a ruled entry, which is what the gate was made of.
    ...['rules', 'isListedIn', 'allow'],
  ]);

  const planted = { ...policy, mood: 'calm', grants: { ...policy?.grants, tone: 'mild' } };
  expect(unlisted(planted, POLICY_FIELDS, 'Policy')).toEqual([
    expect.stringMatching(
      /^Policy\.grants\.tone is new: list it in src\/tools\/toolbox\/covered-fields\.ts, as covered/,
    ),
    expect.stringMatching(/^Policy\.mood is new: /),
  ]);
  // @ts-expect-error The compiler asks for a new field as well.
  const incomplete: Fields<Policy & { readonly mood: string }> = POLICY_FIELDS;
  expect(incomplete).toBe(POLICY_FIELDS);
});

test('a field that came later leaves the digests of today as they are while it has its default', () => {
  const today = { quorum: 1 };
  const later = {
    quorum: true,
    mood: { unless: 'calm' },
    tone: true,
    note: { not: 'it is for readers' },
  } as const;
  expect(coveredOf({ ...today, mood: 'calm', tone: undefined, note: 'n' }, later)).toEqual(
    coveredOf(today, { quorum: true }),
  );
  expect(coveredOf({ ...today, mood: 'wild' }, later)).toMatchObject({ mood: 'wild' });
});

test('what we say of our own tools voids no approval of a call', async () => {
  const toolbox = await openTools(manifestOf(HTTP, ENVIRONMENT));
  const entry = toolbox.find('ping');
  if (entry === undefined) throw new Error('There is no tool "ping"');
  const worded = { ...entry, tool: { ...entry.tool, description: 'Pings, as ever.' } };
  expect(definitionDigest(worded)).not.toBe(definitionDigest(entry));
  const ours = { source: 'built-in' } as const;
  expect(definitionDigest({ ...worded, ...ours })).toBe(definitionDigest({ ...entry, ...ours }));
});
