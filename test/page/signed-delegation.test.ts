import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/json.ts';
import { ProofCheck } from '../../src/audit/proof-check.ts';
import { loadList } from '../../src/engine/asks/load-lists.ts';
import { challengeOf, type DelegationTerms } from '../../src/policy/proof.ts';
import { delegationsIn, readDelegations } from '../../src/store/documents/delegations.ts';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST } from '../stories/support.ts';
import { nonEmpty } from '../support/non-empty.ts';
import {
  approve,
  delegate,
  delegateSigned,
  enrol,
  linkFor,
  post,
  REFUND,
  readApproval,
  SIGNED,
  startSignedStory,
} from './signing.ts';
import type { PageStory } from './support.ts';

const { alice, bruno, admin } = CAST;
const ONLY_ALICE = SIGNED.replace(
  `approvers: [${alice}, ${bruno}], notify`,
  `approvers: [${alice}], delegation: true, notify`,
);
const refunded = async (story: PageStory) => (await story.ledger.order('A-1001'))?.refunded;
const start = (manifest = ONLY_ALICE, replies = [REFUND, { text: 'Refunded.' }]) =>
  startSignedStory({ manifest, replies });

const held = (story: PageStory) => readDelegations(story.bot.context.store);

test("a stolen Slack session passes no passkey approval on: without the approver's signature a delegate approves nothing", async () => {
  const story = await start(ONLY_ALICE, [REFUND]);
  await enrol(story, alice);
  await enrol(story, bruno);
  // In the session of Alice, without her device.
  expect(await delegate(story, alice, bruno)).not.toBe('');
  expect(await held(story)).toMatchObject([{ from: alice, to: bruno }]);
  const thread = story.ask('refund it');
  await thread.click(bruno, /Approval needed/, 'approve');
  await story.noticeFor(bruno, /can approve this/);
  expect(await refunded(story)).toBe(0);
  // Nor does the delegate see what waits.
  const { requests } = await loadList(story.bot.context, bruno, 'waiting');
  expect(requests).toEqual([]);
});

test('a delegation that the approver has signed counts, is shown to them before, and the log proves it', async () => {
  const story = await start();
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  const nonce = await delegate(story, alice, bruno, 'for 3 days holidays');
  const shown = await readApproval(story, ann.browser, nonce);
  expect(shown).not.toHaveProperty('request');
  expect(shown.covers.map(({ label }) => label)).toEqual(['Decides for you', 'Until', 'Reason', 'Policies']);
  expect(shown.terms).toMatchObject({ from: alice, to: bruno, policies: ['default'] });
  expect(await approve(story, ann, nonce)).toEqual({
    status: 200,
    body: { isApproved: true, text: 'Signed. You can close this page.' },
  });
  expect((await ann.browser.get(`${story.url}/page/api/approval/${nonce}`)).status).toBe(409);
  const thread = story.ask('refund it');
  const link = await linkFor(story, bruno, () => thread.click(bruno, /Approval needed/, 'approve'));
  expect((await readApproval(story, ben.browser, link)).terms).toMatchObject({ onBehalfOf: alice });
  expect(await approve(story, ben, link)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);

  const rows: AuditRow[] = [];
  for await (const row of story.bot.context.store.exportAudit()) rows.push(row);
  const problemsOf = async (change: (row: AuditRow) => AuditRow = (row) => row) => {
    const check = new ProofCheck({ isPartial: false });
    const found: (string | readonly never[])[] = [];
    for (const row of nonEmpty(rows)) found.push((await check.add(change(row))) ?? []);
    return found.flat();
  };
  const inVote = (change: (proof: JsonObject) => JsonObject) => (row: AuditRow) => {
    if (row.event !== 'voted') return row;
    const body = JSON.parse(row.body) as JsonObject & { proof: JsonObject };
    return { ...row, body: JSON.stringify({ ...body, proof: change(body.proof) }) };
  };
  const inTerms = (terms: JsonObject) =>
    inVote((proof) => {
      const signed = proof.delegation as JsonObject & { terms: JsonObject };
      return { ...proof, delegation: { ...signed, terms: { ...signed.terms, ...terms } } };
    });
  expect(await problemsOf()).toEqual([]);
  for (const [change, problem] of [
    [inVote(({ delegation: _, ...proof }) => proof), /did not sign that somebody decides for them/],
    [inTerms({ to: admin }), /signed another delegation/],
    [inTerms({ workspace: 'T0OTHER' }), /signed another delegation/],
    [inTerms({ delegation: 'd-9' }), /did not hold then/],
    [inTerms({ until: 1 }), /did not hold then/],
    [inTerms({ until: 9_999_999_999_999 }), /in the delegation, the passkey signed something else/],
    [inTerms({ policies: ['default', 'two'] }), /in the delegation, the passkey signed something else/],
    [
      (row: AuditRow) => (row.event === 'delegated' ? { ...row, event: 'delegation-ended' } : row),
      /did not hold then/,
    ],
    [
      (row: AuditRow) =>
        row.event === 'passkey-confirmed' && row.subject.endsWith(alice)
          ? { ...row, event: 'passkey-removed' }
          : row,
      /in the delegation, its passkey was not enrolled/,
    ],
  ] as const)
    expect(await problemsOf(change)).toEqual([expect.stringMatching(problem)]);
});

test('what waits already reaches the delegate when the delegation is signed, and not before', async () => {
  const told = ONLY_ALICE.replace('notify: { direct_messages: false }', 'notify: { direct_messages: true }');
  const story = await start(told, [REFUND]);
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  await thread.shows(/Approval needed/);
  const nonce = await delegate(story, alice, bruno);
  const sent = () =>
    story.workspace
      .messagesIn(story.workspace.directMessages(bruno))
      .filter(({ text }) => /Approval needed/.test(text));
  await story.deliveredAll();
  expect(sent()).toEqual([]);
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await story.directly(bruno).shows(/Approval needed/);
});

test("nobody else's key signs a delegation, a signature is for one delegation, and a link is for one person", async () => {
  const story = await start(ONLY_ALICE, [REFUND]);
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  const first = await delegate(story, alice, admin);
  const { terms, challenge } = await readApproval(story, ann.browser, first);
  const second = await delegate(story, alice, bruno);
  expect(
    await post(story, ben.browser, `approve/${second}`, { terms, ...ben.key.sign(challenge) }),
  ).toMatchObject({ status: 409 });
  const asked = await readApproval(story, ann.browser, second);
  for (const assertion of [
    // Of another person's device, of the delegation before, and of terms that the browser was never given.
    { terms: asked.terms, ...ben.key.sign(asked.challenge) },
    { terms, ...ann.key.sign(challenge) },
    await (async () => {
      const longer = { ...(asked.terms as unknown as DelegationTerms), until: 9_999_999_999_999 };
      return { terms: longer, ...ann.key.sign(await challengeOf(longer)) };
    })(),
  ])
    expect(await post(story, ann.browser, `approve/${second}`, assertion)).toMatchObject({ status: 409 });
  const thread = story.ask('refund it');
  await thread.click(bruno, /Approval needed/, 'approve');
  await story.noticeFor(bruno, /can approve this/);
  expect(await refunded(story)).toBe(0);
});

test('a signature under another table does not count: not for another person, another time, or another policy', async () => {
  const two = ONLY_ALICE.replace(
    `approvers: [${alice}, ${bruno}], quorum: 2`,
    `approvers: [${alice}], delegation: true`,
  ).replace('[{ policy: default, when: "input.amount > 10000" }, { require: never }]', '{ policy: two }');
  const story = await start(ONLY_ALICE, [REFUND, REFUND]);
  const ann = await enrol(story, alice);
  await enrol(story, bruno);
  await delegateSigned(story, ann, admin);
  const { store } = story.bot.context;
  const [signed] = await held(story);
  // Somebody who can write to Redis gives the signature to a delegation of their own.
  const forged = {
    id: 'd-2',
    from: alice,
    to: bruno,
    until: Date.now() + 3_600_000,
    reason: '',
    evidence: {},
  };
  await delegationsIn(store).delegate(forged);
  await delegationsIn(store).sign(forged, signed?.proof ?? {});
  const thread = story.ask('refund it');
  await thread.click(bruno, /Approval needed/, 'approve');
  await story.noticeFor(bruno, /can approve this/);
  // What Alice signs for Bruno now is signed for the policies that there are.
  await delegateSigned(story, ann, bruno);
  await story.change(ONLY_ALICE, two);
  const other = story.ask('refund it again');
  const refusals = () =>
    story.workspace.ephemeralsFor(bruno).filter(({ text }) => /can approve this/.test(text));
  const before = refusals().length;
  await other.click(bruno, /Approval needed/, 'approve');
  await story.workspace.until(() => refusals().length > before, { what: 'a second refusal' });
  expect(await refunded(story)).toBe(0);
});

test('a delegate approves nothing any more once the key is removed that signed the delegation, also after the approval', async () => {
  const story = await start(ONLY_ALICE, [REFUND]);
  const [ann, ben] = [await enrol(story, alice), await enrol(story, bruno)];
  await delegateSigned(story, ann, bruno);
  const record = openRedisStore({ client: story.redis, prefix: story.prefix });
  const freeze = { scope: 'refund_order', who: admin, reason: '', evidence: {} };
  await record.freeze({ ...freeze, id: 'f' });
  const thread = story.ask('refund it');
  const link = await linkFor(story, bruno, () => thread.click(bruno, /Approval needed/, 'approve'));
  expect(await approve(story, ben, link)).toMatchObject({ status: 200 });
  expect(await post(story, ann.browser, 'passkey-remove', { credential: ann.key.id })).toMatchObject({
    status: 200,
  });
  await record.unfreeze({ ...freeze, id: 'u', eligible: true, quorum: 1, stillEligible: [] });
  await thread.shows(/A passkey that approved it was removed, or does not prove the approval/);
  await thread.shows(/Approval needed/);
  expect(await refunded(story)).toBe(0);
});

test('where clicks approve, a delegation counts without a signature', async () => {
  const story = await start(ONLY_ALICE.replaceAll('confirm: passkey,', ''));
  expect(await delegate(story, alice, bruno)).toBe('');
  const thread = story.ask('refund it');
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('who delegates without a passkey reads that it does not count where passkeys approve', async () => {
  const story = await start(ONLY_ALICE, []);
  expect(await delegate(story, alice, bruno)).toBe('');
  const answer = story.workspace.ephemeralsFor(alice).map(({ blocks }) => JSON.stringify(blocks));
  expect(answer.join()).toMatch(/counts only once yours has signed it[\s\S]*You have none that counts yet/);
});
