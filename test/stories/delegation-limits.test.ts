import { describe, expect, inject, test } from 'vitest';
import { readDelegations } from '../../src/store/documents/delegations.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { run } from '../commands/support.ts';
import {
  CHANNEL,
  command,
  DORA,
  delegate,
  EVAN,
  manifestWith,
  ONE,
  PEOPLE,
  refund,
  refunded,
  shown,
  slack,
} from './delegating.ts';
import { CAST, startStory } from './support.ts';

const { admin, alice, bruno, guest, outsider, requester } = CAST;

const TWO = manifestWith(`approvers: [${alice}, ${bruno}], quorum: 2, delegation: true`);

test('one person counts once: a delegate who is an approver, the delegator, and a second delegate never give a vote too many', async () => {
  const story = await startStory({ manifest: TWO, slack, replies: [refund, { text: 'Refunded.' }] });
  await delegate(story, alice, bruno);
  const thread = story.ask('refund order A-1001');
  // Bruno is an approver himself, so his vote is his own; it is not one for Alice as well.
  await thread.click(bruno, /Needs 2 approvals/, 'approve');
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
  await thread.click(DORA, /A-1001[\s\S]*Needs 2 approvals/, 'approve');
  await thread.click(alice, /A-1001[\s\S]*1 of 2 approvals/, 'approve');
  await story.noticeFor(alice, /<@U0DORA0007> has already decided this for you/);
  await thread.click(alice, /A-1002[\s\S]*Needs 2 approvals/, 'approve');
  await thread.click(DORA, /A-1002[\s\S]*1 of 2 approvals/, 'approve');
  await story.noticeFor(DORA, /<@U0ALICE002> has already decided this, so you can't decide it for them/);
  expect(await refunded(story)).toBe(0);
});

test('who decides for two approvers decides for the one who may, where the other is the requester', async () => {
  const story = await startStory({
    manifest: manifestWith(`approvers: [${requester}, ${alice}], delegation: true`),
    slack,
    replies: [refund, { text: 'Refunded.' }],
  });
  await delegate(story, requester, DORA);
  await delegate(story, alice, DORA);
  const thread = story.ask('refund order A-1001');
  await thread.click(DORA, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  await thread.shows(/Done[\s\S]*U0ALICE002/);
});

test('who decides for two approvers decides for the one who may, where the words of the other were read', async () => {
  const story = await startStory({
    manifest: manifestWith(`approvers: [${alice}, ${bruno}], delegation: true, separation: thread`),
    slack,
    replies: [refund, { text: 'Refunded.' }],
  });
  await delegate(story, bruno, DORA);
  await delegate(story, alice, DORA);
  const discussion = story.workspace.as(bruno).send(CHANNEL.id, 'Order A-1001 came broken.');
  const thread = story.ask('refund order A-1001', { threadTs: discussion.ts });
  await thread.click(DORA, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
});

test('a delegation does not go onward, and ends at once when one of the two ends it', async () => {
  const story = await startStory({ manifest: ONE, slack, replies: [refund] });
  await delegate(story, alice, DORA);
  await command(story, DORA, `delegate <@${EVAN}> until Friday`);
  await shown(story, DORA, /None of the policies under which you approve allows delegation/);
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  await command(story, alice, 'delegate stop');
  await shown(story, alice, /They can no longer decide for you/);
  await story.directly(DORA).shows(/Delegation ended\.[\s\S]*You no longer decide for [\s\S]*U0ALICE002/);
  await thread.click(DORA, /Approval needed/, 'approve');
  await story.noticeFor(DORA, /can approve this/);
  expect(await refunded(story)).toBe(0);
});

test('the delegate, and an admin, can end it by a button; others cannot', async () => {
  const story = await startStory({ manifest: ONE, slack });
  await delegate(story, alice, DORA);
  const given = await story.directly(DORA).shows(/Delegated to you/);
  const channel = story.workspace.directMessages(DORA);
  await story.workspace.as(DORA).click({ channel, ts: given.ts }, 'end-delegation');
  await story.noticeFor(DORA, /You no longer decide for them/);
  await story.directly(alice).shows(/Nobody can decide for you now\. Ended by /);
  await delegate(story, alice, DORA, 'for 3 days');
  await command(story, EVAN, 'delegations');
  await shown(story, EVAN, /Nothing is delegated by you or to you/);
  await command(story, admin, 'delegations');
  const list = await shown(story, admin, /Delegations[\s\S]*U0DORA0007[\s\S]* decides for [\s\S]*U0ALICE002/);
  await story.workspace.as(admin).click({ channel: list.channel, ts: list.ts }, 'end-delegation');
  await story.noticeFor(admin, /^Ended\.$/);
  const environment = { REDIS_URL: inject('redisUrl') };
  expect(await run(['delegations'], environment, story.prefix)).toMatchObject({
    code: 0,
    out: 'Nobody decides for anybody else.\n',
  });
  await delegate(story, alice, DORA);
  await expect
    .poll(async () => (await run(['delegations'], environment, story.prefix)).out)
    .toMatch(`${alice}  ${DORA}  2`);
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
      [outsider, /Only members of this workspace/],
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
    await shown(story, alice, /couldn't read the end date/);
    expect(await readDelegations(openRedisStore({ client: story.redis, prefix: story.prefix }))).toEqual([]);
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
  await story.noticeFor(DORA, /can approve this/);
});

test('the answer to a command that is not understood has what to type in code letters, and no backticks', async () => {
  const story = await startStory({ manifest: TWO, slack });
  for (const text of ['delegate', 'delegate nobody until Friday', `delegate <@${DORA}> until whenever`]) {
    await command(story, alice, text);
    const answer = await story.workspace.until(
      () =>
        story.workspace
          .ephemeralsFor(alice)
          .findLast(({ blocks }) => JSON.stringify(blocks).includes('code')),
      { what: `the answer to ${text}` },
    );
    expect(JSON.stringify(answer.blocks)).toMatch(/\/countersign delegate[^"]*","style":\{"code":true\}/);
    expect(JSON.stringify(answer.blocks)).not.toContain('`');
  }
});
