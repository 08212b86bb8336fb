import { expect, test } from 'vitest';
import { emailOf } from '../../oracle/compositions.ts';
import { ANN, BEN, manifest, openScene, RITA, ROY, THREAD } from '../../oracle/scene.ts';

const OWNER = `approvers: { from: input.owner }`;
const owned = (from = OWNER, more = '') =>
  manifest({
    more: `  owner: { ${from}, notify: { direct_messages: false }${more} }`,
    approval: '{ policy: owner }',
  });
const of = (owner: string, approver = owner) => ({ owner: emailOf(owner), approver: emailOf(approver) });

type Scene = Awaited<ReturnType<typeof openScene>>;
const expired = ({ store }: Scene, request: string) =>
  expect
    .poll(async () => (await store.end(request, { state: 'expired' })).outcome, { timeout: 10_000 })
    .toBe('ended');

test('of two edits one counts, also if its process dies before the new card', async () => {
  const { ask, click, dieAfter, restart, settle, record, paid } = await openScene();
  const request = await ask(5);
  dieAfter('end');
  await click(RITA, { type: 'edit', input: { amount: 9 } }).catch(() => {});
  await restart();
  await click(ANN, { type: 'edit', input: { amount: 7 } }, { request });
  const open = await settle();
  expect((await record(open ?? '')).shown).toMatchObject({ facets: { edit: { by: RITA } } });
  await click(ANN);
  expect(paid).toEqual([{ amount: 9 }]);
});

test('a call whose process dies after it took a use of a grant takes no other, and does not run again', async () => {
  const { ask, click, dieAfter, restart, settle, record, store, paid } = await openScene({
    text: manifest({ policy: 'grants: { for: 1h, uses: 2, when: "input.amount <= 10" }' }),
  });
  await ask(5);
  await click(ANN, { type: 'approve', grants: true });
  dieAfter('startEffect');
  await ask(6).catch(() => {});
  await restart();
  await expect.poll(() => settle(), { timeout: 10_000 }).toBeDefined();
  const [open = ''] = await store.waitingIn(THREAD);
  expect((await record(open)).shown.interrupt.toolRequest.input).toEqual({ amount: 6 });
  await click(ANN, { type: 'resolve', verdict: 'did-not-run', reason: '', tries: 1 });
  expect(await ask(7)).toBeUndefined();
  expect(await ask(8)).toBeDefined();
  expect(paid).toEqual([{ amount: 5 }, { amount: 7 }]);
});

test('an approval for one group counts in the next process, and once', async () => {
  const text = manifest({
    more: `  groups: { approvers: { all: [{ any: [${ANN}, ${BEN}] }, { any: [${ROY}] }] }, notify: { direct_messages: false } }`,
    approval: '{ policy: groups }',
  });
  const { ask, click, dieAfter, restart, paid } = await openScene({ text });
  await ask(5);
  dieAfter('vote');
  await click(ANN).catch(() => {});
  await restart();
  await click(ANN);
  await click(BEN);
  expect(paid).toEqual([]);
  await click(ROY);
  expect(paid).toEqual([{ amount: 5 }]);
});

test('another expression for the owner asks the new owner', async () => {
  const { ask, click, replace, paid } = await openScene({ text: owned() });
  await ask(of(ANN, BEN));
  await replace(owned('approvers: { from: input.approver }'));
  expect((await click(ANN)).open).toBeDefined();
  await click(ANN);
  expect(paid).toEqual([]);
  await click(BEN);
  expect(paid).toHaveLength(1);
});

test('the next process asks the owner who was looked up for the card, and nobody else', async () => {
  const { ask, click, restart, become, paid } = await openScene({ text: owned() });
  await ask(of(ANN));
  await restart();
  await click(BEN);
  become(ANN, 'gone');
  await click(ANN);
  expect(paid).toEqual([]);
  become(ANN, 'active');
  await click(ANN);
  expect(paid).toHaveLength(1);
});

test('an owner who does not answer lets the request expire, and nobody approves it instead', async () => {
  const scene = await openScene({ text: owned(OWNER, ', expires: 1s') });
  const request = (await scene.ask(of(ANN))) ?? '';
  await expired(scene, request);
  for (const who of [ANN, BEN, ROY]) await scene.click(who, { type: 'approve' }, { request });
  expect(scene.paid).toEqual([]);
});

test('all who asked for what expired are requesters of what is asked for again', async () => {
  const scene = await openScene({ text: manifest({ policy: 'expires: 1s' }) });
  await scene.ask({}, { tool: '' });
  const request = (await scene.ask(5, { by: ANN })) ?? '';
  await expired(scene, request);
  await scene.settle();
  await scene.replace(manifest());
  const { open } = await scene.click(RITA, { type: 'ask-again' }, { request });
  expect((await scene.record(open ?? '')).requesters.toSorted()).toEqual([ANN, RITA].toSorted());
  await scene.click(ANN);
  expect(scene.paid).toEqual([]);
  await scene.click(BEN);
  expect(scene.paid).toEqual([{ amount: 5 }]);
});

test('another deadline in a new manifest does not lengthen what waits', async () => {
  const scene = await openScene({ text: manifest({ policy: 'expires: 2s' }) });
  const request = (await scene.ask(5)) ?? '';
  const { expiresAt } = await scene.record(request);
  await scene.replace(manifest({ policy: 'expires: 1h' }));
  expect((await scene.record(request)).expiresAt).toBe(expiresAt);
  await expired(scene, request);
  await scene.click(ANN, { type: 'approve' }, { request });
  expect(scene.paid).toEqual([]);
});

test('what expired while no process ran is not approved in the next one, and expires there', async () => {
  const scene = await openScene({ text: manifest({ policy: 'expires: 1s' }) });
  const request = (await scene.ask(5)) ?? '';
  const { expiresAt } = await scene.record(request);
  await scene.restart();
  await expect.poll(() => Date.now(), { timeout: 10_000 }).toBeGreaterThan(expiresAt);
  await scene.click(ANN);
  expect(scene.paid).toEqual([]);
  expect((await scene.store.due({ overdueMs: 0, limit: 10 })).timers).toContainEqual(
    expect.objectContaining({ kind: 'expire' }),
  );
  await expired(scene, request);
});
