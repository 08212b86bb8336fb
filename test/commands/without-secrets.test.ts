import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LOCK_FILE } from '../../src/tools/manifest/tool-lock.ts';
import { GOOD, newFolder, run, writeManifest } from './support.ts';

const TOOLS = `tools:
  refund_order:
    description: Refunds.
    input: { type: object, properties: { amount: { type: integer } }, required: [amount] }
    http: { method: POST, url: "https://shop.example.com/refunds", headers: { authorization: "Bearer \${SHOP_KEY}" } }
    approval: { policy: default, when: "input.amount > 10" }
  crm:
    mcp: { command: node, args: [./crm.mjs], env: { CRM_TOKEN: "\${CRM_TOKEN}" } }
    approval: [{ match: "get_*", require: never }, { policy: default }]
limits:
  refund_order: { sum: input.amount, window: 1d, max: 50, policy: default }
`;
const POLICY =
  'policies: { default: { approvers: [S0APPROVE1], expires: 4h, notify: { remind: 1h, quiet_hours: { from: "20:00", to: "07:00" } }, escalate: { after: 2h, to: [U0BOSS0001] }, grants: { for: 1h, uses: 3 } } }';
const CASES = `given: { requester: U0REMI0001 }
cases:
  - { name: Reading is free, given: { tool: get_contact, input: { id: "7" } }, expect: run }
  - { name: Writing is not, given: { tool: update_contact, input: {} }, expect: approval }
`;

function writeBot(cases = CASES) {
  const folder = newFolder();
  const MANIFEST = writeManifest(
    GOOD.replace('tools: {}\n', TOOLS).replace(/^policies:.*$/m, POLICY),
    folder,
  );
  // A server that leaves a trace when it is started.
  writeFileSync(
    join(folder, 'crm.mjs'),
    "import { writeFileSync } from 'node:fs'; writeFileSync('started', '');",
  );
  writeFileSync(join(folder, 'manifest.test.yml'), cases);
  const lock = { version: 1, servers: { crm: { get_contact: 'x', update_contact: 'x' } } };
  writeFileSync(join(folder, LOCK_FILE), JSON.stringify(lock));
  return { MANIFEST, folder };
}

test('in CI, check and test need no secret, and test starts no server that is locked', async () => {
  const { MANIFEST, folder } = writeBot();
  const missing = await run(['manifest', 'check'], { MANIFEST });
  expect([missing.code, missing.error]).toEqual([1, expect.stringContaining('SHOP_KEY is not set')]);
  expect(await run(['manifest', 'check', '--without-secrets'], { MANIFEST })).toMatchObject({
    code: 0,
    error: '',
  });
  const tested = await run(['manifest', 'test', '--without-secrets'], { MANIFEST });
  expect(tested).toMatchObject({
    code: 0,
    error: '',
    out: expect.stringContaining('2 cases, all as expected'),
  });
  expect(existsSync(join(folder, 'started'))).toBe(false);
});

test('test says why a tool is missing', async () => {
  const { MANIFEST, folder } = writeBot(CASES.replace('get_contact', 'run_migration'));
  writeFileSync(join(folder, 'migrate.mjs'), "import 'left-out';");
  const text = GOOD.replace('tools: {}\n', 'tools: { run_migration: { module: ./migrate.mjs } }\n');
  writeManifest(text, folder);
  const { code, error } = await run(['manifest', 'test'], { MANIFEST });
  expect([code, error]).toEqual([
    1,
    expect.stringMatching(/there is no tool "run_migration"[\s\S]*left-out/),
  ]);
});

test('explain says how long people have, and which limits count the call', async () => {
  const { MANIFEST } = writeBot();
  const environment = { MANIFEST, SHOP_KEY: 'key-of-the-shop', CRM_TOKEN: 'token-of-the-crm' };
  const { out } = await run(['explain', 'refund_order', '{"amount": 12}', '--as', 'U0REMI0001'], environment);
  for (const line of [
    '  expires after 4h, and starts within 15m of the approval',
    '  reminds every 1h',
    '  asks U0BOSS0001 as well after 2h',
    '  may be pre-approved for 1h and 3 further calls with the same arguments',
    '  no direct messages from 20:00 to 07:00 (UTC)',
    'Limit refund_order: counts 12 of 50 per requester in 1d, 0 used before; what is over it is asked by policy "default".',
  ])
    expect(out).toContain(`${line}\n`);
});

test('explain refuses what the tool would refuse', async () => {
  const { MANIFEST } = writeBot();
  const environment = { MANIFEST, SHOP_KEY: 'key-of-the-shop', CRM_TOKEN: 'token-of-the-crm' };
  const argv = ['explain', 'refund_order', '{"amount": "12"}', '--as', 'U0REMI0001'];
  expect(await run(argv, environment)).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringContaining('the tool does not accept these arguments'),
  });
});
