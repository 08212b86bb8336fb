import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DEFAULT_CHANNELS } from '../../playground/slack/default-cast.ts';
import { startAccountStory } from '../stories/accounts/support.ts';
import { ask, askingManifest } from '../stories/asking-servers.ts';
import { CAST, heardByModel, MANIFEST, PLACES, startStory } from '../stories/support.ts';
import { startGallery } from './gallery.ts';

const { alice, admin, bruno, requester: remi } = CAST;
const slack = { app: { commands: ['/countersign'] } };
const SWEEP = { everyMs: 100, overdueMs: 0 };
const openGallery = startGallery();

const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'The lid is broken' } }],
});

type Story = Awaited<ReturnType<typeof startStory>>;
const cardOf = (story: Story, { channel, ts }: { channel: string; ts: string }, words: RegExp) =>
  story.threadIn(channel, ts).shows(words);

test('undo: offered, requested and done', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'house-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'doors');
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies: { default: { approvers: [${alice}, ${bruno}], notify: { direct_messages: true } } }
tools: { house: { module: ./test/stories/fixtures/undo-tools.ts } }
`,
    replies: [
      { calls: [{ name: 'lock_door', arguments: { file, door: 'front' } }] },
      { text: 'I locked the front door.' },
      { text: 'The front door is open again.' },
    ],
  });
  const { look } = await openGallery(story);
  const thread = story.ask('lock the front door');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/I locked the front door\./);
  await look('undo-offered', { as: 'remi', at: thread, shows: 'Undo until' });
  await thread.click(remi, /Undo until/, 'undo');
  await thread.shows(/Undo requested by[\s\S]*View the request/);
  await look('undo-requested', { as: 'alice', at: thread, shows: 'View the request' });
  await look('undo-requested-direct', {
    as: 'alice',
    at: story.workspace.directMessages(alice),
    shows: 'Open the thread',
  });
  await thread.click(alice, /Approval needed: Unlock/, 'approve');
  await thread.shows(/Undone: Lock/);
  await look('undo-done', { as: 'remi', at: thread, shows: '⏪' });
  await look('undo-home', { as: 'remi', at: 'home', shows: 'Recent' });
});

test('grants: the dialog, the card, a use, the list and a revocation', async () => {
  const story = await startStory({
    slack,
    manifest: MANIFEST.replace('  default: {', '  default: { grants: { for: 2h, uses: 2 },').replace(
      'approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }]',
      'approval: { policy: default }',
    ),
    replies: [refund(400), { text: 'Refunded.' }, refund(400), { text: 'Refunded again.' }],
  });
  const { look } = await openGallery(story);
  const thread = story.ask('refund 4 dollars');
  const card = await cardOf(story, thread, /Approval needed/);
  await look('grant-pending', { as: 'alice', at: thread, shows: /If rejected, nothing runs/ });
  await story.workspace.as(alice).choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  const modal = await story.modalFor(alice, /without asking anyone/);
  await look('grant-dialog', { as: 'alice', at: thread, shows: /without asking anyone/ });
  await story.workspace.as(alice).submit(modal.id, {});
  await thread.shows(/Refunded\./);
  await look('grant-given', { as: 'alice', at: thread, shows: /Also pre-approved/ });
  story.ask('refund 4 dollars more', { threadTs: thread.ts });
  await thread.shows(/Refunded again\./);
  await look('grant-used', { as: 'alice', at: thread, shows: 'Refunded again.' });
  await look('grant-home', { as: 'alice', at: 'home', shows: 'End pre-approval' });
  await story.workspace.as(alice).command('/countersign', 'grants', { channel: PLACES.general });
  await story.noticeFor(alice, /./);
  await look('grant-list', { as: 'alice', at: PLACES.general, shows: 'End pre-approval' });
  await story.workspace.as(alice).click({ channel: thread.channel, ts: card.ts }, 'revoke-grant');
  await look('grant-revoked', { as: 'alice', at: thread, shows: /Pre-approval ended/ });
});

test('freezes: the card, the answer of the command, and the end by two people', async () => {
  const rule = `agent: { admins: [${admin}], unfreeze: { approvers: [${alice}, ${bruno}], quorum: 2 },`;
  const story = await startStory({
    slack,
    sweep: SWEEP,
    manifest: MANIFEST.replace('agent: {', rule),
    replies: [refund(20_000), refund(500), { text: 'Refunds are frozen right now.' }, { text: 'Refunded.' }],
  });
  const { look } = await openGallery(story);
  const large = story.ask('refund 200 dollars');
  await large.shows(/Approval needed/);
  await story.workspace.as(admin).command('/countersign', 'freeze all Refunds look wrong today', {
    channel: PLACES.general,
  });
  await story.noticeFor(admin, /Frozen/);
  await large.shows(/frozen/i);
  await look('freeze-answer', { as: 'ada', at: PLACES.general, shows: /Frozen: all actions/ });
  await look('freeze-card', { as: 'alice', at: large, shows: /Refunds look wrong today/ });
  const small = story.ask('refund 5 dollars');
  await small.shows(/Refunds are frozen right now\./);
  await look('freeze-denied', { as: 'remi', at: small, shows: 'Refunds are frozen right now.' });
  await large.click(alice, /Approval needed/, 'approve');
  await large.shows(/Approved/);
  await look('freeze-held', { as: 'alice', at: large, shows: /pproved by/ });
  await look('freeze-home', { as: 'alice', at: 'home', shows: /frozen/i });
  await story.workspace.as(alice).command('/countersign', 'unfreeze', { channel: PLACES.general });
  await story.noticeFor(alice, /1 of 2/);
  await look('unfreeze-first', { as: 'alice', at: PLACES.general, shows: /1 of 2/ });
  await story.workspace.as(bruno).command('/countersign', 'unfreeze', { channel: PLACES.general });
  await large.shows(/Refunded\./);
  await look('unfreeze-done', { as: 'bruno', at: PLACES.general, shows: /[Uu]nfrozen/ });
});

test('limits: denied, and escalated to a policy', async () => {
  const limits = (rest: string) =>
    `${MANIFEST}limits:\n  refund_order: { sum: input.amount, per: requester, window: 1d, max: 9000${rest} }\n`;
  const story = await startStory({
    manifest: limits(''),
    replies: [refund(9_500), { text: "I couldn't refund it." }],
  });
  const { look } = await openGallery(story);
  const thread = story.ask('refund 95 dollars');
  await thread.shows(/couldn't refund it/);
  await look('limit-denied', { as: 'remi', at: thread, shows: /the limit of/ });
  const other = await startStory({
    manifest: limits(', policy: two'),
    replies: [refund(9_500)],
  });
  const { look: lookOther } = await openGallery(other);
  const asked = other.ask('refund 95 dollars');
  await asked.shows(/Approval needed/);
  await lookOther('limit-escalated', { as: 'alice', at: asked, shows: /it exceeds a limit/ });
});

test('elicitation: a form, its dialog, declined, and a link', async () => {
  const { manifest } = askingManifest('current', {
    rule: '{ policy: default, match: book_table }, { require: never, match: "*" }',
  });
  const story = await startStory({
    manifest,
    replies: [ask('book_table'), { text: 'Not then.' }, ask('sign_in')],
  });
  const { look } = await openGallery(story);
  const thread = story.ask('book a table');
  await thread.shows(/Approval needed/);
  await look('elicitation-approval', { as: 'alice', at: thread, shows: /If rejected, nothing runs/ });
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Input needed/);
  await look('elicitation-form', { as: 'remi', at: thread, shows: /The MCP server bookings asks/ });
  await thread.click(remi, /Input needed/, 'fill-in');
  await story.modalFor(remi);
  await look('elicitation-dialog', {
    ...{ as: 'remi', at: thread, shows: 'Submit' },
    after: async ({ page }) => page.keyboard.press('Escape'),
  });
  await thread.click(remi, /Input needed/, 'decline');
  await thread.shows(/Not then\./);
  await look('elicitation-declined', { as: 'remi', at: thread, shows: /Declined by/ });
  const link = story.ask('sign in for me');
  await link.shows(/Please sign in/);
  await look('elicitation-link', { as: 'remi', at: link, shows: /Please sign in/ });
  await link.click(remi, /Please sign in/, 'fill-in');
  await story.modalFor(remi);
  await look('elicitation-link-dialog', { as: 'remi', at: link, shows: 'Open link' });
});

test('feedback, and files with their hashes', async () => {
  const story = await startStory({
    manifest: MANIFEST.replace(
      'agent: { instructions: Help. }',
      `agent: { instructions: Help., feedback: true, admins: [${admin}] }`,
    ),
    replies: [{ text: 'They go to finance first.' }, refund(12_000), { text: 'Refunded.' }],
  });
  const { look } = await openGallery(story);
  const asked = story.ask('where do refunds over 100 dollars go?');
  await asked.shows(/They go to finance first\./);
  await look('feedback', { as: 'remi', at: asked, shows: 'They go to finance first.' });
  const mention = `<@${story.workspace.state.app.botUserId}>`;
  const { ts } = story.workspace.as(remi).send(PLACES.general, `${mention} refund what this claim says`, {
    files: [{ name: 'claim.txt', bytes: Buffer.from('Order A-1001, 120 dollars, the lid is broken') }],
  });
  const thread = story.threadIn(PLACES.general, ts);
  await thread.click(alice, /Approval needed/, 'details');
  await story.modalFor(alice, /claim\.txt/);
  await look('files-details', { as: 'alice', at: thread, shows: /claim\.txt/ });
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(story.repliesIn(thread).length).toBeGreaterThan(1);
});

test('an account: the card, the dialog, the action under it, and Home', async () => {
  const account = await startAccountStory({
    replies: [{ calls: [{ name: 'whoami', arguments: {} }] }, { text: 'You are remi.' }],
  });
  await account.startBot();
  const { look } = await openGallery(account);
  const thread = account.ask('who am I at docs?');
  await thread.shows(/Connect your account/);
  await look('account-connect', { as: 'remi', at: thread, shows: /Connect your account/ });
  await account.openModal(thread);
  await look('account-dialog', {
    ...{ as: 'remi', at: thread, shows: 'Code from the page' },
    after: async ({ page }) => page.keyboard.press('Escape'),
  });
  await account.connect(thread, 'remi');
  await thread.shows(/Approval needed/);
  await look('account-approval', { as: 'alice', at: thread, shows: /If rejected, nothing runs/ });
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/You are remi\./);
  await look('account-connected', { as: 'remi', at: thread, shows: /You are remi\./ });
  await look('account-home', { as: 'remi', at: 'home', shows: /Disconnect/ });
});

test('the steps of a long turn', async () => {
  const story = await startStory({
    manifest: MANIFEST.replace('agent: {', 'agent: { feedback: true,'),
    replies: [
      {
        text: 'Let me look. ',
        calls: [{ name: 'read_order', arguments: { orderId: 'A-1001' } }],
        delayMs: 4_500,
      },
      { text: ['Order A-1001 ', 'is on its way. '], before: (chunk) => (chunk === 2 ? shown() : undefined) },
    ],
  });
  const { look } = await openGallery(story);
  const thread = story.ask('where is order A-1001?');
  const shown = async () => {
    await thread.shows(/Order A-1001/);
    await look('plan-running', { as: 'remi', at: thread, shows: /Order A-1001/ });
  };
  await thread.shows(/is on its way/);
  await story.deliveredAll();
  await look('plan-done', { as: 'remi', at: thread, shows: /is on its way/ });
});

test('the page: a shortcut on a message, a group of people, and a file that is attached', async () => {
  const group = { id: 'C0GROUPDM1', name: 'mpdm-remi-alice-bot', kind: 'mpim' as const };
  const story = await startStory({
    slack: {
      app: { shortcuts: ['ask_about_message'] },
      channels: [...DEFAULT_CHANNELS, { ...group, members: ['bot', remi, alice] }],
    },
    replies: [{ text: 'It is on its way.' }, { text: 'The claim is about the lid.' }],
  });
  const { open } = await openGallery(story);
  const complaint = story.workspace.as(alice).send(PLACES.general, 'Order A-1001 is late.');
  const person = await open('remi', PLACES.general);
  const message = person.messages.getByRole('listitem').filter({ hasText: 'is late' });
  await message.hover();
  await message.getByRole('button', { name: 'Ask Countersign about this' }).click();
  await person.dialog.getByRole('textbox').fill('where is it?');
  await person.click(person.dialog, 'Ask');
  await story.threadIn(PLACES.general, complaint.ts).shows(/It is on its way\./);

  const link = person.conversationLink(/Alice Moreau/);
  expect(await link.textContent()).not.toContain('mpdm');
  await link.click();
  await person.page.getByLabel('Attach files').setInputFiles({
    ...{ name: 'claim.txt', mimeType: 'text/plain' },
    buffer: Buffer.from('The lid is broken'),
  });
  await person.page.getByRole('list', { name: 'Files to send' }).getByText('claim.txt').waitFor();
  await person.ask('what is this claim about?');
  const sent = await story.workspace.until(
    () => story.workspace.messagesIn(group.id).find(({ files = [] }) => files.length === 1),
    { what: 'the message with its file' },
  );
  await story.threadIn(group.id, sent.ts).shows(/The claim is about the lid\./);
  expect(heardByModel(story.model).join()).toContain('> The lid is broken');
  await person.page.context().close();
});
