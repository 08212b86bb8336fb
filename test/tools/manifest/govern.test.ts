import { expect, onTestFinished, test } from 'vitest';
import { manifestIn } from '../../../src/store/documents/manifest.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import {
  changeKey,
  chooseManifest,
  governedDiff,
  type ManifestVersion,
  versionOf,
} from '../../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { connectTestRedis } from '../../support/redis.ts';
import { held } from './support.ts';

const BOSS = { BOSS: 'U0ALICE001' };
const governed = (rest = '') => `agent:
  instructions: Help.
  policy_changes: { approvers: ["\${BOSS}"], channel: C0POLICIES }
policies: { default: { approvers: ["\${BOSS}"], quorum: 1 } }
${rest}`;
const FREE = `{ require: never, when: "channel == 'C0PAY00001'" }`;
const ASKED = `{ policy: default, when: "channel == 'C0PAY00002'" }`;
const PAY = `tools:
  pay:
    description: Pays.
    approval: [${FREE}, ${ASKED}]
    http:
      method: POST
      url: "https://\${HOST}/pay/\${ACCOUNT}?v=1"
      headers: { authorization: "Bearer \${TOKEN}" }
`;
const SECRETS = { HOST: 'pay.example.com', ACCOUNT: 'account-4711', TOKEN: 'token-4711' };

function version(text: string, environment: Readonly<Record<string, string>> = BOSS, lock?: string) {
  return versionOf(held(text, environment), lock);
}

function openRecord() {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  return openRedisStore(redis);
}

test('the governed part has a line for each value with its path, the values of the environment, and names for secrets', () => {
  const { text, lock } = version(governed(PAY), { ...BOSS, ...SECRETS }, '{"version":1,"servers":{}}');
  expect(
    governedDiff({ text: '{}', lock: undefined }, { text, lock }),
  ).toBe(`+ agent.policy_changes.approvers: [U0ALICE001]
+ agent.policy_changes.channel: C0POLICIES
+ policies.default.approvers: [U0ALICE001]
+ policies.default.quorum: 1
+ tools.pay.description: Pays.
+ tools.pay.approval[0].require: never
+ tools.pay.approval[0].when: "channel == 'C0PAY00001'"
+ tools.pay.approval[1].policy: default
+ tools.pay.approval[1].when: "channel == 'C0PAY00002'"
+ tools.pay.http.method: POST
+ tools.pay.http.url: "https://pay.example.com/pay/\${ACCOUNT}?v=1"
+ tools.pay.http.headers.authorization: "Bearer \${TOKEN}"
+ manifest.lock.json.version: 1
+ manifest.lock.json.servers: {}`);
});

const CHANGES: readonly (readonly [
  what: string,
  from: ManifestVersion,
  to: ManifestVersion,
  diff: string | undefined,
])[] = [
  [
    'instructions and the order of words are free',
    version(governed()),
    version(`# A comment\n${governed().replace('Help.', '"Help people."')}retention: { threads: 1d }\n`),
    undefined,
  ],
  [
    'the value of an approver',
    version(governed()),
    version(governed(), { BOSS: 'U0BRUNO002' }),
    [
      '- agent.policy_changes.approvers: [U0ALICE001]',
      '+ agent.policy_changes.approvers: [U0BRUNO002]',
      '- policies.default.approvers: [U0ALICE001]',
      '+ policies.default.approvers: [U0BRUNO002]',
    ].join('\n'),
  ],
  [
    "a policy's time zone",
    version(governed().replace('quorum: 1', 'time_zone: Europe/Berlin')),
    version(governed().replace('quorum: 1', 'time_zone: Asia/Tokyo')),
    '- policies.default.time_zone: Europe/Berlin\n+ policies.default.time_zone: Asia/Tokyo',
  ],
  [
    'the host that calls go to',
    version(governed(PAY), { ...BOSS, ...SECRETS }),
    version(governed(PAY), { ...BOSS, ...SECRETS, HOST: 'evil.example.com' }),
    `- tools.pay.http.url: "https://pay.example.com/pay/\${ACCOUNT}?v=1"\n+ tools.pay.http.url: "https://evil.example.com/pay/\${ACCOUNT}?v=1"`,
  ],
  [
    'a renewed secret is free',
    version(governed(PAY), { ...BOSS, ...SECRETS }),
    version(governed(PAY), { ...BOSS, ...SECRETS, TOKEN: 'token-4712', ACCOUNT: 'account-4712' }),
    undefined,
  ],
  [
    'a key that is new',
    version(governed()),
    version(`${governed()}limits: { pay: { window: 1d, max: 3 } }\n`),
    '+ limits.pay.window: "1d"\n+ limits.pay.max: 3',
  ],
  [
    'the order of rules',
    version(governed(PAY), { ...BOSS, ...SECRETS }),
    version(governed(PAY).replace(`[${FREE}, ${ASKED}]`, `[${ASKED}, ${FREE}]`), { ...BOSS, ...SECRETS }),
    [
      '- tools.pay.approval[0].require: never',
      `- tools.pay.approval[0].when: "channel == 'C0PAY00001'"`,
      '+ tools.pay.approval[1].require: never',
      `+ tools.pay.approval[1].when: "channel == 'C0PAY00001'"`,
    ].join('\n'),
  ],
  [
    'a rule that is inserted at the top shifts no other',
    version(governed(PAY), { ...BOSS, ...SECRETS }),
    version(
      governed(PAY).replace(`[${FREE}`, `[{ policy: default, when: "channel == 'C0PAY00009'" }, ${FREE}`),
      {
        ...BOSS,
        ...SECRETS,
      },
    ),
    `+ tools.pay.approval[0].policy: default\n+ tools.pay.approval[0].when: "channel == 'C0PAY00009'"`,
  ],
  [
    'a rule that is taken out, and a value of the next one',
    version(governed(PAY), { ...BOSS, ...SECRETS }),
    version(governed(PAY).replace(`${FREE}, `, '').replace('C0PAY00002', 'C0PAY00003'), {
      ...BOSS,
      ...SECRETS,
    }),
    [
      '- tools.pay.approval[0].require: never',
      `- tools.pay.approval[0].when: "channel == 'C0PAY00001'"`,
      '- tools.pay.approval[1].policy: default',
      `- tools.pay.approval[1].when: "channel == 'C0PAY00002'"`,
      '+ tools.pay.approval[0].policy: default',
      `+ tools.pay.approval[0].when: "channel == 'C0PAY00003'"`,
    ].join('\n'),
  ],
  [
    'a value within a rule',
    version(governed(PAY), { ...BOSS, ...SECRETS }),
    version(governed(PAY).replace('C0PAY00002', 'C0PAY00003'), { ...BOSS, ...SECRETS }),
    `- tools.pay.approval[1].when: "channel == 'C0PAY00002'"\n+ tools.pay.approval[1].when: "channel == 'C0PAY00003'"`,
  ],
];

for (const [what, from, to, diff] of CHANGES)
  test(`the difference of two manifests: ${what}`, () => {
    expect(governedDiff(from, to)).toBe(diff);
  });

test('what is on record parses to the same manifest, whatever the environment says by then, and has no secret', async () => {
  const store = manifestIn(openRecord());
  const file = version(governed(PAY), { ...BOSS, ...SECRETS });
  await chooseManifest(store, file, {});
  const recorded = await store.readManifest();
  expect(JSON.stringify(recorded)).not.toContain('4711');
  const later = { ...SECRETS, BOSS: 'U0BRUNO002', HOST: 'evil.example.com' };
  const next = version(governed(PAY), later);
  const chosen = await chooseManifest(store, next, later);
  // Only the text that it was read from is another: that of the record.
  const source = recorded?.text;
  expect(chosen.version).toEqual({ ...file, manifest: { ...file.manifest, source } });
  expect(chosen.held?.diff).toContain('+ policies.default.approvers: [U0BRUNO002]');
});

const expiring = (time: string) => version(governed().replace('quorum: 1', `expires: ${time}`));

test('an approved change opens the way for that manifest alone', async () => {
  const store = manifestIn(openRecord());
  const [one, two, three] = [expiring('1h'), expiring('2h'), expiring('3h')];
  await chooseManifest(store, one, BOSS);
  const { held: change } = await chooseManifest(store, two, BOSS);
  if (change === undefined) throw new Error('it must wait');
  expect(await store.approveManifest(change.from, change.to, changeKey(change))).toBe('approved');
  expect(await chooseManifest(store, three, BOSS)).toMatchObject({
    version: { digest: one.digest },
    held: { to: three.digest },
  });
  expect(await chooseManifest(store, two, BOSS)).toEqual({ version: two });
  // The approval is used up: the way back needs another one.
  expect((await chooseManifest(store, one, BOSS)).held).toBeDefined();
});

test('an address whose host cannot be told apart from a secret is refused where changes need approval', () => {
  const tool = (url: string) => governed(`tools: { pay: { mcp: { url: "${url}" } } }\n`);
  const problemsOf = (url: string, environment: Readonly<Record<string, string>>) => {
    const slack = 'slack: { display_information: { name: Test } }\n';
    const parsed = parseManifest(tool(url) + slack, {
      file: 'manifest.yml',
      environment: { ...BOSS, ...environment },
    });
    return parsed.ok ? parsed.secrets : parsed.problems.map(({ message }) => message);
  };
  expect(problemsOf(`\${URL}`, { URL: 'https://mcp.example.com/key-4711' })).toEqual([
    expect.stringContaining('holds more than the host'),
  ]);
  expect(problemsOf(`https://\${HOST}/mcp`, { HOST: 'bot:key-4711@mcp.example.com' })).toEqual([
    expect.stringContaining('holds more than the host'),
  ]);
  expect(
    problemsOf(`https://bot:\${KEY}@\${HOST}/mcp`, { HOST: 'mcp.example.com', KEY: 'key-4711' }),
  ).toEqual(['key-4711']);
});
