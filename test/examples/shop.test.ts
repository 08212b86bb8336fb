import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { openLedger } from '../../examples/shop/ledger.ts';
import { approvalOf } from '../../src/tools/gate.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { connectTestRedis } from '../support/redis.ts';
import { interruptIn, runOnce } from '../tools/gate/support.ts';
import { APPROVED, actionIn, openTools } from '../tools/toolbox/support.ts';

const RELEASE_JOB_KEY = 'k'.repeat(43);
const PAGE_CLIENT_SECRET = 's'.repeat(43);
const folder = fileURLToPath(new URL('../../examples/shop', import.meta.url));

function shopManifest() {
  const text = readFileSync(`${folder}/manifest.yml`, 'utf8');
  const parsed = parseManifest(text, {
    file: 'manifest.yml',
    environment: { RELEASE_JOB_KEY, PAGE_CLIENT_SECRET },
  });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  return parsed;
}

describe('the manifest of the shop', () => {
  test('has neither a mistake nor a warning, and needs no secrets but the key of its caller and that of its page', () => {
    const { warnings, secrets } = shopManifest();
    expect([warnings, secrets]).toEqual([[], [PAGE_CLIENT_SECRET, RELEASE_JOB_KEY]]);
  });

  test('names the MCP server at the path where it is installed, and lets only reading run without approval', () => {
    const files = shopManifest().manifest.tools.find(({ kind }) => kind === 'mcp');
    if (files?.kind !== 'mcp' || files.config.transport !== 'stdio') throw new Error('no local server');
    expect(existsSync(`${folder}/${files.config.args[0]}`)).toBe(true);
    expect(files.approval.map(({ match, require }) => `${match} ${require}`)).toEqual([
      'read_* never',
      'list_* never',
      'get_* never',
      '* always',
    ]);
  });

  test('has two people approve a deletion', () => {
    const { policies, tools } = shopManifest().manifest;
    expect(tools.find(({ name }) => name === 'delete_customer')?.approval).toEqual([
      { policy: 'destructive', because: 'deletions need two people' },
    ]);
    expect(policies.get('destructive')).toMatchObject({ quorum: 2, risk: 'high', confirm: true });
  });
});

test('every tool of the shop has words of its own, every rule that asks says why, and its modules say what would change', async () => {
  const { tools } = shopManifest().manifest;
  for (const { name, cards, approval } of nonEmpty(tools)) {
    expect(cards, name).not.toEqual([]);
    for (const { match, title, done, fields } of nonEmpty(cards))
      expect([title, done, Object.keys(fields ?? {})[0]], `${name} ${match}`).not.toContain(undefined);
    for (const { require, because } of nonEmpty(approval))
      expect(require === 'never' || because !== undefined, name).toBe(true);
  }
  const toolbox = await openTools(shopManifest().manifest, { folder });
  const asking = toolbox.tools().filter(({ name }) => !/^(?:read|list|get|search|directory)_/.test(name));
  const having = (part: 'preview' | 'undo') =>
    asking.map(({ name }) => name).filter((name) => toolbox.find(name)?.[part] !== undefined);
  const modules = tools.filter(({ kind }) => kind === 'module').map(({ name }) => name);
  expect(having('preview')).toEqual(modules.filter((name) => name !== 'read_order'));
  // Nobody can take back a refund or a deletion, and the card says so.
  expect(having('undo')).toEqual(['deploy_service', 'publish_status', 'move_file']);
});

test('the tools of the shop load through its manifest, and book in its ledger once per key', async () => {
  const redis = connectTestRedis();
  const url = `${redis.url}?keyPrefix=${redis.prefix}`;
  process.env.SHOP_REDIS_URL = url;
  const ledger = openLedger(url);
  const toolbox = await openTools(shopManifest().manifest, { folder });
  expect(toolbox.problems()).toEqual([]);

  const read = await runOnce(actionIn(toolbox, 'read_order'), { orderId: 'A-1001' });
  expect(read).toMatchObject({ status: 'ok', toolResponse: { output: { id: 'A-1001', refunded: 0 } } });

  const refund = actionIn(toolbox, 'refund_order');
  const input = { orderId: 'A-1001', amount: 20_000 };
  expect(approvalOf(interruptIn(await runOnce(refund, input)))?.policy).toBe('finance');
  expect((await ledger.order('A-1001'))?.refunded).toBe(0);
  await runOnce(refund, input, { resumed: { ...APPROVED } });
  await runOnce(refund, input, { resumed: { ...APPROVED } });
  expect((await ledger.order('A-1001'))?.refunded).toBe(20_000);
  expect(await ledger.refund('A-1001', 25_001, 'another key')).toMatchObject({ outcome: 'too-much' });
  expect(await ledger.refund('A-9999', 1, 'a third key')).toMatchObject({ outcome: 'unknown-order' });

  const remove = actionIn(toolbox, 'delete_customer');
  interruptIn(await runOnce(remove, { customer: 'Hooper Ltd' }));
  expect(await ledger.order('A-1002')).toBeDefined();
  const removed = await runOnce(remove, { customer: 'Hooper Ltd' }, { resumed: { ...APPROVED } });
  expect(removed).toMatchObject({ toolResponse: { output: { deletedOrders: 2 } } });
  expect(await ledger.order('A-1001')).toBeUndefined();
  expect(await ledger.refund('A-1001', 1, 'a fourth key')).toMatchObject({ outcome: 'unknown-order' });
  await redis.close();
});
