import { expect, test } from 'vitest';
import type { Decision } from '../../src/engine/decision.ts';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { ANN, BEN, manifest, OTHER_THREAD, openScene, RITA, ROY, THREAD } from './scene.ts';
import { OTHER_TEAM } from './start-quiet-bot.ts';

const GRANTS = '{ for: 1h, uses: 5, when: "input.amount <= 10" }';
const grant: Decision = { type: 'approve', grants: true };

/** Opens a scene in which Ann has granted small payments to Rita. */
async function openGranted({ scope = 'thread', more = '' } = {}) {
  const policy = `grants: ${GRANTS.replace('{', `{ scope: ${scope},`)}`;
  const scene = await openScene({ text: manifest({ policy, more }) });
  await scene.ask(5);
  await scene.click(ANN, grant);
  expect(scene.paid).toEqual([{ amount: 5 }]);
  return scene;
}

test('a grant lets the same person pay again, as much as it says', async () => {
  const { ask, paid } = await openGranted();
  expect(await ask(6)).toBeUndefined();
  expect(await ask(11)).toBeDefined();
  expect(paid).toEqual([{ amount: 5 }, { amount: 6 }]);
});

test('a grant is for nobody but those who asked for what it was given for', async () => {
  const { ask, paid } = await openGranted({ scope: 'requester' });
  expect(await ask(5, { by: ROY, thread: OTHER_THREAD })).toBeDefined();
  expect(await ask(5, { by: ROY })).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant is not used for a call whose people keep the person who gave it from approving it', async () => {
  const policy = `self_approval: true, separation: thread, grants: ${GRANTS}`;
  const approval = '[{ require: deny, reason: Too much, when: "input.amount > 100" }, { policy: default }]';
  const { ask, click, paid } = await openScene({ text: manifest({ policy, approval }) });
  // Ann's words and Rita's led to the call, so Ann approves it as a requester. What she said then is context of Rita's next call.
  await ask(101, { by: ANN });
  await ask(5);
  await click(ANN, grant);
  expect(paid).toHaveLength(1);
  expect(await ask(5)).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant of a thread is for that thread', async () => {
  const { ask, paid } = await openGranted();
  expect(await ask(5, { thread: OTHER_THREAD })).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant ends with the right of the person who gave it', async () => {
  const { ask, become, paid } = await openGranted();
  become(ANN, 'gone');
  expect(await ask(5)).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a grant of groups that must all approve ends when those who gave it no longer fill each of them', async () => {
  const [PAYERS, JUDGES] = ['S0PAYERS01', 'S0JUDGES02'];
  const all = `{ all: [{ any: [${PAYERS}] }, { any: [${JUDGES}] }] }`;
  const text = manifest({ policy: `grants: ${GRANTS}` }).replace(
    `approvers: [${ANN}, ${BEN}]`,
    `approvers: ${all}`,
  );
  const scene = await openScene({ text, members: { [PAYERS]: [ANN, ROY], [JUDGES]: [BEN] } });
  const { ask, click, regroup, paid } = scene;
  await ask(5);
  await click(ANN, grant);
  await click(BEN, grant);
  expect(await ask(6)).toBeUndefined();
  expect(paid).toHaveLength(2);
  // Each of the two may still approve, but nobody of them for the second group.
  regroup(PAYERS, [ANN, BEN]);
  regroup(JUDGES, [ROY]);
  expect(await ask(7)).toBeDefined();
  expect(paid).toHaveLength(2);
});

test('a grant ends when its tool or its policy changes', async () => {
  const terms = `grants: ${GRANTS.replace('{', '{ scope: thread,')}`;
  for (const changed of [{ policy: terms, description: 'Pays more.' }, { policy: `${terms}, expires: 2h` }]) {
    const { ask, replace, paid } = await openGranted();
    await replace(manifest(changed));
    expect(await ask(5)).toBeDefined();
    expect(paid).toHaveLength(1);
  }
});

test('an attempt whose start was answered too late does not act on it, at once or in a worker', async () => {
  const { ask, click, paid } = await openScene({ slow: true });
  await ask(5);
  await click(ANN);
  expect(paid).toEqual([]);
  const free = await openScene({ slow: true, text: manifest({ approval: '{ require: never }' }) });
  await free.ask(5);
  expect(free.paid).toEqual([]);
});

test('a click that comes from another workspace does not count, also with the id of an approver', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  const { notice, open } = await click(ANN, { type: 'approve' }, { team: OTHER_TEAM });
  expect(notice).toBeDefined();
  expect(open).toBeDefined();
  expect(paid).toEqual([]);
});

test('neither a requester nor one whom the policy does not name nor a guest approves', async () => {
  const { ask, click, become, paid } = await openScene({
    text: manifest({ policy: '' }).replace(ANN, `${RITA}, ${ANN}`),
  });
  await ask(5);
  await click(RITA);
  await click(ROY);
  for (const standing of ['guest', 'gone', 'foreign', 'bot'] as const) {
    become(ANN, standing);
    await click(ANN);
  }
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('separation of the whole thread bars everybody whose words the model read', async () => {
  const { ask, click, paid } = await openScene({ text: manifest({ policy: 'separation: thread' }) });
  await ask(5, { by: ANN });
  await click(BEN);
  await ask(6);
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('before the start each approver, each requester, the rules and the tool are looked at once more', async () => {
  const two = { policy: 'quorum: 2' };
  const changes: ((scene: Awaited<ReturnType<typeof openScene>>) => unknown)[] = [
    ({ become }) => become(ANN, 'gone'),
    ({ become }) => become(RITA, 'gone'),
    ({ replace }) => replace(manifest({ ...two, description: 'Pays more.' })),
    ({ replace }) => replace(manifest({ policy: 'quorum: 2, self_approval: true' })),
    ({ replace }) => replace(manifest({ ...two, approval: '{ require: deny, reason: No. }' })),
    ({ replace }) => replace(`${manifest(two)}    allow: { people: [${ROY}] }\n`),
    ({ freeze }) => freeze(),
  ];
  for (const change of nonEmpty(changes)) {
    const scene = await openScene({ text: manifest(two) });
    await scene.ask(5);
    await scene.click(ANN);
    await change(scene);
    await scene.click(BEN);
    expect(scene.paid).toEqual([]);
  }
});

test('what is over a limit by the time it starts does not run on an approval that was given before', async () => {
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 10, policy: boss } }';
  const { ask, click, paid } = await openScene({ text: manifest({ more }) });
  await ask(8);
  await ask(8, { by: BEN, thread: OTHER_THREAD });
  await click(ANN);
  const { open } = await click(ANN, { type: 'approve' }, { thread: OTHER_THREAD });
  expect(paid).toEqual([{ amount: 8 }]);
  expect(open).toBeDefined();
});

test('an edit needs a new approval, not of the editor, and only a requester or an approver edits', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  expect((await click(ROY, { type: 'edit', input: { amount: 1 } })).notice).toBeDefined();
  await click(ANN, { type: 'edit', input: { amount: 9 } });
  await click(ANN);
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toEqual([{ amount: 9 }]);
});

test('the rules hold for whoever edits a call too', async () => {
  const approval = `[{ require: deny, when: 'requester == "${ANN}"', reason: No. }, { policy: default }]`;
  const { ask, click, paid } = await openScene({ text: manifest({ approval }) });
  const asked = await ask(5);
  expect((await click(ANN, { type: 'edit', input: { amount: 9 } })).open).toBe(asked);
  expect(paid).toEqual([]);
});

test('the rules hold for each requester, not for the first alone', async () => {
  const approval = `[{ require: deny, when: 'requester == "${ROY}"', reason: No. }, { require: never }]`;
  const { ask, paid } = await openScene({ text: manifest({ approval }) });
  await ask({}, { tool: '' });
  await ask(5, { by: ROY });
  expect(paid).toEqual([]);
});

test('an edit that changes nothing makes nobody a requester', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  await click(ANN, { type: 'edit', input: { amount: 5 } });
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('a grant lets neither an edited call run nor one over a limit', async () => {
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 8, policy: boss } }';
  const limited = await openGranted({ more });
  expect(await limited.ask(5)).toBeDefined();
  expect(limited.paid).toHaveLength(1);
  const { ask, click, paid } = await openGranted();
  await ask(11);
  expect((await click(RITA, { type: 'edit', input: { amount: 5 } })).open).toBeDefined();
  expect(paid).toHaveLength(1);
});

test('a delegate approves what the delegator could, as long as that person may, and nothing where the policy does not say so', async () => {
  const given = { from: ANN, to: ROY, id: 'd', until: Date.now() + 60_000, reason: '', evidence: {} };
  const { ask, click, become, replace, store, paid } = await openScene({
    text: manifest({ policy: 'delegation: true' }),
  });
  await delegationsIn(store).delegate(given);
  become(ANN, 'gone');
  await ask(5);
  await click(ROY);
  expect(paid).toEqual([]);
  become(ANN, 'active');
  await click(ROY);
  expect(paid).toEqual([{ amount: 5 }]);
  await replace(manifest());
  await ask(6);
  await click(ROY);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('a click in a channel that does not show the card does not count', async () => {
  const { ask, click, paid } = await openScene();
  await ask(5);
  await click(ANN, { type: 'approve' }, { channel: 'C0ELSE0003' });
  expect(paid).toEqual([]);
  await click(ANN, { type: 'approve' }, { channel: 'C0ONE00001' });
  expect(paid).toEqual([{ amount: 5 }]);
});

test('somebody whom the policy excludes does not approve', async () => {
  const { ask, click, paid } = await openScene({
    text: manifest().replace(`[${ANN}, ${BEN}]`, `{ any: [${ANN}, ${BEN}], not: [${ANN}] }`),
  });
  await ask(5);
  await click(ANN);
  expect(paid).toEqual([]);
});

test('what may have run is neither edited nor approved again, and while it is frozen it does not run again either', async () => {
  const { ask, click, settle, record, freeze, unfreeze, paid } = await openScene({ breaks: true });
  const request = await ask(5);
  await click(ANN);
  expect(paid).toHaveLength(1);
  await click(RITA, { type: 'edit', input: { amount: 6 } });
  await click(BEN);
  await freeze();
  const { attempts: tries } = await record(request ?? '');
  await click(BEN, { type: 'resolve', verdict: 'run-again', reason: '', tries });
  expect(paid).toHaveLength(1);
  await unfreeze();
  await settle(THREAD);
  expect(paid).toEqual([{ amount: 5 }, { amount: 5 }]);
});

test('a limit that a new manifest sets counts for what waits for approval', async () => {
  const { ask, click, replace, paid } = await openScene();
  await ask(8);
  await replace(
    manifest({
      more: 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 5, policy: boss } }',
    }),
  );
  expect((await click(ANN)).open).toBeDefined();
  expect(paid).toEqual([]);
});

test('what changed while it was frozen does not run afterwards on the old approval', async () => {
  const { ask, click, replace, settle, freeze, unfreeze, paid } = await openScene();
  await ask(5);
  await freeze();
  await click(ANN);
  await replace(manifest({ description: 'Pays more.' }));
  await unfreeze();
  expect(await settle(THREAD)).toBeDefined();
  expect(paid).toEqual([]);
  await click(ANN);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('what expired with half of its approvals neither runs nor is edited, and counts for no limit', async () => {
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 8 } }';
  const { ask, click, store, paid } = await openScene({
    text: manifest({ policy: 'quorum: 2, expires: 1s', more }),
  });
  const request = (await ask(5)) ?? '';
  await click(ANN);
  await expect
    .poll(async () => (await store.end(request, { state: 'expired' })).outcome, { timeout: 10_000 })
    .toBe('ended');
  await click(BEN);
  await click(RITA, { type: 'edit', input: { amount: 6 } });
  expect(paid).toEqual([]);
  await ask(8);
  await click(ANN);
  await click(BEN);
  expect(paid).toEqual([{ amount: 8 }]);
});

test('only a requester withdraws, and what was withdrawn or rejected does not run', async () => {
  const { ask, click, paid } = await openScene({ text: manifest({ policy: 'quorum: 2' }) });
  await ask(5);
  await click(ANN);
  expect((await click(ROY, { type: 'withdraw' })).open).toBeDefined();
  await click(RITA, { type: 'withdraw' });
  await ask(6);
  await click(ANN);
  await click(BEN, { type: 'reject', reason: '' });
  expect(paid).toEqual([]);
});

test('a call that runs without approval stops at a freeze, a limit and a denial for anybody whose words led to it', async () => {
  const approval = `[{ require: deny, when: 'requester == "${ROY}"', reason: No. }, { require: never }]`;
  const more = 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 10 } }';
  const { ask, paid, freeze } = await openScene({ text: manifest({ approval, more }) });
  await ask(6);
  await ask(6);
  await ask(1, { by: ROY });
  await ask(1);
  await freeze();
  await ask(1, { thread: OTHER_THREAD });
  expect(paid).toEqual([{ amount: 6 }]);
});
