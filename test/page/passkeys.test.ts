import { expect, test } from 'vitest';
import type { Passkeys } from '../../src/page/protocol.ts';
import { CAST } from '../stories/support.ts';
import {
  addKey,
  approve,
  command,
  enrol,
  linkFor,
  post,
  REFUND,
  readApproval,
  startSignedStory,
} from './signing.ts';
import { SoftwareKey } from './software-key.ts';
import { COMPANY } from './support.ts';

const { alice, bruno, admin, requester } = CAST;

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
  await thread.shows(/No approver has a passkey that counts, and this needs 1 approval/);
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /you have none yet\. To get one, type \/countersign passkey/);
  await thread.click(requester, /Approval needed/, 'approve');
  await story.noticeFor(requester, /You're not an approver for this request/);
  await thread.click(alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { reason: { reason: 'no' } });
  await thread.shows(/I did not\./);
});

test('a new key counts when an admin confirms it, or with the company sign-in after its time', async () => {
  const story = await startSignedStory({ replies: [REFUND, { text: 'Refunded.' }] });
  const stale = await story.browserOf(alice);
  expect((await addKey(story, stale)).answer).toMatchObject({
    status: 403,
    body: { error: 'To add a passkey, sign in again first.' },
  });
  const browser = await story.browserOf(alice, { isFresh: true });
  const { key, answer } = await addKey(story, browser);
  const code = String(answer.body.code);
  await story.directly(alice).shows(/A passkey was added for you: Laptop/);
  await story.directly(admin).shows(/added a passkey: Laptop/);
  const thread = story.ask('refund it');
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /an admin has to confirm it before it counts/);

  await command(story, bruno, `passkey confirm <@${alice}> ${code}`);
  await story.noticeFor(bruno, /Only admins can confirm a passkey/);
  await command(story, admin, `passkey confirm <@${alice}> wrong1`);
  await story.noticeFor(admin, /has no new passkey with this code/);
  const own = await story.browserOf(admin, { isFresh: true });
  const { answer: ofAdmin } = await addKey(story, own);
  await command(story, admin, `passkey confirm <@${admin}> ${String(ofAdmin.body.code)}`);
  await story.noticeFor(admin, /You can't confirm your own passkey/);
  await command(story, admin, `passkey confirm <@${alice}> ${code}`);
  await story.noticeFor(admin, /counts now/);
  await command(story, alice, 'passkey');
  await story.noticeFor(alice, /Laptop \(code \w+\): counts\n/);
  const nonce = await linkFor(story, alice, () => thread.click(alice, /Approval needed/, 'approve'));
  expect(await approve(story, { browser, key }, nonce)).toMatchObject({ status: 200 });
  await thread.shows(/Refunded\./);
});

test('with the company sign-in a key counts after its time, and the sign-in must be fresh', async () => {
  const story = await startSignedStory({
    signIn: COMPANY,
    replies: [REFUND, { text: 'Refunded.' }],
    page: ', passkey_wait: 2s',
  });
  const browser = await story.browserOf(alice, { isFresh: true });
  const { key, answer } = await addKey(story, browser);
  expect(answer.body.counts).toMatch(/^counts from 20/);
  const thread = story.ask('refund it');
  await thread.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /Yours is new and counts from 20/);
  const counts = async () => {
    const read = await browser.get(`${story.url}/page/api/passkeys`);
    return ((await read.json()) as Passkeys).keys[0]?.counts;
  };
  await expect.poll(counts, { timeout: 10_000 }).toBe('counts');
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
    body: { error: expect.stringContaining('This link was used, or it is over.') },
  });
  expect(await approve(story, ben, second)).toMatchObject({ status: 200 });
  await thread.shows(/Deleted\./);
});
