import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { APPROVERS_GROUP, CAST } from '../../playground/slack/default-cast.ts';
import { startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { toJson } from '../../src/agent/json.ts';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { approve, ask, askAndLose, askAndStart, stateOf } from '../store/support.ts';
import { presentedAs } from '../support/presented-as.ts';
import { eachWithRecord, jsonLines, run } from './support.ts';

const here = eachWithRecord();

const runHere = (...argv: string[]) => here.run(argv);
const WHY = ['--reason', 'Asked twice.', '--as', 'ann'];

const details = {
  interrupt: toJson({ id: 'i', toolRequest: { name: 'refund_order', ref: 'r', input: { amount: 1200 } } }),
  idempotencyKey: 'k',
  presented: presentedAs('Refund order'),
};

test('cancel ends a request that waits or is approved, by the operator and with the reason on record', async () => {
  for (const before of ['pending', 'approved']) {
    const id = await ask(here.store, { details, policy: { quorum: 1 } });
    if (before === 'approved') await here.store.vote(id, approve('U-ann'));
    expect(await runHere('cancel', id, ...WHY)).toEqual({
      code: 0,
      out: 'cancelled: Refund order\n',
      error: '',
    });
    const shown = jsonLines((await runHere('show', id, '--json')).out)[0];
    expect(shown).toMatchObject({ state: 'withdrawn', by: 'operator:ann', payload: 'Asked twice.' });
    const rows = jsonLines((await runHere('audit', '--json', '--request', id)).out);
    const row = rows.find(({ event }) => event === 'withdrawn');
    expect(JSON.parse(String(row?.body))).toMatchObject({
      who: 'operator:ann',
      reason: 'Asked twice.',
      evidence: { operator: 'ann' },
    });
  }
});

test('cancel changes nothing once the action has started, and the attempt is on record', async () => {
  const requestId = await askAndStart(here.store);
  const { code, error } = await runHere('cancel', requestId, ...WHY);
  expect([code, error]).toEqual([
    1,
    `countersign cancel: ${requestId} is not cancelled: it has already started\n`,
  ]);
  expect(await stateOf(here.store, requestId)).toBe('started');
  const rows = jsonLines((await runHere('audit', '--json', '--request', requestId)).out);
  expect(rows.map(({ event }) => event)).toContain('refused');
});

test('a decision without a reason is refused; at a terminal it is asked for', async () => {
  const id = await ask(here.store);
  expect(await runHere('cancel', id)).toMatchObject({
    code: 2,
    error: expect.stringContaining('--reason is missing'),
  });
  expect(await stateOf(here.store, id)).toBe('pending');
  const input = new PassThrough();
  input.end('Not needed any more.\n');
  let out = '';
  const write = async (text: string) => {
    out += text;
  };
  const environment = { REDIS_URL: here.redis.url };
  const context = { environment, write, writeError: write, input, prefix: here.redis.prefix };
  expect(await runCommandLine(['cancel', id], context)).toBe(0);
  expect(out).toMatch(/^Reason: cancelled: /);
  expect((await runHere('show', id)).out).toMatch(/^outcome +Not needed any more\.$/m);
});

test.each([
  ['--ran', 'resolved'],
  ['--did-not-run', 'resolved'],
])('resolve %s makes an unknown outcome %s', async (flag, state) => {
  const id = await askAndLose(here.store, { details });
  const { code, out } = await runHere('resolve', id, flag, ...WHY, '--json');
  expect([code, jsonLines(out)]).toEqual([0, [{ ok: true, outcome: 'resolved', state }]]);
  expect(await stateOf(here.store, id)).toBe(state);
  const rows = jsonLines((await runHere('audit', '--json', '--request', id)).out);
  expect(rows.at(-1)).toMatchObject({ event: 'resolved', detail: `${flag.slice(2)} operator:ann` });
});

test('resolve refuses what is not unknown, and a request that does not exist', async () => {
  const id = await ask(here.store);
  expect(await runHere('resolve', id, '--ran', ...WHY)).toMatchObject({
    code: 1,
    error: expect.stringContaining('is pending; only an unknown outcome is resolved'),
  });
  for (const argv of [['show'], ['cancel', ...WHY], ['resolve', '--ran', ...WHY]]) {
    const { code, error } = await runHere(...argv, 'T1~none');
    expect([code, error]).toMatchObject([1, expect.stringContaining('there is no request T1~none')]);
  }
});

test('people and groups are shown by name where Slack can be asked, and machines get ids', async () => {
  const slack = await startLocalSlack();
  onTestFinished(() => slack.stop());
  const id = await ask(here.store, {
    details,
    requester: CAST.requester,
    policy: { quorum: 2, principals: [APPROVERS_GROUP, CAST.alice] },
  });
  await here.store.vote(id, approve(CAST.alice));
  const environment = {
    REDIS_URL: here.redis.url,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_API_URL: slack.apiUrl,
  };
  const { out: table } = await run(['pending'], environment, here.redis.prefix);
  expect(table).toMatch(/approval \(1 of 2\) +Refund order .* Remi Laurent +@approvers, Alice Moreau /);
  const { out } = await run(['show', id], environment, here.redis.prefix);
  expect(out).toMatch(/^requested by +Remi Laurent$/m);
  expect(out).toMatch(/^approved by +Alice Moreau at \S+Z$/m);
  expect(out).toMatch(/^arguments +\{"amount":1200\}$/m);
  const [shown] = jsonLines((await run(['show', id, '--json'], environment, here.redis.prefix)).out);
  expect(shown).toMatchObject({ id, requester: CAST.requester, votes: [{ who: CAST.alice }] });
});

test('show writes no character that would steer a terminal', async () => {
  const id = await ask(here.store, {
    details: {
      ...details,
      interrupt: toJson({ id: 'i', toolRequest: { name: 'a', ref: 'r', input: '\u001b[2J' } }),
    },
  });
  expect((await runHere('show', id)).out).not.toContain('\u001b');
});
