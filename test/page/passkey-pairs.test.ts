import { expect, test } from 'vitest';
import { type ApprovalTerms, challengeOf } from '../../src/policy/proof.ts';
import { CALLERS, ENVIRONMENT, KEYS } from '../stories/calling.ts';
import { close, openDesk, propose, ticketManifest } from '../stories/planning.ts';
import { CAST, PLACES } from '../stories/support.ts';
import { openWorkshop } from '../stories/workshop.ts';
import {
  approve,
  delegateSigned,
  enrol,
  linkFor,
  post,
  REFUND,
  readApproval,
  SIGNED,
  startSignedStory,
} from './signing.ts';
import { COMPANY } from './support.ts';

const { alice, bruno, requester: remi } = CAST;
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
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  await delegateSigned(story, ann, bruno);
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

test('a step of a signed plan whose outcome is unknown is not run again by a click', async () => {
  const desk = await openDesk();
  const story = await startSignedStory({
    manifest: WITH_ADMIN,
    replies: [propose(close('lost-1'), close('T-2'))],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('close them');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Outcome unknown/);
  for (const person of [CAST.admin, alice])
    await expect(thread.click(person, /Outcome unknown/, 'run-again')).rejects.toThrow(
      /offers ran, did-not-run/,
    );
  await thread.click(CAST.admin, /Outcome unknown/, 'did-not-run');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It is open still.' });
  // What was not done holds the rest of the plan: the next step is asked for by itself.
  await thread.shows(/Approval needed: Close ticket T-2/);
  expect(await desk.done()).toEqual(['closed lost-1']);
});

test('an idempotent step of a signed plan is tried again on that signature, and takes effect once', async () => {
  const desk = await openDesk();
  const workshop = await openWorkshop();
  const { arguments: folder } = workshop.call('coat_part');
  const story = await startSignedStory({
    manifest: `${WITH_ADMIN}  workshop: { module: ./test/stories/fixtures/workshop-tools.ts, reversible: yes, approval: { policy: default } }\n`,
    sweep: { everyMs: 100, overdueMs: 0 },
    replies: [
      propose(close('T-1'), { tool: 'coat_part', input: folder }, close('T-2')),
      { text: 'All done.' },
    ],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('close, coat, close');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/All done\./);
  expect(await workshop.linesOf('tries')).toHaveLength(2);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
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
    await thread.click(alice, /3 (of \d )?planned step/, 'choose-steps');
    const modal = await story.modalFor(alice);
    await story.workspace.as(alice).submit(modal.id, { 'steps-0': ['1', '3'] });
  });
  const { terms } = await readApproval(story, ann.browser, nonce);
  expect(terms.scope).toEqual({ plan: [1, 3] });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Two closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-3']);
});

const TWO = SIGNED.replace(
  '[{ policy: default, when: "input.amount > 10000" }, { require: never }]',
  '{ policy: two }',
);

test('an edited request needs new signatures over its new digest, and no signature over the old one counts', async () => {
  const story = await startSignedStory({ manifest: TWO, replies: [REFUND, { text: 'Refunded.' }] });
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  const thread = story.ask('refund it');
  const linkAt = (who: string, card: RegExp) => linkFor(story, who, () => thread.click(who, card, 'approve'));
  const read = async ({ browser, key }: typeof ann, nonce: string) => {
    const { terms, challenge } = await readApproval(story, browser, nonce);
    return { terms, assertion: { terms, ...key.sign(challenge) } };
  };
  // Ann has signed, and Ben is about to, when the requester edits.
  const first = await linkAt(alice, /Approval needed[\s\S]*12000/);
  const { assertion: oldOfAnn } = await read(ann, first);
  expect(await post(story, ann.browser, `approve/${first}`, oldOfAnn)).toMatchObject({ status: 200 });
  const second = await linkAt(bruno, /1 of 2 approvals/);
  const { terms: old, assertion: oldOfBen } = await read(ben, second);
  await thread.click(remi, /1 of 2 approvals/, 'edit');
  await story.workspace.as(remi).submit((await story.modalFor(remi)).id, { 'field-1': '11000' });
  await thread.shows(/Needs 2 approvals[\s\S]*11000|11000[\s\S]*Needs 2 approvals/);
  expect(await post(story, ben.browser, `approve/${second}`, oldOfBen)).toMatchObject({ status: 409 });

  const EDITED = /Approval needed[\s\S]*edited by/;
  const third = await linkAt(bruno, EDITED);
  const { terms, assertion: newOfBen } = await read(ben, third);
  expect(terms.request).not.toBe(old.request);
  expect(terms.digest).not.toBe(old.digest);
  // The old signature, as it is and under the terms of now; and the old digest, signed for the new link.
  const stale = { ...terms, digest: old.digest } as unknown as ApprovalTerms;
  for (const forged of [
    oldOfBen,
    { ...oldOfBen, terms },
    { terms: stale, ...ben.key.sign(await challengeOf(stale)) },
  ])
    expect(await post(story, ben.browser, `approve/${third}`, forged)).toMatchObject({ status: 409 });
  expect(await post(story, ben.browser, `approve/${third}`, newOfBen)).toMatchObject({ status: 200 });
  // What Ann signed before the edit is no second approval.
  await thread.shows(/1 of 2 approvals[\s\S]*11000|11000[\s\S]*1 of 2 approvals/);
  expect(await refunded(story)).toBe(0);
  const fourth = await linkAt(alice, EDITED);
  expect(await post(story, ann.browser, `approve/${fourth}`, oldOfAnn)).toMatchObject({ status: 409 });
  expect(await approve(story, ann, fourth)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(11_000);
});

test('a signature does not help over a limit: people are asked again, and sign anew', async () => {
  const story = await startSignedStory({
    manifest: `${SIGNED}limits:\n  refund_order: { sum: input.amount, per: requester, window: 1d, max: 20000, policy: two }\n`,
    replies: [REFUND, REFUND, { text: 'First.' }, { text: 'Second.' }],
  });
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  // Both are asked about under the limit.
  const thread = story.ask('refund it');
  await thread.shows(/Needs 1 approval/);
  const other = story.ask('refund it too');
  await other.shows(/Needs 1 approval/);
  const first = await linkFor(story, alice, () => thread.click(alice, /Needs 1 approval/, 'approve'));
  expect(await approve(story, ann, first)).toMatchObject({ status: 200 });
  await thread.shows(/First\./);
  const second = await linkFor(story, alice, () => other.click(alice, /Needs 1 approval/, 'approve'));
  expect(await approve(story, ann, second)).toMatchObject({ status: 200 });
  await other.shows(/Needs 2 approvals/);
  expect(await refunded(story)).toBe(12_000);
  for (const signer of [ann, ben]) {
    const nonce = await linkFor(story, signer.who, () =>
      other.click(signer.who, signer === ann ? /Needs 2 approvals/ : /1 of 2 approvals/, 'approve'),
    );
    expect(await approve(story, signer, nonce)).toMatchObject({ status: 200 });
  }
  await other.shows(/Second\./);
  expect(await refunded(story)).toBe(24_000);
});

test('each group signs, and who is in both signs for one of them', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace(
      `default: { confirm: passkey, approvers: [${alice}, ${bruno}]`,
      `default: { confirm: passkey, approvers: { all: [{ any: [${alice}] }, { any: [${alice}, ${bruno}] }] }`,
    ),
    replies: [REFUND, { text: 'Refunded.' }],
  });
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  const thread = story.ask('refund it');
  const first = await linkFor(story, alice, () => thread.click(alice, /Needs 2 approvals/, 'approve'));
  expect(await approve(story, ann, first)).toMatchObject({ status: 200 });
  await thread.shows(/1 of 2 approvals/);
  expect(await refunded(story)).toBe(0);
  const second = await linkFor(story, bruno, () => thread.click(bruno, /1 of 2 approvals/, 'approve'));
  expect(await approve(story, ben, second)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('the owner whom the call names signs, and nobody else gets a link', async () => {
  const story = await startSignedStory({
    signIn: COMPANY,
    manifest: SIGNED.replace(
      `default: { confirm: passkey, approvers: [${alice}, ${bruno}]`,
      'default: { confirm: passkey, approvers: { from: input.reason }',
    ),
    replies: [
      {
        calls: [
          {
            name: 'refund_order',
            arguments: { orderId: 'A-1001', amount: 12_000, reason: 'bruno@corner-shop.example' },
          },
        ],
      },
      { text: 'Refunded.' },
    ],
  });
  const ben = await enrol(story, bruno);
  await enrol(story, alice);
  const thread = story.ask('refund it');
  await thread.click(alice, /Needs 1 approval/, 'approve');
  await story.noticeFor(alice, /can approve this/);
  const nonce = await linkFor(story, bruno, () => thread.click(bruno, /Needs 1 approval/, 'approve'));
  expect(await approve(story, ben, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('who asked signs nothing, although their key counts', async () => {
  const story = await startSignedStory({ replies: [REFUND, { text: 'Refunded.' }] });
  await enrol(story, alice);
  const ben = await enrol(story, bruno);
  const thread = story.ask('refund it', { as: alice });
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /someone else has to approve/);
  const nonce = await linkFor(story, bruno, () => thread.click(bruno, /Approval needed/, 'approve'));
  expect(await approve(story, ben, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('what was approved with a click before the rules asked for passkeys is asked again, and signed', async () => {
  const plain = SIGNED.replace('default: { confirm: passkey,', 'default: {');
  const story = await startSignedStory({ manifest: plain, replies: [REFUND, { text: 'Refunded.' }] });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  const card = await thread.shows(/Approval needed/);
  await story.change('default: {', 'default: { confirm: passkey,');
  await story.workspace.as(alice).click({ channel: thread.channel, ts: card.ts }, 'approve');
  await thread.shows(/Approving needs your passkey/);
  expect(await refunded(story)).toBe(0);
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('a request that has expired is not signed', async () => {
  const story = await startSignedStory({
    manifest: SIGNED.replace('default: { confirm: passkey,', 'default: { confirm: passkey, expires: 10s,'),
    replies: [REFUND, { text: 'Nobody decided.' }],
  });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  const { terms, challenge } = await readApproval(story, ann.browser, nonce);
  await thread.shows(/Nobody decided\./);
  const late = { terms, ...ann.key.sign(challenge) };
  expect(await post(story, ann.browser, `approve/${nonce}`, late)).toMatchObject({ status: 409 });
  expect(await refunded(story)).toBe(0);
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
