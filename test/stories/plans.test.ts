import { expect, test } from 'vitest';
import { close, eventsOf, openDesk, pay, propose, ticketManifest } from './planning.ts';
import { CAST, startStory } from './support.ts';

const { alice, bruno, requester: remi } = CAST;

test('one approval lets the exact steps of a plan run in order, the card ticks them, and the model reads how each ended', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2', 'Bolt'), close('T-3')), { text: 'All closed.' }],
  });
  const thread = story.ask('close the three tickets');
  const card = await thread.shows(/Approval needed: Close 3 tickets/);
  const words = JSON.stringify(card.blocks);
  expect(words).toMatch(/Agent's goal \(unverified\)/);
  expect(words).toContain('Clear the queue');
  for (const ticket of ['T-1', 'T-2', 'T-3', 'Bolt']) expect(words).toContain(ticket);
  expect(await desk.done()).toEqual([]);
  await thread.click(remi, /Approval needed/, 'approve');
  await story.noticeFor(remi, /can approve this/);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/All closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2', 'closed T-3']);
  await thread.shows(/Ran 3 steps as planned[\s\S]*✅ 1\. Closed ticket T-1[\s\S]*✅ 3\. Closed ticket T-3/);
  expect(story.repliesIn(thread).filter(({ text }) => /steps? as planned/.test(text))).toHaveLength(1);
  const [plan, ...steps] = story.toldOfCalls();
  expect(JSON.parse(plan ?? '')).toMatchObject({
    outcome: 'done',
    steps: [1, 2, 3].map(() => ({ tool: 'close_ticket', outcome: 'succeeded' })),
  });
  expect(steps).toHaveLength(3);
  const events = await eventsOf(story);
  expect(events.filter((event) => event === 'voted')).toHaveLength(1);
  expect(events.filter((event) => event === 'started')).toHaveLength(3);
});

test('the strictest policy of the steps decides, and all policies where they differ', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), pay('Acme', 20)), { text: 'Done.' }],
  });
  const thread = story.ask('close and pay');
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await desk.done()).toEqual([]);
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 20']);
});

test('a rejected plan runs nothing, and the model is told why', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2')), { text: 'I left them open.' }],
  });
  const thread = story.ask('close them');
  await thread.click(alice, /Approval needed/, 'reject');
  const modal = await story.modalFor(alice);
  await story.workspace.as(alice).submit(modal.id, { reason: 'They are still needed.' });
  await thread.shows(/I left them open\./);
  expect(await desk.done()).toEqual([]);
  expect(story.toldOfCalls().at(0)).toMatch(/still needed/);
});

test.for([
  ['an unknown tool', [close('T-1'), { tool: 'burn_ticket', input: {} }], /no such tool for a plan/],
  [
    'an input that does not fit',
    [close('T-1'), { tool: 'close_ticket', input: {} }],
    /does not fit the schema/,
  ],
  ['a plan in a plan', [close('T-1'), { tool: 'propose_plan', input: {} }], /is a plan itself/],
  [
    'a call that needs no approval',
    [close('T-1'), { tool: 'read_ticket', input: { ticket: 'T', customer: 'A' } }],
    /needs no approval/,
  ],
  ['the same call twice', [close('T-1'), close('T-1')], /are the same call/],
  [
    'the result of another step',
    [close('T-1'), close('{{steps.1.output.id}}')],
    /Step 2 .{0,20}: A plan has exact arguments\. Ask for this step after step 1 has ended\./,
  ],
  ['one step', [close('T-1')], /does not fit|do not fit/],
  ['thirteen steps', Array.from({ length: 13 }, (_, at) => close(`T-${at}`)), /does not fit|do not fit/],
  ['steps of high risk', [pay('Acme', 2_000), pay('Bolt', 2_000)], /Fewer than two/],
] as const)('a plan with %s is one error for the model, and nobody is asked', async ([, steps, problem]) => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(...steps), { text: 'I will try otherwise.' }],
  });
  const thread = story.ask('do it');
  await thread.shows(/I will try otherwise\./);
  expect(story.toldOfCalls()).toHaveLength(1);
  expect(story.toldOfCalls().at(0)).toMatch(problem);
  expect(await eventsOf(story)).not.toContain('asked');
  expect(await desk.done()).toEqual([]);
});

test('a step of high risk is asked alone, the plan says where it waits, and goes on after it', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), pay('Acme', 5_000), close('T-2')), { text: 'All done.' }],
  });
  const thread = story.ask('close, pay, close');
  const card = await thread.shows(/2 (of \d )?planned step/);
  expect(JSON.stringify(card.blocks)).toMatch(
    /2 of 3 planned steps; step 2 has its own card[\s\S]*Pay Acme 5000[\s\S]*own card/,
  );
  await thread.shows(/Approval needed: Pay Acme 5000/);
  await thread.click(bruno, /2 (of \d )?planned step/, 'approve');
  await thread.shows(/✅ 1\. Closed ticket T-1/);
  expect(await desk.done()).toEqual(['closed T-1']);
  await thread.click(alice, /Approval needed: Pay Acme 5000/, 'approve');
  await thread.shows(/All done\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000', 'closed T-2']);
});

test('a step that is asked alone and approved first waits for its turn', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), pay('Acme', 5_000), close('T-2')), { text: 'All done.' }],
  });
  const thread = story.ask('close, pay, close');
  await thread.click(alice, /Approval needed: Pay Acme 5000/, 'approve');
  await thread.shows(/Approved: Pay Acme 5000/);
  expect(await desk.done()).toEqual([]);
  await thread.click(bruno, /2 (of \d )?planned step/, 'approve');
  await thread.shows(/All done\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000', 'closed T-2']);
});

test('the first step that fails holds the rest, which is asked again on a card that says so', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [
      propose(close('T-1'), close('stuck-2'), close('T-3'), close('T-4')),
      { text: 'One of them is stuck.' },
    ],
  });
  const thread = story.ask('close four');
  await thread.click(alice, /4 (of \d )?planned step/, 'approve');
  await thread.shows(/Stopped after 1 of 4 steps\. What is left needs a new approval/);
  const left = await thread.shows(/2 (of \d )?planned step/);
  expect(JSON.stringify(left.blocks)).toMatch(
    /Before this:[\s\S]*✅ Close ticket T-1[\s\S]*❌ Close ticket stuck-2[\s\S]*T-3[\s\S]*T-4/,
  );
  expect(await desk.done()).toEqual(['closed T-1']);
  await thread.click(alice, /2 (of \d )?planned step/, 'approve');
  await thread.shows(/One of them is stuck\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-3', 'closed T-4']);
  expect(JSON.parse(story.toldOfCalls().at(0) ?? '')).toMatchObject({
    outcome: 'stopped',
    steps: [
      { outcome: 'succeeded' },
      { outcome: 'did not succeed' },
      { outcome: 'succeeded' },
      { outcome: 'succeeded' },
    ],
  });
});

test('a step with an unknown outcome holds the rest until a person has looked', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('lost-2'), close('T-3')), { text: 'Good to know.' }],
  });
  const thread = story.ask('close three');
  await thread.click(alice, /3 (of \d )?planned step/, 'approve');
  await thread.shows(/Outcome unknown: Close ticket lost-2/);
  expect(await desk.done()).toEqual(['closed T-1', 'closed lost-2']);
  await story.directly(CAST.admin).click(CAST.admin, /Outcome unknown/, 'ran');
  const modal = await story.modalFor(CAST.admin);
  await story.workspace.as(CAST.admin).submit(modal.id, { reason: 'It is closed.' });
  await thread.shows(/Good to know\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed lost-2', 'closed T-3']);
});

test('who chooses approves only these steps, and the others do not run', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2'), close('T-3')), { text: 'Closed two.' }],
  });
  const thread = story.ask('close three');
  await thread.click(alice, /3 (of \d )?planned step/, 'choose-steps');
  const modal = await story.modalFor(alice, /Close ticket T-2/);
  await story.workspace.as(alice).submit(modal.id, { 'steps-0': ['1', '3'] });
  await thread.shows(/Closed two\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-3']);
  expect(JSON.parse(story.toldOfCalls().at(0) ?? '')).toMatchObject({
    steps: [{ outcome: 'succeeded' }, { outcome: 'not chosen' }, { outcome: 'succeeded' }],
  });
  expect(await eventsOf(story)).toContain('chosen');
});

test('who chooses leaves a step that is asked alone in the plan, and the log alone proves the choice', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(close('T-1'), close('T-2'), pay('Acme', 5_000)), { text: 'Closed one, paid one.' }],
  });
  const thread = story.ask('close two, pay one');
  await thread.click(alice, /Approval needed: Pay Acme 5000/, 'approve');
  await thread.click(alice, /2 (of \d )?planned step/, 'choose-steps');
  const modal = await story.modalFor(alice, /Close ticket T-2/);
  await story.workspace.as(alice).submit(modal.id, { 'steps-0': ['1'] });
  await thread.shows(/Closed one, paid one\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000']);
});

test('with collect, several calls of one answer that need approval are one plan, and the others run as ever', async () => {
  const desk = await openDesk();
  const call = (name: string, input: object) => ({ name, arguments: input });
  const story = await startStory({
    manifest: ticketManifest({ agent: ', plans: { collect: true }' }),
    replies: [
      {
        text: 'Closing both.',
        calls: [
          call('close_ticket', close('T-1').input),
          call('read_ticket', close('T-1').input),
          call('close_ticket', close('T-2').input),
        ],
      },
      { text: 'Closed both.' },
    ],
  });
  const thread = story.ask('close both');
  await thread.click(alice, /2 (of \d )?planned step/, 'approve');
  await thread.shows(/Closed both\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
  expect((await eventsOf(story)).filter((event) => event === 'voted')).toHaveLength(1);
});

test('calls of one answer that name the result of a step are no plan, and their texts are asked as they are', async () => {
  const desk = await openDesk();
  const calls = [close('T-1'), close('{{steps.1.output.id}}')];
  const story = await startStory({
    manifest: ticketManifest({ agent: ', plans: { collect: true }' }),
    replies: [
      { calls: calls.map(({ tool, input }) => ({ name: tool, arguments: input })) },
      { text: 'Done.' },
    ],
  });
  const thread = story.ask('close both');
  await thread.click(alice, /Approval needed: Close ticket T-1/, 'approve');
  await thread.click(alice, /Approval needed: Close ticket "\{\{steps/, 'approve');
  await thread.shows(/Done\./);
  expect((await desk.done()).toSorted()).toEqual(['closed T-1', 'closed {{steps.1.output.id}}']);
});

test('without plans the agent has no tool for them, and asks for each call', async () => {
  await openDesk();
  const story = await startStory({
    manifest: ticketManifest({ agent: ', plans: false' }),
    replies: [propose(close('T-1'), close('T-2')), { text: 'I will ask one by one.' }],
  });
  const thread = story.ask('close both');
  await thread.shows(/one by one/);
  expect(story.toldOfCalls().at(0)).toMatch(/there is no tool/);
});
