import { expect, test } from 'vitest';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { close, eventsOf, openDesk, pay, propose, ticketManifest } from './planning.ts';
import { CAST, startStory } from './support.ts';

const { alice, bruno, admin, requester: remi } = CAST;
const command = { app: { commands: ['/countersign'] } };

test('a withdrawn plan runs no further step', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), pay('Acme', 5_000), close('T-2')), { text: 'I stopped there.' }],
  });
  const thread = story.ask('close, pay, close');
  await thread.click(bruno, /2 (of \d )?planned step/, 'approve');
  await thread.click(remi, /✅ 1\. Closed ticket T-1/, 'withdraw');
  await thread.shows(/I stopped there\./);
  await thread.shows(/Withdrawn: Pay Acme 5000/);
  expect(await desk.done()).toEqual(['closed T-1']);
});

test('stop ends a plan that waits, with all of its steps', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2'))],
  });
  const thread = story.ask('close both');
  await thread.shows(/2 (of \d )?planned step/);
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/Stopped/);
  await thread.click(alice, /Close 2 tickets/, 'details');
  expect(await desk.done()).toEqual([]);
  await expect
    .poll(async () => (await eventsOf(story)).filter((event) => event === 'withdrawn'))
    .toHaveLength(3);
});

test('a step whose call and digest were changed on record does not run on the approval of its plan', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2'), close('T-3'))],
  });
  const thread = story.ask('close all three');
  await thread.shows(/3 (of \d )?planned step/);
  const keyOf = new Map<string, string>();
  for (const key of await story.redis.keys(`{${story.prefix}}:run:*`))
    keyOf.set((await story.redis.hget(key, 'number')) ?? '', key);
  const [second = '', third = ''] = ['2', '3'].map((number) => keyOf.get(number) ?? '');
  // What the second step would run now is sound by itself, and its card was never shown.
  await story.redis.hset(second, 'digest', (await story.redis.hget(third, 'digest')) ?? '');
  await story.redis.copy(third.replace(':run:', ':record:'), second.replace(':run:', ':record:'), 'REPLACE');
  await thread.click(alice, /3 (of \d )?planned step/, 'approve');
  const askedAgain = async () => (await eventsOf(story)).filter((event) => event === 'asked').length;
  // The plan and its steps, twice: as the model made them, and none of them has started.
  await expect.poll(askedAgain).toBe(8);
  expect(await eventsOf(story)).not.toContain('started');
  expect(await desk.done()).toEqual([]);
});

test('a freeze holds the next step, and the plan goes on when it ends', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest({ agent: `, admins: [${admin}]` }),
    slack: command,
    replies: [propose(close('T-1'), close('T-2')), { text: 'Both closed.' }],
  });
  const thread = story.ask('close both');
  await thread.shows(/2 (of \d )?planned step/);
  await story.workspace.as(admin).command('/countersign', 'freeze close_ticket too many');
  await thread.click(alice, /2 (of \d )?planned step/, 'approve');
  await expect.poll(() => eventsOf(story)).toContain('held');
  expect(await desk.done()).toEqual([]);
  await story.workspace.as(admin).command('/countersign', 'unfreeze close_ticket');
  await thread.shows(/Both closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
});

test('an edit of one step replaces the whole plan, which is asked again with the new arguments', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2'), close('T-3')), { text: 'Closed them.' }],
  });
  const thread = story.ask('close three');
  const card = await thread.shows(/3 (of \d )?planned step/);
  const [second] = JSON.stringify(card.blocks).matchAll(
    /"2\. Close ticket T-2","emoji":false\},"value":"([^"]+)"/g,
  );
  await story.workspace
    .as(remi)
    .choose({ channel: thread.channel, ts: card.ts }, 'edit-step', second?.[1] ?? '');
  const modal = await story.modalFor(remi);
  await story.workspace.as(remi).submit(modal.id, { 'field-0': 'T-22' });
  await thread.shows(/Stopped after 0 of 3 steps/);
  await thread.click(alice, /3 (of \d )?planned step[\s\S]*T-22/, 'approve');
  await thread.shows(/Closed them\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-22', 'closed T-3']);
  const votes = (await eventsOf(story)).filter((event) => event === 'voted');
  expect(votes).toHaveLength(1);
});

test('a step that the rules of now ask others about does not run on the plan, and is asked again with the rest', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    withoutBot: true,
    replies: [
      propose(close('T-1'), pay('Acme', 5_000), close('T-2'), close('T-3')),
      { text: 'Closed them.' },
    ],
  });
  const before = await story.startOwnBot();
  const thread = story.ask('close three');
  await thread.click(bruno, /3 (of \d )?planned step/, 'approve');
  await thread.shows(/✅ 1\. Closed ticket T-1/);
  await before.stop();
  const changed = await withBuiltTools(
    ticketManifest({ rules: '      - { match: close_ticket, policy: two }' }),
  );
  const parsed = parseManifest(changed, { file: 'story.yml', environment: {} });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  await story.startOwnBot({ manifest: parsed.manifest });
  await thread.click(alice, /Approval needed: Pay Acme 5000/, 'approve');
  await thread.click(alice, /Needs 2 approvals[\s\S]*2 (of \d )?planned step/, 'approve');
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000']);
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Closed them\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000', 'closed T-2', 'closed T-3']);
});

test('who saw the whole plan does not approve what somebody has chosen since, and a grant is not offered', async () => {
  const desk = await openDesk();
  const manifest = ticketManifest({ rules: '      - { match: close_ticket, policy: two }' }).replace(
    'quorum: 2,',
    'quorum: 2, grants: { for: 1h, uses: 3 },',
  );
  const story = await startStory({
    manifest,
    replies: [propose(close('T-1'), close('T-2'), close('T-3')), { text: 'Closed one and three.' }],
  });
  const thread = story.ask('close three');
  const card = await thread.shows(/3 (of \d )?planned step/);
  expect(JSON.stringify(card.blocks)).not.toContain('approve-grant');
  await thread.click(bruno, /3 (of \d )?planned step/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  await thread.click(alice, /3 (of \d )?planned step/, 'choose-steps');
  const modal = await story.modalFor(alice, /Close ticket T-2/);
  await story.workspace.as(alice).submit(modal.id, { 'steps-0': ['1', '3'] });
  // The approval of the whole plan does not count for the chosen steps.
  const narrowed = await thread.shows(/not chosen: 2[\s\S]*Approve 2 steps/);
  expect(await desk.done()).toEqual([]);
  const [, action] = /"(approve-chosen:[0-9a-f]+)"/.exec(JSON.stringify(narrowed.blocks)) ?? [];
  await thread.click(bruno, /Approve 2 steps/, action ?? '');
  await thread.shows(/Closed one and three\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-3']);
});

test('each step that ran can be undone by itself from the card of the plan', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2')), { text: 'Closed.' }, { text: 'It is open again.' }],
  });
  const thread = story.ask('close both');
  await thread.click(alice, /2 (of \d )?planned step/, 'approve');
  await thread.shows(/"Closed\./);
  const card = await thread.shows(/Undo a step…[\s\S]*2\. Close ticket T-2/);
  const [second] = JSON.stringify(card.blocks).matchAll(
    /"2\. Close ticket T-2","emoji":false\},"value":"([^"]+)"/g,
  );
  await story.workspace
    .as(remi)
    .choose({ channel: thread.channel, ts: card.ts }, 'undo-step', second?.[1] ?? '');
  await thread.click(alice, /Approval needed: Open ticket T-2/, 'approve');
  await thread.shows(/It is open again\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2', 'opened T-2']);
  await thread.shows(/⏪ 2\. /);
});

test('a step over its limit is asked alone, and the rest waits for it', async () => {
  const desk = await openDesk();
  const reopen = { tool: 'open_ticket', input: { ticket: 'T-9', customer: 'Acme' } };
  const story = await startStory({
    manifest: `${ticketManifest()}limits:\n  close_ticket: { per: tool, window: 1h, max: 1, policy: two }\n`,
    replies: [propose(close('T-1'), close('T-2'), reopen), { text: 'All of it.' }],
  });
  const thread = story.ask('close two and open one');
  await thread.click(alice, /3 (of \d )?planned step/, 'approve');
  await thread.shows(/Stopped after 1 of 3 steps/);
  expect(await desk.done()).toEqual(['closed T-1']);
  await thread.shows(/1 (of \d )?planned step[\s\S]*Close ticket T-2[\s\S]*own card/);
  await thread.click(alice, /1 (of \d )?planned step/, 'approve');
  expect(await desk.done()).toEqual(['closed T-1']);
  for (const who of [alice, bruno]) await thread.click(who, /Approval needed: Close ticket T-2/, 'approve');
  await thread.shows(/All of it\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2', 'opened T-9']);
});
