import { expect, test } from 'vitest';
import { ANN, BEN, manifest, OTHER_THREAD, openScene, RITA, ROY, type SceneOptions } from './scene.ts';

const PAY = '    title: "Pay {{input.to}}"\n    target: "{{input.to}}"';
const ASKED_FIRST = '[{ when: "first.target || first.tool", policy: default }, { require: never }]';

/** Opens a scene in which a first payment is asked about and any other runs. */
const openFirst = ({
  approval = ASKED_FIRST,
  ...options
}: SceneOptions & { approval?: string; policy?: string; more?: string } = {}) => {
  const { policy, more, ...scene } = options;
  const text = manifest({ pay: PAY, approval, ...(policy && { policy }), ...(more && { more }) });
  return openScene({ ...scene, text });
};
const to = (name: string, amount = 1) => ({ to: name, amount });

test('a first call for a target is asked about, one that succeeded is not a first one, and each person and target counts', async () => {
  const { ask, click, paid, record } = await openFirst();
  const asked = await ask(to('Ada'));
  expect((await record(asked ?? '')).shown.facets.first).toEqual({
    ...{ act: 'pay', of: 'to', days: 90, isTarget: true, byTool: [RITA], byPair: [] },
  });
  await click(ANN);
  expect(paid).toHaveLength(1);
  expect(await ask(to('Ada', 2))).toBeUndefined();
  expect(paid).toHaveLength(2);
  // Another target, and another person.
  expect(await ask(to('Bob'))).toBeDefined();
  await click(ANN);
  const other = await ask(to('Ada'), { by: ROY, thread: OTHER_THREAD });
  expect((await record(other ?? '')).shown.facets.first).toMatchObject({ byTool: [ROY], byPair: [ROY] });
  expect(paid).toHaveLength(3);
});

test('what was asked, rejected or is unknown was not done', async () => {
  const scene = await openFirst();
  await scene.ask(to('Ada'));
  await scene.click(ANN, { type: 'reject', reason: 'no' });
  expect(await scene.ask(to('Ada'))).toBeDefined();
  expect(scene.paid).toEqual([]);
  const broken = await openFirst({ breaks: true });
  await broken.ask(to('Ada'));
  await broken.click(ANN);
  expect(broken.paid).toHaveLength(1);
  // The outcome is unknown; another thread is asked as if nothing had happened.
  expect(await broken.ask(to('Ada'), { thread: OTHER_THREAD })).toBeDefined();
});

test('of two speakers each must have done it: one who has not is asked about', async () => {
  const { ask, click, record } = await openFirst();
  await ask(to('Ada'));
  await click(ANN);
  await ask({}, { by: ROY, tool: '' });
  const both = await ask(to('Ada'));
  expect((await record(both ?? '')).requesters).toEqual(expect.arrayContaining([RITA, ROY]));
  expect((await record(both ?? '')).shown.facets.first).toMatchObject({ byTool: [ROY] });
});

test('an edit to another target is judged and counted by that one', async () => {
  const { ask, click, paid } = await openFirst();
  await ask(to('Ada'));
  const { open } = await click(BEN, { type: 'edit', input: to('Bob') });
  expect(open).toBeDefined();
  await click(ANN);
  expect(paid).toEqual([to('Bob')]);
  // Ben has edited, so he has asked for it too.
  expect(await ask(to('Ada'))).toBeDefined();
  await click(ANN, { type: 'reject', reason: '' });
  expect(await ask(to('Bob'))).toBeUndefined();
});

test('a request keeps the first times that it was asked with, whatever is done meanwhile', async () => {
  const { ask, click, paid } = await openFirst();
  await ask(to('Ada'));
  await ask(to('Ada', 5), { thread: OTHER_THREAD });
  await click(ANN, undefined, { thread: OTHER_THREAD });
  expect(paid).toHaveLength(1);
  await click(ANN);
  expect(paid).toHaveLength(2);
});

test('a changed rule about first times asks again', async () => {
  const { ask, click, replace, paid, record } = await openFirst();
  const asked = await ask(to('Ada'));
  const approval = '[{ when: "first.target", policy: boss }, { policy: default }]';
  await replace(manifest({ pay: PAY, approval }));
  const { open } = await click(ANN);
  expect(paid).toEqual([]);
  expect(open).not.toBe(asked);
  expect((await record(open ?? '')).principals).toEqual([ROY]);
});

test('a grant covers a first time only if its condition says so', async () => {
  const policy = 'grants: { for: 1h, uses: 5, when: "!first.target" }';
  const approval = '{ policy: default }';
  const { ask, click, paid } = await openFirst({ policy, approval });
  await ask(to('Ada'));
  await click(ANN, { type: 'approve', grants: true });
  expect(await ask(to('Ada', 2))).toBeUndefined();
  expect(await ask(to('Bob'))).toBeDefined();
  expect(paid).toHaveLength(2);
});

test('the risk of a call sees first times, and high risk is granted to nobody', async () => {
  const policy = `risk: "first.target ? 'high' : 'low'", grants: { for: 1h, uses: 5, when: "true" }`;
  const { ask, click, record, paid } = await openFirst({ policy, approval: '{ policy: default }' });
  const asked = await ask(to('Ada'));
  expect((await record(asked ?? '')).shown.policy).toMatchObject({ risk: 'high' });
  expect((await record(asked ?? '')).shown.facets.grants).toBeUndefined();
  await click(ANN);
  const again = await ask(to('Ada'));
  expect((await record(again ?? '')).shown.policy).toMatchObject({ risk: 'low' });
  await click(ANN, { type: 'approve', grants: true });
  expect(await ask(to('Ada'))).toBeUndefined();
  expect(await ask(to('Bob'))).toBeDefined();
  expect(paid).toHaveLength(3);
});

test('a first time over a limit needs both approvals', async () => {
  const more = 'limits: { pay: { sum: input.amount, window: 1d, max: 10, policy: boss } }';
  const { ask, click, paid, record } = await openFirst({ more });
  const asked = await ask(to('Ada', 11));
  expect((await record(asked ?? '')).policy.groups).toHaveLength(2);
  await click(ANN);
  expect(paid).toEqual([]);
  await click(ROY);
  expect(paid).toHaveLength(1);
  // Within the limit and no first time any more.
  expect((await record((await ask(to('Ada', 1))) ?? '')).principals).toEqual([ROY]);
});

test('a process that dies after the success is on record has counted it once, one that dies before has not', async () => {
  const { ask, click, dieAfter, restart, settle, paid, store } = await openFirst();
  await ask(to('Ada'));
  dieAfter('finish');
  await click(ANN).catch(() => {});
  await restart();
  await settle();
  expect(paid).toHaveLength(1);
  expect(await ask(to('Ada'), { thread: OTHER_THREAD })).toBeUndefined();
  expect(paid).toHaveLength(2);
  const key = (await store.readTotals([{ key: `first pay - ${RITA}`, windowMs: 90 * 86_400_000 }]))[0];
  expect(key).toEqual({ count: 2, sum: 0 });
  await ask(to('Bob'));
  dieAfter('vote');
  await click(ANN).catch(() => {});
  await restart();
  expect(paid).toHaveLength(2);
  expect(await ask(to('Bob'), { thread: OTHER_THREAD })).toBeDefined();
});

test('what is frozen or has expired was not done', async () => {
  const scene = await openFirst({ policy: 'expires: 1s' });
  const { ask, click, freeze, unfreeze, settle, store, paid } = scene;
  const expired = await ask(to('Ada'), { thread: OTHER_THREAD });
  await expect
    .poll(async () => (await store.end(expired ?? '', { state: 'expired' })).outcome, { timeout: 10_000 })
    .toBe('ended');
  await settle(OTHER_THREAD);
  await ask(to('Ada'));
  await freeze();
  await click(ANN);
  expect(paid).toEqual([]);
  expect(await ask(to('Ada'), { thread: OTHER_THREAD })).toBeDefined();
  await click(ANN, { type: 'reject', reason: '' }, { thread: OTHER_THREAD });
  await unfreeze();
  await settle();
  expect(paid).toHaveLength(1);
  expect(await ask(to('Ada'), { thread: OTHER_THREAD })).toBeUndefined();
});

test('a preview that changed asks again, with the first times of then', async () => {
  let balance = 1;
  const tools = `  look:
    description: Looks.
    http: { method: GET, url: "https://example.com/" }
    approval: never`;
  const pay = `${PAY}\n    preview: { tool: look, before: "{{output.balance}}", after: "less" }`;
  const approval = '[{ when: "first.target", policy: default }, { policy: boss }]';
  const { ask, click, record, paid } = await openScene({
    text: manifest({ pay, tools, approval }),
    acts: { look: () => ({ balance }) },
  });
  await ask(to('Ada'));
  await ask(to('Ada'), { thread: OTHER_THREAD });
  await click(ANN, undefined, { thread: OTHER_THREAD });
  expect(paid).toHaveLength(1);
  balance = 2;
  const { open } = await click(ANN);
  expect(paid).toHaveLength(1);
  expect((await record(open ?? '')).principals).toEqual([ROY]);
  expect((await record(open ?? '')).shown.facets.first).toBeUndefined();
});

test('a call that was undone was done all the same, and the one that undoes it counts for its own tool', async () => {
  const tools = `  unpay:
    description: Takes a payment back.
    input: { type: object, properties: { to: { type: string } } }
    http: { method: POST, url: "https://example.com/" }
    target: "{{input.to}}"
    approval: [{ when: "first.target", policy: boss }, { require: never }]`;
  const pay = `${PAY}\n    undo: { tool: unpay, input: { to: "{{input.to}}" } }`;
  const { ask, click, store, paid, settle } = await openScene({
    text: manifest({ pay, tools, approval: ASKED_FIRST }),
  });
  const request = await ask(to('Ada'));
  await click(ANN);
  await store.noteUndo(request ?? '', 'offered', {}, 3_600_000);
  await click(RITA, { type: 'undo' }, { request });
  await settle();
  await click(ROY);
  expect(paid).toEqual([to('Ada'), { to: 'Ada' }]);
  expect(await ask(to('Ada'))).toBeUndefined();
  expect(await ask({ to: 'Ada' }, { tool: 'unpay' })).toBeUndefined();
  expect(await ask({ to: 'Bob' }, { tool: 'unpay' })).toBeDefined();
});

test('where the record cannot be read, or a call has no target, people are asked', async () => {
  const approval = '[{ when: "!first.target", require: never }, { policy: default }]';
  const { ask, click, store, paid } = await openFirst({ approval });
  expect(await ask({ amount: 1 })).toBeDefined();
  await click(ANN);
  expect(await ask({ amount: 1 })).toBeDefined();
  await click(ANN, { type: 'reject', reason: '' });
  await ask(to('Ada'));
  await click(ANN);
  expect(await ask(to('Ada'))).toBeUndefined();
  expect(paid).toHaveLength(3);
  const readTotals: typeof store.readTotals = async ({ length }) => {
    if (length > 0) throw new Error('not now');
    return [];
  };
  Object.assign(store, { readTotals });
  expect(await ask(to('Ada'))).toBeDefined();
  expect(paid).toHaveLength(3);
});
