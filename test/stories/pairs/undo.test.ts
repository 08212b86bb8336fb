import { expect, test } from 'vitest';
import { ANN, BEN, EACH, manifest, openScene, RITA, ROY, type SceneOptions } from '../../oracle/scene.ts';

const REVERSE = '    undo: { tool: repay, input: { back: "{{input.amount}}" } }';
const repay = (approval: string) => `
  repay: { description: Repays., input: { type: object, properties: { back: { type: number }, all: { type: string } } }, http: { method: POST, url: "https://example.com/" }, approval: ${approval} }`;
const undone = { type: 'undo' } as const;

/** Opens a scene with a payment that can be undone. */
const openUndoable = ({
  pay = REVERSE,
  approval = '{ policy: boss }',
  breaks = false,
  ...rest
}: Parameters<typeof manifest>[0] & Pick<SceneOptions, 'breaks'> = {}) =>
  openScene({ text: manifest({ ...rest, pay, tools: repay(approval) }), breaks });

test('what is undone are the arguments that ran, not those that were edited away', async () => {
  const { ask, click, paid } = await openUndoable();
  await ask(5);
  const { open: request } = await click(RITA, { type: 'edit', input: { amount: 9 } });
  await click(ANN);
  await click(RITA, undone, { request });
  await click(ROY);
  expect(paid).toEqual([{ amount: 9 }, { back: 9 }]);
});

test('where each group approves, the reverse needs each of them too', async () => {
  const { ask, click, paid } = await openUndoable({ approvers: EACH, approval: '{ policy: default }' });
  const request = await ask(5);
  await click(ANN);
  await click(BEN);
  expect(paid).toEqual([{ amount: 5 }]);
  await click(RITA, undone, { request });
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 5 }, { back: 5 }]);
});

test('a grant for the reverse is for those who asked for it, not for whoever clicks Undo', async () => {
  const { ask, click, paid } = await openUndoable({
    approval: '{ policy: default }',
    policy: 'grants: { for: 1h, uses: 5, scope: requester }',
  });
  await ask({ back: 1 }, { tool: 'repay' });
  await click(BEN, { type: 'approve', grants: true });
  const request = await ask(5);
  await click(BEN);
  const { open } = await click(ANN, undone, { request });
  expect(open).toBeDefined();
  expect(paid).toEqual([{ back: 1 }, { amount: 5 }]);
});

test('the reverse counts for the limits of its own tool, and gives nothing back to those of the first', async () => {
  const limit = (amount: string, max: number) => `{ sum: ${amount}, per: tool, window: 1h, max: ${max} }`;
  const { ask, click, paid } = await openUndoable({
    more: `limits: { pay: ${limit('input.amount', 10)}, repay: ${limit('input.back', 7)} }`,
    approval: '{ require: never }',
  });
  for (const amount of [6, 4]) {
    const request = await ask(amount);
    await click(ANN);
    await click(RITA, undone, { request });
  }
  await ask(1);
  await click(ANN);
  expect(paid).toEqual([{ amount: 6 }, { back: 6 }, { amount: 4 }]);
});

test('the reverse does not start while its tool is frozen', async () => {
  const { ask, click, settle, freeze, unfreeze, paid } = await openUndoable();
  const request = await ask(5);
  await click(ANN);
  await freeze('repay');
  await click(RITA, undone, { request });
  await click(ROY);
  expect(paid).toEqual([{ amount: 5 }]);
  await unfreeze('repay');
  await settle();
  expect(paid).toEqual([{ amount: 5 }, { back: 5 }]);
});

test('what may have run, or not, is not undone', async () => {
  const { ask, click, record, paid } = await openUndoable({ breaks: true });
  const request = await ask(5);
  await click(ANN);
  const { notice, open } = await click(RITA, undone, { request });
  expect(notice).toBeDefined();
  expect((await record(open ?? '')).shown.interrupt.toolRequest.name).toBe('pay');
  expect(paid).toEqual([{ amount: 5 }]);
});

test('the reverse is that of the tool as it is now, or none', async () => {
  const { ask, click, replace, record } = await openUndoable();
  const request = await ask(5);
  await click(ANN);
  const tools = repay('{ policy: boss }');
  await replace(manifest({ tools }));
  expect(await click(RITA, undone, { request })).toMatchObject({
    notice: expect.any(String),
    open: undefined,
  });
  await replace(manifest({ tools, pay: REVERSE.replace('back:', 'all: yes, back:') }));
  const { open } = await click(RITA, undone, { request });
  expect((await record(open ?? '')).shown.interrupt.toolRequest.input).toEqual({ all: 'yes', back: 5 });
});

test('an Undo whose process dies is asked once, and every click after it is told so', async () => {
  const { ask, click, restart, settle, dieAfter, paid } = await openUndoable();
  const request = await ask(5);
  await click(ANN);
  dieAfter('enqueue');
  await click(RITA, undone, { request }).catch(() => {});
  await restart();
  expect(await settle()).toBeDefined();
  expect((await click(RITA, undone, { request })).notice).toBeDefined();
  await click(ROY);
  expect((await click(ANN, undone, { request })).notice).toBeDefined();
  expect(paid).toEqual([{ amount: 5 }, { back: 5 }]);
});
