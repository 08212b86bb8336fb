import { expect, test } from 'vitest';
import { CAST, type Story, startStory } from './support.ts';

const { alice, bruno, requester: remi } = CAST;
const COMMAND = '/countersign';
const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${bruno}], limits: { pending_per_thread: 50, pending_per_person: 50 } }
policies:
  default: { approvers: [${alice}, ${bruno}], expires: 4h }
  later: { approvers: [${alice}, ${bruno}], expires: 9h, notify: { direct_messages: false } }
  risky: { approvers: [${alice}, ${bruno}], expires: 2d, risk: high, notify: { direct_messages: false } }
  urgent: { approvers: [${alice}], expires: 4h, escalate: { after: 8s, to: [${bruno}] }, notify: { direct_messages: false } }
tools:
  delete_customer: { module: ./examples/shop/tools/delete-customer.ts, title: 'Delete {{input.customer}}', approval: { policy: default } }
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    title: 'Refund {{input.orderId}} {{input.amount}} {{input.reason}}'
    approval: [{ policy: risky, when: "input.amount > 20000" }, { policy: urgent, when: "input.amount == 7" }, { policy: later }]
`;
const slack = { app: { commands: [COMMAND] } };
const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });

const homeText = (story: Story, who: string) => JSON.stringify(story.workspace.homeOf(who)?.blocks ?? []);
const shown = (story: Story, who: string, words: RegExp) =>
  story.workspace.until(() => words.exec(homeText(story, who)) ?? undefined, { what: `${words} in Home` });

test('with 31 waiting and a freeze on all their cards, an approval changes its card, and the Homes of two people, at the limits of Slack', async () => {
  const calls = Array.from({ length: 31 }, (_, index) => ({
    name: 'delete_customer',
    arguments: { customer: `customer ${index + 1}` },
  }));
  const story = await startStory({ manifest, slack, replies: [{ calls: [...calls, refund(100)] }] });
  const thread = story.ask('delete them all');
  const pending = (channel: string) =>
    story.workspace.messagesIn(channel, channel === thread.channel ? thread.ts : undefined);
  await story.workspace.until(
    () =>
      [thread.channel, story.workspace.directMessages(alice), story.workspace.directMessages(bruno)].every(
        (channel) => pending(channel).filter(({ text }) => text.startsWith('Approval needed')).length >= 31,
      ),
    { what: 'all cards' },
  );
  for (const who of [alice, bruno]) {
    story.workspace.as(who).openHome();
    await shown(story, who, /Waiting for you \(32\)/);
  }

  story.workspace.keepLimits();
  const before = story.workspace.calls.length;
  const since = (method: string) =>
    story.workspace.calls.slice(before).filter((call) => call.method === method);
  await story.workspace.as(bruno).command(COMMAND, 'freeze delete_customer for today');
  await story.workspace.until(() => since('chat.update').length >= 12, { what: 'the share of the freeze' });

  const clickedAt = Date.now();
  await thread.click(alice, /Approval needed: Refund/, 'approve');
  await thread.shows(/(Approved|Running|Done): Refund/);
  // The card that was clicked does not wait for the others.
  const updates = since('chat.update').filter(({ at }) => at >= clickedAt);
  const place = updates.findIndex(({ arguments: given }) =>
    /(Approved|Running|Done): Refund/.test(JSON.stringify(given)),
  );
  expect(place).toBeGreaterThanOrEqual(0);
  expect(place).toBeLessThan(3);
  for (const who of [alice, bruno]) await shown(story, who, /Waiting for you \(31\)/);
  const published = since('views.publish').filter(({ arguments: given }) =>
    JSON.stringify(given).includes('Waiting for you (31)'),
  );
  expect(new Set(published.map(({ arguments: given }) => given.user_id))).toEqual(new Set([alice, bruno]));
  expect(since('chat.update').filter(({ status }) => status === 429)).toEqual([]);
});

test('with a freeze on many cards, the card of an escalated request names its new approver before the rest of them changes', async () => {
  const calls = Array.from({ length: 31 }, (_, index) => ({
    name: 'delete_customer',
    arguments: { customer: `customer ${index + 1}` },
  }));
  const story = await startStory({ manifest, slack, replies: [{ calls: [refund(7), ...calls] }] });
  const thread = story.ask('delete them all');
  await story.workspace.until(
    () =>
      story.workspace
        .messagesIn(thread.channel, thread.ts)
        .filter(({ text }) => text.startsWith('Approval needed')).length >= 32,
    { what: 'all cards' },
  );
  const before = story.workspace.calls.length;
  const updates = () =>
    story.workspace.calls
      .slice(before)
      .filter(({ method }) => method === 'chat.update')
      .map(({ arguments: given }) => JSON.stringify(given));
  await story.workspace.as(bruno).command(COMMAND, 'freeze delete_customer for today');
  await story.workspace.until(() => updates().length >= 12, { what: 'the share of the freeze' });
  const escalated = (text: string) => text.includes('Refund A-1001 7') && text.includes(bruno);
  expect(updates().filter(escalated)).toEqual([]);
  const place = await story.workspace.until(
    () => {
      const at = updates().findIndex(escalated);
      return at === -1 ? undefined : at;
    },
    { what: 'the new approver on the card' },
  );
  expect(place).toBeLessThan(15);
});

test('while Slack refuses updates, a clicked card changes as the response to the click, and who decided elsewhere reads that it is recorded', async () => {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(100), refund(200)] }, { text: 'Settled.' }],
  });
  const thread = story.ask('refund both');
  await thread.shows(/Approval needed: Refund .*100/);
  await thread.shows(/Approval needed: Refund .*200/);
  await story.deliveredAll();
  story.workspace.rateLimit('chat.update', { calls: 99, retryAfterSeconds: 60 });
  await thread.click(alice, /Approval needed: Refund .*100/, 'approve');
  await thread.shows(/Done: Refund .*100/);
  await thread.click(alice, /Approval needed: Refund .*200/, 'reject');
  const reason = await story.modalFor(alice, /You're about to reject/);
  await story.workspace.as(alice).submit(reason.id, { reason: 'Not now.' });
  await story
    .directly(alice)
    .shows(/^Recorded: you rejected "Refund .*200.*"\. The card will show it in a moment\./);
});

test('Home lists what waits by risk and by expiry, says who asked, where and how long, and approves what one click approves', async () => {
  const story = await startStory({
    manifest,
    slack,
    replies: [
      {
        calls: [
          refund(100),
          { name: 'delete_customer', arguments: { customer: 'Ines Marr' } },
          refund(30_000),
        ],
      },
    ],
  });
  const thread = story.ask('clean up');
  await thread.shows(/Approval needed: Refund .*30000/);
  await story.deliveredAll();
  story.workspace.as(alice).openHome();
  await shown(story, alice, /Waiting for you \(3\).*30000.*Ines Marr.*A-1001.{0,40}100/);
  const text = homeText(story, alice);
  expect(text).toMatch(/As of <!date/);
  expect(text).toMatch(/🔴 [\s\S]{0,600}High risk.{0,300}expires in (?:2 days|47 h 59 min)/);
  expect(text).toContain(`<@${remi}>`);
  expect(text).toContain(`<#${thread.channel}>`);
  expect(text).toMatch(/expires in (?:4 h|3 h 59 min)/);
  const approvable = [...text.matchAll(/"action_id":"(approve[^"]*)"/g)].map(([, id]) => id);
  // The deletion has a preview, which only its card and Details show.
  expect(approvable).toEqual(['approve']);

  const home = story.workspace.homeOf(alice);
  await story.workspace.as(alice).click({ viewId: home?.id ?? '' }, 'approve');
  await shown(story, alice, /Waiting for you \(2\)/);
  await thread.shows(/Done: Refund A-1001 100/);

  // Somebody else decides, and Home follows by itself.
  await thread.click(bruno, /Approval needed: Delete/, 'approve');
  await shown(story, alice, /Waiting for you \(1\)/);
  story.workspace.as(remi).openHome();
  await shown(story, remi, /Requested by you/);
  await story.workspace.as(alice).click({ viewId: home?.id ?? '' }, 'home-refresh');
});
