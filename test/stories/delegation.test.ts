import { describe, expect, inject, test } from 'vitest';
import { APPROVERS_GROUP, DEFAULT_USER_GROUPS, DEFAULT_USERS } from '../../playground/slack/default-cast.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { run } from '../commands/support.ts';
import { CAST, PLACES, type Story, startStory } from './support.ts';

const { alice, bruno, admin, guest, outsider, requester } = CAST;
const DORA = 'U0DORA0007';
const EVAN = 'U0EVAN0008';
const PEOPLE = [
  ...DEFAULT_USERS,
  { id: DORA, name: 'dora', real_name: 'Dora Delegate' },
  { id: EVAN, name: 'evan', real_name: 'Evan Else' },
];
const CHANNEL = {
  id: PLACES.general,
  name: 'general',
  members: ['bot', requester, alice, bruno, admin, DORA, EVAN],
};
const slack = { users: PEOPLE, channels: [CHANNEL] };

const refund = {
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000, reason: '' } }],
};
const manifestWith = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., admins: [${admin}] }
policies:
  default: { ${policy} }
tools:
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: { policy: default } }
`;
const ONE = manifestWith(`approvers: [${alice}], delegation: true`);
const TWO = manifestWith(`approvers: [${alice}, ${bruno}], quorum: 2, delegation: true`);

const command = (story: Story, who: string, text: string) =>
  story.workspace.as(who).command('/countersign', text, { channel: PLACES.general });
const shown = (story: Story, who: string, words: RegExp) =>
  story.workspace.until(
    () =>
      story.workspace
        .ephemeralsFor(who)
        .find(({ blocks, text }) => words.test(`${text} ${JSON.stringify(blocks)}`)),
    { what: `${words} for ${who}` },
  );
async function delegate(story: Story, from: string, to: string, time = 'until Friday'): Promise<void> {
  await command(story, from, `delegate <@${to}> ${time}`);
  await shown(story, from, new RegExp(`"Until "[\\s\\S]*${to}[\\s\\S]*can approve and reject for you`));
}
const refunded = async (story: Story) => (await story.ledger.order('A-1001'))?.refunded;
async function rowsOf({ redis, prefix }: Story): Promise<string[]> {
  const rows: string[] = [];
  for await (const { event, detail } of openRedisStore({ client: redis, prefix }).exportAudit())
    rows.push(`${event} ${detail}`);
  return rows;
}

test('an approver who is away lets somebody else decide: they get the card, approve in her place, and card and audit name both', async () => {
  const story = await startStory({ manifest: ONE, slack, replies: [refund, { text: 'Refunded.' }] });
  const thread = story.ask('refund order A-1001');
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /You're not an approver/);

  await command(story, alice, `delegate <@${DORA}> until Friday holidays`);
  await shown(
    story,
    alice,
    /can approve and reject for you, where the policy of a request allows it\. Reason: holidays\./,
  );
  await story
    .directly(DORA)
    .shows(
      /Delegated to you until [\s\S]*Reason: holidays\.[\s\S]*you can approve and reject for [\s\S]*U0ALICE002/,
    );
  // What waits already is sent to her too.
  await story
    .directly(DORA)
    .shows(/Approval needed[\s\S]*Sent to you because you decide for [\s\S]*U0ALICE002/);
  story.workspace.as(DORA).openHome();
  await story.workspace.until(
    () =>
      /You decide for [\s\S]*Refund|Refund[\s\S]*You decide for /.test(
        JSON.stringify(story.workspace.homeOf(DORA)?.blocks ?? []),
      ),
    { what: 'the request and the delegation in App Home' },
  );

  await story.directly(DORA).click(DORA, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  await thread.shows(/Approved by [\s\S]*U0DORA0007[\s\S]*" for "[\s\S]*U0ALICE002/);
  expect(await refunded(story)).toBe(12_000);
  const rows = await rowsOf(story);
  expect(rows).toContainEqual(expect.stringMatching(`^voted approve ${DORA} 1 of 1 for ${alice}$`));
  expect(rows).toContainEqual(expect.stringMatching(`^delegated \\S+ ${DORA} until `));
});

test('one person counts once: a delegate who is an approver, the delegator, and a second delegate never give a vote too many', async () => {
  const story = await startStory({ manifest: TWO, slack, replies: [refund, { text: 'Refunded.' }] });
  await delegate(story, alice, bruno);
  const thread = story.ask('refund order A-1001');
  // Bruno is an approver himself, so his vote is his own; it is not one for Alice as well.
  await thread.click(bruno, /0 of 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await story.noticeFor(bruno, /already approved/);
  await delegate(story, alice, DORA);
  await thread.click(DORA, /1 of 2 approvals/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await refunded(story)).toBe(12_000);
});

test('whoever was decided for cannot decide again, and nobody decides for one who has decided', async () => {
  const story = await startStory({
    manifest: TWO,
    slack,
    replies: [
      {
        calls: [
          ...refund.calls,
          {
            ...refund.calls[0],
            name: 'refund_order',
            arguments: { orderId: 'A-1002', amount: 1, reason: '' },
          },
        ],
      },
    ],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund both orders');
  await thread.click(DORA, /A-1001[\s\S]*0 of 2 approvals/, 'approve');
  await thread.click(alice, /A-1001[\s\S]*1 of 2 approvals/, 'approve');
  await story.noticeFor(alice, /<@U0DORA0007> has already decided this for you/);
  await thread.click(alice, /A-1002[\s\S]*0 of 2 approvals/, 'approve');
  await thread.click(DORA, /A-1002[\s\S]*1 of 2 approvals/, 'approve');
  await story.noticeFor(DORA, /<@U0ALICE002> has already decided this, so nobody decides it for them/);
  expect(await refunded(story)).toBe(0);
});

test('a delegation does not go onward, and ends at once when one of the two ends it', async () => {
  const story = await startStory({ manifest: ONE, slack, replies: [refund] });
  await delegate(story, alice, DORA);
  await command(story, DORA, `delegate <@${EVAN}> until Friday`);
  await shown(story, DORA, /None of the policies under which you approve allows delegation/);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await command(story, alice, 'delegate stop');
  await shown(story, alice, /Nothing is decided for you any more/);
  await story.directly(DORA).shows(/Delegation ended\.[\s\S]*You no longer decide for [\s\S]*U0ALICE002/);
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /not an approver/);
  expect(await refunded(story)).toBe(0);
});

test('the delegate, and an admin, can end it by a button; others cannot', async () => {
  const story = await startStory({ manifest: ONE, slack });
  await delegate(story, alice, DORA);
  const given = await story.directly(DORA).shows(/Delegated to you/);
  const channel = story.workspace.directMessages(DORA);
  await story.workspace.as(DORA).click({ channel, ts: given.ts }, 'end-delegation');
  await story.noticeFor(DORA, /You no longer decide for them/);
  await story.directly(alice).shows(/Nobody decides for you any more\. It was ended by /);
  await delegate(story, alice, DORA, 'for 3 days');
  await command(story, EVAN, 'delegations');
  await shown(story, EVAN, /Nothing is delegated by you or to you/);
  await command(story, admin, 'delegations');
  const list = await shown(story, admin, /Delegations[\s\S]*U0DORA0007[\s\S]* decides for [\s\S]*U0ALICE002/);
  await story.workspace.as(admin).click({ channel: list.channel, ts: list.ts }, 'end-delegation');
  await story.noticeFor(admin, /^Ended\.$/);
  const environment = { REDIS_URL: inject('redisUrl') };
  expect(await run(['delegations'], environment, story.prefix)).toMatchObject({ code: 0, out: '' });
  await delegate(story, alice, DORA);
  expect((await run(['delegations'], environment, story.prefix)).out).toMatch(`${alice}  ${DORA}  2`);
});

describe('nobody is delegated to who could not approve', () => {
  const users = [
    ...PEOPLE,
    { id: 'U0BOTTY009', name: 'botty', is_bot: true },
    { id: 'U0GONE0010', name: 'gone', deleted: true },
  ];

  test('bots, guests, deactivated people, people of another company and oneself', async () => {
    const story = await startStory({ manifest: ONE, slack: { users, channels: [CHANNEL] } });
    const refusals: [string, RegExp][] = [
      ['U0BOTTY009', /Bots can't decide for you/],
      [guest, /Guests can't decide for you/],
      ['U0GONE0010', /deactivated/],
      [outsider, /Only people of this workspace/],
      [alice, /delegate to yourself/],
      ['U0NOBODY99', /can't check that person/],
    ];
    for (const [to, words] of refusals) {
      await command(story, alice, `delegate <@${to}> until Friday`);
      await shown(story, alice, words);
    }
    await command(story, alice, `delegate <@${DORA}> for 20 weeks`);
    await shown(story, alice, /at most 90 days/);
    await command(story, alice, 'delegate somebody until Friday');
    await shown(story, alice, /can't tell who that is/);
    await command(story, alice, `delegate <@${DORA}> some day`);
    await shown(story, alice, /can't tell until when/);
    expect(
      (await openRedisStore({ client: story.redis, prefix: story.prefix }).readDelegations()).delegations,
    ).toEqual([]);
  });

  test('the requester, and somebody who has become a guest since', async () => {
    const story = await startStory({ manifest: ONE, slack, replies: [refund] });
    await delegate(story, alice, requester);
    const thread = story.ask('refund order A-1001');
    await thread.click(requester, /Approval needed/, 'approve');
    await story.noticeFor(requester, /You took part in requesting this/);
    await delegate(story, alice, DORA, 'until 2026-12-24');
    Object.assign(story.workspace.state.users.get(DORA) ?? {}, { is_restricted: true });
    await thread.click(DORA, /Approval needed/, 'approve');
    await story.noticeFor(DORA, /Guests can't decide this/);
    expect(await refunded(story)).toBe(0);
  });
});

test('where the policy does not allow it, a delegation signs nothing', async () => {
  const story = await startStory({
    manifest: `${ONE.replace('  default:', '  strict: { approvers: [U0ALICE002] }\n  default:').replace('approval: { policy: default }', 'approval: { policy: strict }')}`,
    slack,
    replies: [refund],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /not an approver/);
});

test('in groups that must all approve, a delegate stands where the delegator stood', async () => {
  const story = await startStory({
    manifest: manifestWith(
      `approvers: { all: [{ any: [${APPROVERS_GROUP}] }, { any: [${admin}] }] }, delegation: true`,
    ),
    slack: { ...slack, userGroups: DEFAULT_USER_GROUPS },
    replies: [refund, { text: 'Refunded.' }],
  });
  await delegate(story, admin, bruno);
  const thread = story.ask('refund order A-1001');
  await thread.click(alice, /0 of 2 approvals/, 'approve');
  // The place of the group is taken, so Bruno's vote is the admin's.
  await thread.click(bruno, /1 of 2 approvals[\s\S]*1 of 1 from[\s\S]*0 of 1 from/, 'approve');
  await thread.shows(/Refunded\./);
  await thread.shows(/Approved by [\s\S]*U0ALICE002[\s\S]*U0BRUNO003[\s\S]*" for "[\s\S]*U0ADMIN004/);
});

test('an approval in the place of somebody counts as long as that person is an approver', async () => {
  const story = await startStory({
    manifest: manifestWith(`approvers: [${APPROVERS_GROUP}, ${admin}], quorum: 2, delegation: true`),
    slack: { ...slack, userGroups: DEFAULT_USER_GROUPS },
    replies: [refund],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  await thread.click(DORA, /0 of 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  Object.assign(story.workspace.state.userGroups.get(APPROVERS_GROUP) ?? {}, { users: [bruno] });
  await thread.click(admin, /1 of 2 approvals/, 'approve');
  await thread.shows(/Too few of the people who approved are still approvers/);
  expect(await refunded(story)).toBe(0);
});

test('a delegation survives restarts, and one that a process entered and did not bring to all shards holds after the next start', async () => {
  const story = await startStory({
    manifest: ONE,
    slack,
    replies: [refund, { text: 'Refunded.' }],
    withoutBot: true,
  });
  const record = openRedisStore({ client: story.redis, prefix: story.prefix });
  const given = { from: alice, to: DORA, until: Date.now() + 60_000, reason: '', evidence: {} };
  await record.delegate({ ...given, id: 'd-1' });
  const first = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await first.stop();
  await record.delegate({ ...given, id: 'd-2', to: EVAN });
  await story.startOwnBot();
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /not an approver/);
  await thread.click(EVAN, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('what somebody signs for another allows nothing again', async () => {
  const story = await startStory({
    manifest: manifestWith(`approvers: [${alice}], delegation: true, grants: { for: 1h, uses: 3 }`),
    slack,
    replies: [refund, { text: 'Refunded.' }],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  const card = await thread.shows(/Approval needed/);
  await story.workspace.as(DORA).choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  const modal = await story.modalFor(DORA, /without asking anyone/);
  await story.workspace.as(DORA).submit(modal.id, {});
  await thread.shows(/Refunded\./);
  expect(await openRedisStore({ client: story.redis, prefix: story.prefix }).listGrants()).toEqual([]);
});

test('reminders name the person who decides for an approver too, until one of them has decided', async () => {
  const story = await startStory({
    manifest: manifestWith(`approvers: [${alice}, ${bruno}], quorum: 2, remind: 1s, delegation: true`),
    slack,
    sweep: { everyMs: 50, overdueMs: 0 },
    replies: [refund],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Reminder: [\s\S]*U0ALICE002[\s\S]*U0BRUNO003[\s\S]*U0DORA0007/);
  await thread.click(DORA, /0 of 2 approvals/, 'approve');
  await story.workspace.until(
    () =>
      story
        .repliesIn(thread)
        .some(({ text }) => /^Reminder: .*<@U0BRUNO003>$/.test(text) && !/ALICE|DORA/.test(text)),
    { what: 'a reminder that names Bruno alone' },
  );
});
