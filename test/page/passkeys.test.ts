import { expect, test } from 'vitest';
import { proposeChange } from '../../src/bot/policy-change.ts';
import { codeOf } from '../../src/engine/passkeys.ts';
import type { Passkeys } from '../../src/page/protocol.ts';
import { manifestIn } from '../../src/store/documents/manifest.ts';
import { changeKey } from '../../src/tools/manifest/govern.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { CAST, PLACES } from '../stories/support.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import {
  addKey,
  approve,
  command,
  enrol,
  linkFor,
  post,
  REFUND,
  readApproval,
  SIGNED,
  startSignedStory,
} from './signing.ts';
import { SoftwareKey } from './software-key.ts';
import { COMPANY } from './support.ts';

const { alice, bruno, admin, requester } = CAST;
const KEY = {
  ...{ name: 'Laptop', counter: 0, transports: [], addedAt: 0, countsFrom: null },
  key: { origin: 'http://localhost', rpId: 'localhost' },
};

test('a click on Approve counts nothing: the person signs on the page, and then it runs', async () => {
  const story = await startSignedStory({ replies: [REFUND, { text: 'Refunded.' }] });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  await thread.shows(/Approving needs your passkey/);
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(0);
  const shown = await readApproval(story, ann.browser, nonce);
  expect(shown.covers[0]).toEqual({ label: 'You approve', text: 'This call, once.' });
  expect(shown.terms).toMatchObject({ voter: alice, onBehalfOf: null, scope: 'once', decision: 'approve' });
  expect(await approve(story, ann, nonce)).toEqual({
    status: 200,
    body: { isApproved: true, text: 'Approved. You can close this page.' },
  });
  await thread.shows(/Refunded\./);
  expect((await story.ledger.order('A-1001'))?.refunded).toBe(12_000);
});

test('rejecting needs no key, and who has none reads how to get one', async () => {
  const story = await startSignedStory({ replies: [REFUND, { text: 'I did not.' }] });
  const thread = story.ask('refund it');
  await thread.shows(/No approver has a confirmed passkey, so nobody can approve this yet\./);
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /you have none yet\. To get one, type \/countersign passkey/);
  await thread.click(requester, /Approval needed/, 'approve');
  await story.noticeFor(requester, /can approve this/);
  await thread.click(alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { reason: { reason: 'no' } });
  await thread.shows(/I did not\./);
});

test('where a change of the rules needs a passkey, a click does not take the passkeys out', async () => {
  const changes = `policy_changes: { approvers: [${alice}], confirm: passkey, channel: ${PLACES.general} }`;
  const story = await startSignedStory({ manifest: SIGNED.replace('agent: {', `agent: { ${changes},`) });
  const { context } = story.bot;
  const record = manifestIn(context.store);
  const change = { from: 'signed', to: 'clicked', diff: '- policies.default.confirm: passkey' };
  const former = { digest: change.from, text: '{}', lock: undefined, isGoverned: true };
  await record.recordManifest(undefined, former);
  const ann = await enrol(story, alice);
  await proposeChange(context, change);
  const place = story.placeIn(PLACES.general);
  const nonce = await linkFor(story, alice, () => place.click(alice, /Change the rules/, 'approve'));
  expect(await record.readManifest()).toMatchObject({ approved: undefined });
  expect(await approve(story, ann, nonce)).toMatchObject({ status: 200 });
  await expect
    .poll(() => record.readManifest(), { timeout: PATIENCE_MS })
    .toMatchObject({ approved: changeKey(change) });
});

test('with Slack sign-in a new key counts when another person, who is an admin, confirms it', async () => {
  const story = await startSignedStory({ replies: [REFUND, { text: 'Refunded.' }] });
  const stale = await story.browserOf(alice);
  expect((await addKey(story, stale)).answer).toMatchObject({
    status: 403,
    body: { error: 'To add or remove a passkey, sign in again first.' },
  });
  const browser = await story.browserOf(alice, { isFresh: true });
  const { key, answer } = await addKey(story, browser);
  const code = String(answer.body.code);
  await story.directly(alice).shows(/A passkey was added for you: Laptop/);
  await story.directly(admin).shows(/added a passkey: Laptop/);
  const thread = story.ask('refund it');
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /an admin has to confirm it before it counts/);
  const WARNING = 'No approver has a confirmed passkey, so nobody can approve this yet.';
  const card = async () => JSON.stringify((await thread.shows(/Approval needed/)).blocks);
  expect(await card()).toContain(WARNING);

  await command(story, bruno, `passkey confirm <@${alice}> ${code}`);
  await story.noticeFor(bruno, /Only admins can confirm a passkey/);
  await command(story, admin, `passkey confirm <@${alice}> wrong1`);
  await story.noticeFor(admin, /has no new passkey with this code/);
  const own = await story.browserOf(admin, { isFresh: true });
  const { answer: ofAdmin } = await addKey(story, own);
  await command(story, admin, `passkey confirm <@${admin}> ${String(ofAdmin.body.code)}`);
  await story.noticeFor(admin, /You can't confirm your own passkey/);
  await command(story, admin, `passkey confirm <@${alice}> ${code}`);
  await story.noticeFor(admin, /is confirmed/);
  await command(story, alice, 'passkey');
  await story.noticeFor(alice, /Laptop \(code [\w-]+\): Confirmed\n/);
  // The card says of keys what is true now.
  await expect.poll(card).not.toContain(WARNING);
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, { browser, key }, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('only the person has the code of a new key; it is of the public key, whatever id the key has chosen', async () => {
  const story = await startSignedStory();
  const browser = await story.browserOf(alice, { isFresh: true });
  const { key, answer } = await addKey(story, browser);
  const code = String(answer.body.code);
  expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){2}[0-9A-HJKMNP-TV-Z]{4}$/);
  expect(code).not.toContain(key.id.slice(-6));
  await story.directly(alice).shows(new RegExp(code));
  const { text } = await story.directly(admin).shows(/added a passkey: Laptop/);
  expect(text).not.toContain(code);
  // Another key under the same id has another code.
  const twin = new SoftwareKey(story.url, { id: key.id });
  const of = (shown: SoftwareKey) =>
    codeOf({ ...KEY, key: { ...KEY.key, credential: shown.id, jwk: shown.publicJwk } });
  expect(of(key)).toBe(code);
  expect(of(twin)).not.toBe(code);
  // Read aloud, nobody says the hyphens or the case.
  await command(story, admin, `passkey confirm <@${alice}> ${code.replaceAll('-', '').toLowerCase()}`);
  await story.noticeFor(admin, /is confirmed/);
});

test('a key is of one person: another cannot add it, nor another key under its id', async () => {
  const story = await startSignedStory();
  const { key } = await addKey(story, await story.browserOf(alice, { isFresh: true }));
  const browser = await story.browserOf(bruno, { isFresh: true });
  const refused = { status: 409, body: { error: 'This passkey is already in use.' } };
  expect((await addKey(story, browser, key)).answer).toMatchObject(refused);
  const twin = new SoftwareKey(story.url, { id: key.id });
  expect((await addKey(story, browser, twin)).answer).toMatchObject(refused);
  expect((await addKey(story, browser)).answer).toMatchObject({ status: 200 });
});

test('removing a key needs a fresh sign-in', async () => {
  const story = await startSignedStory();
  const { key, browser } = await enrol(story, alice);
  const stale = await story.browserOf(alice);
  const credential = key.id;
  expect(await post(story, stale, 'passkey-remove', { credential })).toMatchObject({
    status: 403,
    body: { error: 'To add or remove a passkey, sign in again first.' },
  });
  expect(await post(story, browser, 'passkey-remove', { credential })).toMatchObject({ status: 200 });
});

test('with the company sign-in a key counts after its time, and the sign-in must be fresh', async () => {
  const story = await startSignedStory({
    signIn: COMPANY,
    replies: [REFUND, { text: 'Refunded.' }],
    page: ', passkey_wait: 8s',
  });
  const browser = await story.browserOf(alice, { isFresh: true });
  const thread = story.ask('refund it');
  await thread.shows(/Approval needed/);
  // The click comes right after the key, while it does not count yet.
  const { key, answer } = await addKey(story, browser);
  await thread.click(alice, /Approval needed/, 'approve');
  expect(answer.body.counts).toBe('Counts from');
  await story.noticeFor(alice, /Yours is new and counts from 20/);
  const counts = async () => {
    const read = await browser.get(`${story.url}/page/api/passkeys`);
    return ((await read.json()) as Passkeys).keys[0]?.counts;
  };
  await expect.poll(counts).toBe('Confirmed');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, { browser, key }, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
  // A sign-in of yesterday is not fresh, whatever the browser asks for.
  story.provider.lies = { claims: { auth_time: 1_700_000_000 } };
  await expect(story.browserOf(alice, { isFresh: true })).rejects.toThrow(/not signed in|not valid/);
});

test('a quorum of two takes two keys', async () => {
  const story = await startSignedStory({
    replies: [
      { calls: [{ name: 'delete_customer', arguments: { customer: 'Hooper Ltd' } }] },
      { text: 'Deleted.' },
    ],
  });
  const [ann, ben] = [
    await enrol(story, alice),
    await enrol(story, bruno, new SoftwareKey(story.url, { counter: 5 })),
  ];
  const thread = story.ask('delete it');
  await thread.shows(/Approval needed/);
  const first = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, ann, first)).toMatchObject({ status: 200 });
  await thread.shows(/1 of 2/);
  // Ann's key does not sign for Ben, and Ann's vote counts once.
  const second = await linkFor(story, bruno, () => thread.click(bruno, /Approval needed/, 'approve'));
  expect(await approve(story, { browser: ben.browser, key: ann.key }, second)).toMatchObject({
    status: 409,
    body: { error: 'This passkey is not among yours. Nothing was approved.' },
  });
  expect(
    await post(story, ann.browser, `approve/${first}`, { terms: {}, ...ann.key.sign('') }),
  ).toMatchObject({
    status: 409,
    body: { error: expect.stringContaining('This link has expired or was already used.') },
  });
  expect(await approve(story, ben, second)).toMatchObject({ status: 200 });
  await thread.shows(/Deleted\./);
});

test('a link ends after ten minutes, and the script takes no vote without a proof', async () => {
  const story = await startSignedStory({ replies: [REFUND] });
  const ann = await enrol(story, alice);
  const thread = story.ask('refund it');
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  const key = `${story.prefix}`;
  const [document = ''] = (await story.redis.keys(`*${key}*`)).filter((name) => name.endsWith(nonce));
  expect(await story.redis.pttl(document)).toBeGreaterThan(590_000);
  const { terms, challenge } = await readApproval(story, ann.browser, nonce);
  await story.redis.pexpire(document, 1);
  await expect.poll(() => story.redis.exists(document)).toBe(0);
  expect(
    (await post(story, ann.browser, `approve/${nonce}`, { terms, ...ann.key.sign(challenge) })).body.error,
  ).toContain('This link has expired or was already used. Click Approve in Slack again.');
  const { store } = story.bot.context;
  const vote = {
    who: alice,
    eligible: true,
    evidence: {},
    decision: 'approve',
    shown: String(terms.digest),
  } as const;
  expect(await store.vote(String(terms.request), vote)).toEqual({ outcome: 'not-proven' });
});

test('"confirm: passkey" without a page is refused, in words, at its place', () => {
  const parsed = parseManifest(SIGNED, { file: 'story.yml', environment: {} });
  const messages = parsed.ok ? [] : parsed.problems.map(({ message }) => message);
  expect(messages).toEqual(
    Array(2).fill('people sign with a passkey on the page, and there is none; add "page" and set PUBLIC_URL'),
  );
});
