import { expect, test } from 'vitest';
import { APPROVERS_GROUP, DEFAULT_USER_GROUPS } from '../../playground/slack/default-cast.ts';
import { delegationsIn } from '../../src/store/documents/delegations.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import {
  command,
  DORA,
  delegate,
  EVAN,
  manifestWith,
  ONE,
  refund,
  refunded,
  shown,
  slack,
} from './delegating.ts';
import { CAST, type Story, startStory } from './support.ts';

const { admin, alice, bruno } = CAST;

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
  await story.noticeFor(DORA, /can approve this/);

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
  await thread.shows(/pproved by [\s\S]*U0DORA0007[\s\S]* for [\s\S]*U0ALICE002/);
  expect(await refunded(story)).toBe(12_000);
  const rows = await rowsOf(story);
  expect(rows).toContainEqual(expect.stringMatching(`^voted approve ${DORA} 1 of 1 for ${alice}$`));
  expect(rows).toContainEqual(expect.stringMatching(`^delegated \\S+ ${DORA} until `));
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
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  // The place of the group is taken, so Bruno's vote is the admin's.
  await thread.click(bruno, /1 of 2 approvals[\s\S]*Still needed: <@U0ADMIN004>/, 'approve');
  await thread.shows(/Refunded\./);
  await thread.shows(/pproved by [\s\S]*U0ALICE002[\s\S]*U0BRUNO003[\s\S]* for [\s\S]*U0ADMIN004/);
});

test('an approval in the place of somebody counts as long as that person is an approver', async () => {
  const story = await startStory({
    manifest: manifestWith(`approvers: [${APPROVERS_GROUP}, ${admin}], quorum: 2, delegation: true`),
    slack: { ...slack, userGroups: DEFAULT_USER_GROUPS },
    replies: [refund],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  await thread.click(DORA, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  Object.assign(story.workspace.state.userGroups.get(APPROVERS_GROUP) ?? {}, { users: [bruno] });
  await thread.click(admin, /1 of 2 approvals/, 'approve');
  await thread.shows(/Too few of the people who approved are still approvers/);
  expect(await refunded(story)).toBe(0);
});

test('a delegation survives restarts, and one that another process entered holds at once', async () => {
  const story = await startStory({
    manifest: ONE,
    slack,
    replies: [refund, { text: 'Refunded.' }],
    withoutBot: true,
  });
  const record = openRedisStore({ client: story.redis, prefix: story.prefix });
  const given = { from: alice, to: DORA, until: Date.now() + 60_000, reason: '', evidence: {} };
  await delegationsIn(record).delegate({ ...given, id: 'd-1' });
  const first = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await first.stop();
  await delegationsIn(record).delegate({ ...given, id: 'd-2', to: EVAN });
  await story.startOwnBot();
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /can approve this/);
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
    manifest: manifestWith(
      `approvers: [${alice}, ${bruno}], quorum: 2, notify: { remind: 1s }, delegation: true`,
    ),
    slack,
    sweep: { everyMs: 50, overdueMs: 0 },
    replies: [refund],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Reminder: [\s\S]*U0ALICE002[\s\S]*U0BRUNO003[\s\S]*U0DORA0007/);
  await thread.click(DORA, /Needs 2 approvals/, 'approve');
  await story.workspace.until(
    () =>
      story
        .repliesIn(thread)
        .some(({ text }) => /^Reminder: .*<@U0BRUNO003>$/.test(text) && !/ALICE|DORA/.test(text)),
    { what: 'a reminder that names Bruno alone' },
  );
});
