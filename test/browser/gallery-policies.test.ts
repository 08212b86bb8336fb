import { expect, test } from 'vitest';
import { manifest as governed, startGoverned } from '../stories/governed.ts';
import { CAST, MANIFEST, PLACES, SHIPPED_APP, startStory } from '../stories/support.ts';
import { startGallery } from './gallery.ts';

const { alice, admin, bruno, requester: remi } = CAST;
const slack = { app: SHIPPED_APP };
const SWEEP = { everyMs: 100, overdueMs: 0 };
const openGallery = startGallery();

const refund = (orderId: string) => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount: 12_000, reason: 'The lid is broken' } }],
});
const question = {
  calls: [
    {
      name: 'ask_question',
      arguments: { question: 'Which order do you mean?', choices: ['A-1001', 'A-1002'] },
    },
  ],
};
const manifest = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${admin}] }
policies:
  default: { approvers: [${alice}, ${bruno}], ${policy} }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}"
    approval: { policy: default }
`;

test('delegation: the answer, the notice, the card, both names, the list and Home', async () => {
  const story = await startStory({
    slack,
    manifest: manifest('quorum: 1, delegation: true').replace(`, ${bruno}]`, ']'),
    replies: [refund('A-1001'), { text: 'Refunded.' }],
  });
  const { look } = await openGallery(story);
  story.workspace.as(alice).setStatus('On vacation');
  await story.workspace.as(alice).command('/countersign', `delegate <@${bruno}> for 3 days holidays`, {
    channel: PLACES.general,
  });
  await look('delegation-answer', {
    as: 'alice',
    at: PLACES.general,
    shows: /can approve and reject for you/,
  });
  const dm = story.workspace.directMessages(bruno);
  await story.directly(bruno).shows(/Delegated to you until/);
  await look('delegation-notice', { as: 'bruno', at: dm, shows: /Delegated to you until/ });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await story.directly(bruno).shows(/Sent to you because you decide for/);
  await look('delegation-card', { as: 'bruno', at: thread, shows: /status: On vacation/ });
  await look('delegation-direct', { as: 'bruno', at: dm, shows: /Sent to you because you decide for/ });
  await look('delegation-home', { as: 'bruno', at: 'home', shows: 'Delegations' });
  await story.workspace.as(bruno).command('/countersign', 'delegations', { channel: PLACES.general });
  await look('delegation-list', { as: 'bruno', at: PLACES.general, shows: /You decide for/ });
  await thread.click(bruno, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  await look('delegation-approved', { as: 'remi', at: thread, shows: /pproved by/ });
});

test('digest: the message, Details from it, Home, and nothing left', async () => {
  const orders = ['A-1001', 'A-1002', 'A-1003', 'A-1004'];
  const story = await startStory({
    slack,
    manifest: manifest('notify: { load: { summary: { after: 1, within: 10m } } }'),
    replies: [...orders.map(refund), { text: 'Refunded.' }, { text: 'Refunded.' }, { text: 'Refunded.' }],
  });
  const { look } = await openGallery(story);
  const threads = [];
  for (const order of orders) {
    const thread = story.ask(`refund order ${order}`);
    await thread.shows(/Approval needed/);
    threads.push(thread);
  }
  const digest = await story.directly(alice).shows(/3 requests in this list wait for you/);
  const dm = story.workspace.directMessages(alice);
  await look('digest', { as: 'alice', at: dm, shows: /3 requests in this list wait for you/ });
  await look('digest-home', { as: 'alice', at: 'home', shows: 'Waiting for you' });
  const [value = ''] = /C0GENERAL1:[\d.]+~\w+/.exec(JSON.stringify(digest.blocks)) ?? [];
  await story.workspace.as(alice).click({ channel: dm, ts: digest.ts }, 'home-open', { value });
  await story.modalFor(alice, /A-1002/);
  await look('digest-details', {
    ...{ as: 'alice', at: dm, shows: /If rejected, nothing runs/ },
    after: async ({ page }) => page.keyboard.press('Escape'),
  });
  for (const thread of threads.slice(1)) await thread.click(alice, /Approval needed/, 'approve');
  await story.directly(alice).shows(/Nothing left on this list/);
  await look('digest-nothing-left', { as: 'alice', at: dm, shows: /Nothing left on this list/ });
});

test('quiet hours: the card says when approvers are told', async () => {
  const hour = (from: number) => new Date(Date.now() + 3_600_000 * from).toISOString().slice(11, 16);
  const story = await startStory({
    slack,
    manifest: manifest(`notify: { quiet_hours: { from: "${hour(-2)}", to: "${hour(2)}", time_zone: UTC } }`),
    replies: [refund('A-1001')],
  });
  const { look } = await openGallery(story);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await look('quiet-hours-card', { as: 'remi', at: thread, shows: /Quiet hours/ });
});

test('load: nobody approves more than so many, and who has enough is not asked', async () => {
  const story = await startStory({
    sweep: SWEEP,
    manifest: manifest(
      `notify: { load: { waiting: 1, approvals_per_hour: 1 } }, escalate: { after: 20h, to: [${admin}] }`,
    ).replace(`, ${bruno}]`, ']'),
    replies: [refund('A-1001'), refund('A-1002'), { text: 'Refunded.' }],
  });
  const { look } = await openGallery(story);
  const first = story.ask('refund order A-1001', { as: bruno });
  await story.directly(alice).shows(/Approval needed/);
  const second = story.ask('refund order A-1002');
  await second.shows(/Escalated right away/);
  await look('load-escalated', { as: 'remi', at: second, shows: /Escalated right away/ });
  await first.click(alice, /Approval needed/, 'approve');
  await first.shows(/Refunded\./);
  await second.click(alice, /Approval needed/, 'approve');
  await story.noticeFor(alice, /You've approved 1 request in the last hour/);
  await look('load-most-per-hour', { as: 'alice', at: second, shows: /in the last hour/ });
  await look('load-home', { as: 'ada', at: 'home', shows: 'Waiting for you' });
});

test('a change of the policies: its card, and approved', async () => {
  const story = await startGoverned();
  const { look } = await openGallery(story);
  const bot = await story.start(governed(2));
  bot.write(governed(1));
  await story.card();
  await look('policy-change', { as: 'alice', at: PLACES.general, shows: /Changes/ });
  await story.click(alice, 'approve');
  await expect.poll(bot.quorum).toBe(1);
  await look('policy-change-approved', { as: 'alice', at: PLACES.general, shows: /pproved by/ });
  await look('policy-change-home', { as: 'alice', at: 'home', shows: 'Recent' });
});

test('ends without an answer: an expired and a withdrawn question, and an expired request', async () => {
  const story = await startStory({
    sweep: SWEEP,
    manifest: MANIFEST.replace('default: {', 'default: { expires: 3s,'),
    replies: [
      question,
      { text: 'Ask again when you know.' },
      question,
      refund('A-1001'),
      { text: 'It expired.' },
    ],
  });
  const { look } = await openGallery(story);
  const expired = story.ask('refund my order');
  await expired.shows(/Which order do you mean/);
  // A question waits for a day; this one's day is over.
  const [key = ''] = await story.redis.keys(`{${story.prefix}}:ask:*`);
  const [, id = ''] = /:ask:(.*)$/.exec(key) ?? [];
  await story.redis.hset(key, 'expires', Date.now() - 1_000);
  await story.redis.zadd(`{${story.prefix}}:timers`, 0, `expire|${id}`);
  await expired.shows(/expired [\s\S]* with no answer[\s\S]*Ask again/);
  await expired.shows(/Ask again when you know/);
  await look('question-expired', { as: 'remi', at: expired, shows: /Ask again when you know/ });
  const withdrawn = story.ask('refund my other order');
  await withdrawn.shows(/Which order do you mean/);
  story.workspace.as(remi).send(withdrawn.channel, 'stop', { threadTs: withdrawn.ts });
  await withdrawn.shows(/^Stopped\. Withdrawn: Which order do you mean\?/);
  await look('question-withdrawn', {
    as: 'remi',
    at: withdrawn,
    shows: /Withdrawn: Which order do you mean\? Nothing/,
  });
  const request = story.ask('refund order A-1001');
  await request.shows(/It expired\./);
  await look('request-expired', { as: 'remi', at: request, shows: /It expired\./ });
  await look('ended-home', { as: 'remi', at: 'home', shows: 'Recent' });
});
