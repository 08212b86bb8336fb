import { expect, test } from 'vitest';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import { CALLERS, ENVIRONMENT, KEYS } from '../stories/calling.ts';
import { close, openDesk, propose, ticketManifest } from '../stories/planning.ts';
import { CAST, PLACES } from '../stories/support.ts';
import { approve, enrol, linkFor, post, REFUND, readApproval, SIGNED, startSignedStory } from './signing.ts';

const { alice, bruno } = CAST;
const refunded = async (story: Awaited<ReturnType<typeof startSignedStory>>) =>
  (await story.ledger.order('A-1001'))?.refunded;

test('a delegate signs with their own key, and the proof names in whose place', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace(
      `approvers: [${alice}, ${bruno}], notify`,
      `approvers: [${alice}], delegation: true, notify`,
    ),
    replies: [REFUND, { text: 'Refunded.' }],
  });
  const ben = await enrol(story, bruno);
  await delegationsIn(story.bot.context.store).delegate({
    ...{ id: 'd-1', from: alice, to: bruno, until: Date.now() + 3_600_000, reason: 'away', evidence: {} },
  });
  const thread = story.ask('refund it');
  const nonce = await linkFor(story, bruno, () => thread.click(bruno, /Approval needed/, 'approve'));
  const shown = await readApproval(story, ben.browser, nonce);
  expect(shown.terms).toMatchObject({ voter: bruno, onBehalfOf: alice });
  expect(shown.covers.map(({ label }) => label)).toContain('In the place of');
  expect(await approve(story, ben, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('a grant is signed with its terms, and a later call under it needs no new signature', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace(
      `default: { confirm: passkey,`,
      `default: { confirm: passkey, grants: { for: 1h, uses: 1 },`,
    ),
    replies: [REFUND, { text: 'Refunded.' }, REFUND, { text: 'Again.' }],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  const nonce = await linkFor(story, alice, async () => {
    await thread.click(alice, /Approval needed/, 'approve-grant');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, {});
  });
  const shown = await readApproval(story, ann.browser, nonce);
  expect(shown.terms.scope).toMatchObject({ grant: { uses: 1, forMs: 3_600_000 } });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  story.ask('once more', { threadTs: thread.ts });
  await thread.shows(/Again\./);
  expect(await refunded(story)).toBe(24_000);
});

test('high risk still asks to type the target, and then for the passkey', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace(
      'default: { confirm: passkey,',
      'default: { confirm: { high: passkey }, risk: high,',
    ).replace('refund_order: {', 'refund_order: { target: "{{input.orderId}}",'),
    replies: [REFUND, { text: 'Refunded.' }],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  const typed = async () => {
    await thread.click(alice, /Approval needed/, 'approve-typed');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, { target: 'A-1001' });
  };
  const nonce = await linkFor(story, alice, typed);
  expect(await refunded(story)).toBe(0);
  const { terms } = await readApproval(story, ann.browser, nonce);
  expect(terms).toMatchObject({ voter: alice, scope: 'once' });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('a key that is removed takes the grants that it signed with it', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace(
      `default: { confirm: passkey,`,
      `default: { confirm: passkey, grants: { for: 1h, uses: 5 },`,
    ),
    replies: [REFUND, { text: 'Refunded.' }, REFUND],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  const nonce = await linkFor(story, alice, async () => {
    await thread.click(alice, /Approval needed/, 'approve-grant');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, {});
  });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  expect(await post(story, ann.browser, 'passkey-remove', { credential: ann.key.id })).toMatchObject({
    status: 200,
  });
  story.ask('once more', { threadTs: thread.ts });
  await thread.shows(/Approval needed: Refund/);
  expect(await refunded(story)).toBe(12_000);
});

const PLANNED = ticketManifest().replace('default: {', 'default: { confirm: passkey,');
const WITH_ADMIN = PLANNED.replace('agent: {', `agent: { admins: [${CAST.admin}],`);

test('a plan is signed as a whole, and its steps run on that signature', async () => {
  const desk = await openDesk();
  const story = await startSignedStory({
    manifest: WITH_ADMIN,
    replies: [propose(close('T-1'), close('T-2'), close('T-3')), { text: 'All closed.' }],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('close them');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  const { terms } = await readApproval(story, ann.browser, nonce);
  expect(terms.scope).toEqual({ plan: [1, 2, 3] });
  expect(await desk.done()).toEqual([]);
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/All closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2', 'closed T-3']);
});

test('who chooses steps of a plan signs these alone, and the others do not run', async () => {
  const desk = await openDesk();
  const story = await startSignedStory({
    manifest: WITH_ADMIN,
    replies: [propose(close('T-1'), close('T-2'), close('T-3')), { text: 'Two closed.' }],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('close them');
  const nonce = await linkFor(story, alice, async () => {
    await thread.click(alice, /Run 3 steps as planned\?/, 'choose-steps');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, { 'steps-0': ['1', '3'] });
  });
  const { terms } = await readApproval(story, ann.browser, nonce);
  expect(terms.scope).toEqual({ plan: [1, 3] });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Two closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-3']);
});

test('what a caller asks for runs only after the approver has signed it with their key', async () => {
  const story = await startSignedStory({
    manifest: `${SIGNED}${CALLERS.replace('    ask: [release]\n', '')}`,
    environment: ENVIRONMENT,
  });
  const ann = await enrol(story, alice);
  const send = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${story.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEYS.pipeline}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await answer.json()) as { readonly id: string; readonly status: string };
  };
  const input = { orderId: 'A-1001', amount: 12_000 };
  const { id } = await send('POST', '/v1/runs', { tool: 'refund_order', input });
  const place = story.placeIn(PLACES.general);
  const nonce = await linkFor(story, alice, () => place.click(alice, /Approval needed/, 'approve'));
  expect(await send('GET', `/v1/runs/${id}`)).toMatchObject({ status: 'waiting' });
  expect((await readApproval(story, ann.browser, nonce)).terms).toMatchObject({
    voter: alice,
    scope: 'once',
  });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  expect(await send('GET', `/v1/runs/${id}?wait=60`)).toMatchObject({ status: 'succeeded' });
  expect(await refunded(story)).toBe(12_000);
});
