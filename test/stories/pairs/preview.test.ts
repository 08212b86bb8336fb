import { expect, test } from 'vitest';
import { ANN, BEN, EACH, manifest, OTHER_THREAD, openScene, RITA, ROY } from '../../oracle/scene.ts';

const LOOK = `
  look: { description: Looks., input: { type: object }, http: { method: GET, url: "https://example.com/" }, approval: { require: never } }`;
const PREVIEW = `    preview: { tool: look, input: {}, before: "{{output.paid}}", after: "{{input.amount}}" }`;

/** Opens a scene with a preview of what was paid so far, which the story can change. */
async function openPreviewed({ pay = PREVIEW, tools = '', ...rest }: Parameters<typeof manifest>[0] = {}) {
  const state = { paid: 0, looks: 0 };
  const look = () => {
    state.looks += 1;
    return { paid: state.paid };
  };
  const scene = await openScene({
    text: manifest({ ...rest, pay, tools: `${LOOK}${tools}` }),
    acts: { look },
  });
  const previewOf = async (request = '') => (await scene.record(request)).shown.facets.preview?.current;
  return { ...scene, state, previewOf };
}

test('an edited call has the preview of its new arguments', async () => {
  const { ask, click, previewOf } = await openPreviewed();
  expect(await previewOf(await ask(5))).toMatchObject({ after: '5' });
  const { open } = await click(RITA, { type: 'edit', input: { amount: 9 } });
  expect(await previewOf(open)).toMatchObject({ before: '0', after: '9' });
});

test('where each group approves, a changed preview is put before each of them again', async () => {
  const { ask, click, previewOf, state, paid } = await openPreviewed({ approvers: EACH });
  await ask(5);
  await click(ANN);
  state.paid = 1;
  const { open } = await click(BEN);
  expect(await previewOf(open)).toMatchObject({ before: '1' });
  await click(ANN);
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('where each group approves, a first time asks each of them, and the next call nobody', async () => {
  const approval = '[{ policy: default, when: first.tool }, { require: never }]';
  const { ask, click, paid } = await openPreviewed({ approvers: EACH, approval });
  await ask(5);
  await click(ANN);
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 5 }]);
  expect(await ask(6)).toBeUndefined();
  expect(paid).toEqual([{ amount: 5 }, { amount: 6 }]);
});

test('a grant is for arguments: a call under it has no preview, and one beside it has its own', async () => {
  const { ask, click, previewOf, state, paid } = await openPreviewed({
    policy: 'grants: { for: 1h, uses: 5, when: "input.amount <= 10" }',
  });
  await ask(5);
  await click(ANN, { type: 'approve', grants: true });
  const { looks } = state;
  expect(await ask(6)).toBeUndefined();
  expect(state.looks).toBe(looks);
  expect(await previewOf(await ask(11))).toMatchObject({ after: '11' });
  expect(paid).toEqual([{ amount: 5 }, { amount: 6 }]);
});

test('a changed preview counts for no limit, and a true one does not help over a limit', async () => {
  const { ask, click, previewOf, state, paid } = await openPreviewed({
    more: 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 10, policy: boss } }',
  });
  await ask(8);
  state.paid = 1;
  const { open: changed } = await click(ANN);
  expect(await previewOf(changed)).toMatchObject({ before: '1' });
  await ask(7, { thread: OTHER_THREAD });
  await click(ANN, { type: 'approve' }, { thread: OTHER_THREAD });
  expect(paid).toEqual([{ amount: 7 }]);
  await click(ANN);
  await click(BEN);
  expect(paid).toEqual([{ amount: 7 }]);
  await click(ROY);
  expect(paid).toEqual([{ amount: 7 }, { amount: 8 }]);
});

test('a preview that changed during a freeze is asked about after it', async () => {
  const { ask, click, settle, freeze, unfreeze, previewOf, state, paid } = await openPreviewed();
  await ask(5);
  await freeze();
  await click(ANN);
  state.paid = 1;
  await unfreeze();
  expect(await previewOf(await settle())).toMatchObject({ before: '1' });
  expect(paid).toEqual([]);
});

test('a preview that was added or taken away is asked about', async () => {
  for (const [before, after] of [
    [PREVIEW, ''],
    ['', PREVIEW],
  ]) {
    const { ask, click, replace, paid } = await openPreviewed({ pay: before });
    await ask(5);
    await replace(manifest({ pay: after, tools: LOOK }));
    expect((await click(ANN)).open).toBeDefined();
    expect(paid).toEqual([]);
  }
});

test('the next process compares the preview before it starts what the last one left approved', async () => {
  for (const isChanged of [false, true]) {
    const { ask, click, restart, settle, dieAfter, state, paid } = await openPreviewed();
    await ask(5);
    dieAfter('vote');
    await click(ANN).catch(() => {});
    expect(paid).toEqual([]);
    await restart();
    if (isChanged) state.paid = 1;
    expect(await settle()).toEqual(isChanged ? expect.any(String) : undefined);
    expect(paid).toHaveLength(isChanged ? 0 : 1);
  }
});

test('the reverse of an action has its own preview', async () => {
  const repay = `
  repay:
    description: Repays.
    input: { type: object, properties: { back: { type: number } } }
    http: { method: POST, url: "https://example.com/" }
    approval: { policy: boss }
    preview: { tool: look, input: {}, before: "{{output.paid}} paid", after: "{{input.back}} back" }`;
  const { ask, click, previewOf } = await openPreviewed({
    tools: repay,
    pay: `${PREVIEW}\n    undo: { tool: repay, input: { back: "{{input.amount}}" } }`,
  });
  const request = await ask(5);
  await click(ANN);
  const { open } = await click(RITA, { type: 'undo' }, { request });
  expect(await previewOf(open)).toMatchObject({ before: '0 paid', after: '5 back' });
});
