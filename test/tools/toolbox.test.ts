import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openRedisLedger } from '../../src/store/redis/redis-ledger.ts';
import { approvalOf } from '../../src/tools/gate/gate.ts';
import { connectTestRedis } from '../support/redis.ts';
import { interruptIn, runOnce } from './gate/support.ts';
import { temporaryFolder } from './mcp/support.ts';
import { APPROVED, actionIn, digestOf, manifestOf, openTools, writeModule } from './toolbox-support.ts';

const HERE = { channel: 'C0GENERAL1', requester: 'U0RITA0001' };
const BUILT_INS = ['ask_question', 'request_form', 'wait_for_callback', 'complete_task'];
const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

test('the sample modules load through the manifest, and refund in the ledger that the context holds', async () => {
  const redis = connectTestRedis();
  const ledger = openRedisLedger(redis.client, redis.prefix);
  await ledger.fill();
  const toolbox = await openTools(
    manifestOf(`
  read_order: { module: ./src/tools/samples/read-order.ts, approval: { require: never } }
  refund_order: { module: ./src/tools/samples/refund-order.ts, approval: { policy: finance, when: "input.amount > 10000" } }
  delete_customer: { module: ./src/tools/samples/delete-customer.ts }
  deploy_service: { module: ./src/tools/samples/deploy-service.ts }
`),
  );
  expect(toolbox.problems()).toEqual([]);
  const context = { ...HERE, threadId: 'T1', ledger };

  const read = await runOnce(actionIn(toolbox, 'read_order'), { orderId: 'A-1001' }, { context });
  expect(read).toMatchObject({ status: 'ok', toolResponse: { output: { id: 'A-1001', refunded: 0 } } });

  const refund = actionIn(toolbox, 'refund_order');
  const input = { orderId: 'A-1001', amount: 20_000 };
  const interrupt = interruptIn(await runOnce(refund, input, { context }));
  expect(approvalOf(interrupt)?.policy).toBe('finance');
  expect((await ledger.order('A-1001'))?.refunded).toBe(0);
  await runOnce(refund, input, { context, resumed: { ...APPROVED } });
  await runOnce(refund, input, { context, resumed: { ...APPROVED } });
  expect((await ledger.order('A-1001'))?.refunded).toBe(20_000);

  interruptIn(await runOnce(actionIn(toolbox, 'delete_customer'), { customer: 'Hooper Ltd' }, { context }));
  expect(await ledger.order('A-1002')).toBeDefined();
  const gone = await runOnce(
    actionIn(toolbox, 'delete_customer'),
    { customer: 'Hooper Ltd' },
    { context, resumed: { ...APPROVED } },
  );
  expect(gone).toMatchObject({ toolResponse: { output: { deletedOrders: 2 } } });
  await redis.close();
});

test('a module that cannot be loaded is reported by name, and the others stay', async () => {
  const folder = temporaryFolder();
  writeModule(folder, 'good.ts', 'good');
  writeFileSync(join(folder, 'empty.ts'), 'export const nothing = 1;\n');
  writeFileSync(join(folder, 'broken.ts'), "throw new Error('cannot be');\n");
  const toolbox = await openTools(
    manifestOf(`
  good: { module: ./good.ts }
  missing: { module: ./missing.ts }
  empty: { module: ./empty.ts }
  broken: { module: ./broken.ts }
`),
    { folder },
  );
  expect(toolbox.problems()).toEqual([
    'missing: there is no file ./missing.ts',
    expect.stringMatching(/^empty: \.\/empty\.ts exports no tool/),
    'broken: cannot be',
  ]);
  expect(toolbox.warnings).toEqual(toolbox.problems());
  expect(names(toolbox.tools())).toEqual([...BUILT_INS, 'good']);
});

test('a name that is taken is reported, and the first tool of that name stays', async () => {
  const folder = temporaryFolder();
  writeModule(folder, 'first.ts', 'same', "return 'first';");
  writeModule(folder, 'second.ts', 'same', "return 'second';");
  writeModule(folder, 'question.ts', 'ask_question');
  const never = 'approval: { require: never }';
  const toolbox = await openTools(
    manifestOf(`
  first: { module: ./first.ts, ${never} }
  second: { module: ./second.ts, ${never} }
  question: { module: ./question.ts, ${never} }
`),
    { folder },
  );
  expect(toolbox.problems()).toEqual([
    'second: the name "same" is taken; it is left out',
    'question: the name "ask_question" is taken; it is left out',
  ]);
  expect(await runOnce(actionIn(toolbox, 'same'), {})).toMatchObject({ toolResponse: { output: 'first' } });
  expect(toolbox.find('ask_question')?.source).toBe('built-in');
});

test('a tool is offered only in the channels and to the people that the manifest allows', async () => {
  const folder = temporaryFolder();
  for (const name of ['everywhere', 'here', 'hers', 'both']) writeModule(folder, `${name}.ts`, name);
  const toolbox = await openTools(
    manifestOf(`
  everywhere: { module: ./everywhere.ts }
  here: { module: ./here.ts, allow: { channels: [C0GENERAL1] } }
  hers: { module: ./hers.ts, allow: { people: [U0RITA0001] } }
  both: { module: ./both.ts, allow: { channels: [C0GENERAL1], people: [U0RITA0001] } }
`),
    { folder },
  );
  const offered = (channel: string, requester: string) =>
    names(toolbox.toolsFor({ channel, requester })).filter((name) => !BUILT_INS.includes(name));
  expect(offered('C0GENERAL1', 'U0RITA0001')).toEqual(['everywhere', 'here', 'hers', 'both']);
  expect(offered('C0GENERAL1', 'U0OTHER001')).toEqual(['everywhere', 'here']);
  expect(offered('C0OTHER001', 'U0RITA0001')).toEqual(['everywhere', 'hers']);
  expect(offered('C0OTHER001', 'U0OTHER001')).toEqual(['everywhere']);
  expect(toolbox.notice({ channel: 'C0OTHER001', requester: 'U0OTHER001' })).not.toMatch(
    /- (here|hers|both):/,
  );
});

test('a built-in that is switched off is not there, and one may be limited to the requester', async () => {
  const manifest = manifestOf('  {}\n');
  const builtIns = {
    ...manifest.agent.builtIns,
    wait_for_callback: 'off',
    request_form: 'requester',
  } as const;
  const toolbox = await openTools({ ...manifest, agent: { ...manifest.agent, builtIns } });
  expect(names(toolbox.tools())).toEqual(['ask_question', 'request_form', 'complete_task']);
  expect(toolbox.find('request_form')?.answerableBy).toBe('requester');
  expect(toolbox.find('ask_question')?.answerableBy).toBe('anyone');
});

test('what an entry really does is part of the digest, and its headers are not', async () => {
  const entry = (url: string, token: string) =>
    manifestOf(
      `  ping:
    description: Pings.
    http: { method: GET, url: "${url}", headers: { authorization: "Bearer \${TOKEN}" } }
`,
      { TOKEN: token },
    );
  const [first, rotated, moved] = [
    await openTools(entry('https://example.com/a', 'one-token')),
    await openTools(entry('https://example.com/a', 'two-token')),
    await openTools(entry('https://example.com/b', 'one-token')),
  ].map((toolbox) => digestOf(toolbox, 'ping'));
  expect(rotated).toBe(first);
  expect(moved).not.toBe(first);
});
