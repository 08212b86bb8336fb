import { expect, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { close, eventsOf, openCase, openDesk, pay, propose, ticketManifest } from './planning.ts';
import { CAST, type Story, startStory } from './support.ts';

const { alice, bruno, admin, requester: remi } = CAST;

/** Pays what the first step says. */
const payCase = (bounds?: readonly string[], customer = 'Acme') => ({
  tool: 'pay_customer',
  input: { customer, amount: '{{steps.1.output.amount}}' },
  ...(bounds !== undefined && { bounds }),
});
const closeCase = { tool: 'close_ticket', input: { ticket: 'nr {{steps.1.output.id}}', customer: 'Acme' } };
/** Payments of any amount need one approval, so that nothing about a payment has to be known before. */
const manifest = ticketManifest({ rules: '      - { match: pay_customer, policy: default }' });

/** The bodies of the starts on record. */
async function startsIn({ redis, prefix }: Story): Promise<unknown[]> {
  const starts: unknown[] = [];
  for await (const { event, body } of openRedisStore({ client: redis, prefix }).exportAudit())
    if (event === 'started') starts.push(JSON.parse(body));
  return starts;
}

test('a step gets values from the output of an earlier one: the card says which, and the start says what ran', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest,
    replies: [propose(openCase('Acme', 250), payCase(['input.amount <= 300']), closeCase), { text: 'Done.' }],
  });
  const thread = story.ask('open, pay, close');
  const card = JSON.stringify((await thread.shows(/Run 3 steps as planned\?/)).blocks);
  expect(card).toMatch(
    /Pay customer: Acme[\s\S]*‹amount from step 1›[\s\S]*From earlier steps: [\s\S]*Amount \(amount from step 1\)/,
  );
  expect(card).toMatch(/Only if: [\s\S]*Amount is at most 300/);
  expect(card).toMatch(/Close ticket nr ‹id from step 1›/);
  expect(card).not.toContain('{{');
  await thread.click(alice, /Run 3 steps as planned\?/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 250', 'paid Acme 250', 'closed nr case-Acme']);
  expect(await startsIn(story)).toMatchObject([
    {},
    { arguments: { customer: 'Acme', amount: 250 } },
    { arguments: { ticket: 'nr case-Acme', customer: 'Acme' } },
  ]);
  expect((await eventsOf(story)).filter((event) => event === 'voted')).toHaveLength(1);
});

test('a value outside its bound does not run: it is asked alone with the exact value, and the rest after it', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest,
    replies: [
      propose(openCase('Acme', 500), payCase(['input.amount <= 300']), close('T-1'), close('T-2')),
      { text: 'Done.' },
    ],
  });
  const thread = story.ask('open, pay, close');
  await thread.click(alice, /Run 4 steps as planned\?/, 'approve');
  await thread.shows(/Stopped after 1 of 4 steps/);
  await thread.shows(/Approval needed: Pay Acme 500/);
  expect(await desk.done()).toEqual(['opened case Acme 500']);
  const left = await thread.shows(/Run 2 steps as planned\?/);
  expect(JSON.stringify(left.blocks)).toMatch(/Pay Acme 500[\s\S]*asked separately, the plan waits here/);
  await thread.click(bruno, /Run 2 steps as planned\?/, 'approve');
  await thread.click(alice, /Approval needed: Pay Acme 500/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 500', 'paid Acme 500', 'closed T-1', 'closed T-2']);
});

test('a value that is missing runs nothing: the model is told, and what is left is asked again', async () => {
  const desk = await openDesk();
  const step = { tool: 'close_ticket', input: { ticket: '{{steps.1.output.owner.mail}}', customer: 'Acme' } };
  const story = await startStory({
    manifest,
    replies: [propose(openCase('Acme', 5), step, close('T-1'), closeCase), { text: 'Done.' }],
  });
  const thread = story.ask('open and close');
  await thread.click(alice, /Run 4 steps as planned\?/, 'approve');
  await thread.click(alice, /Approval needed: Close ticket T-1/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 5', 'closed T-1']);
  const told = story.toldOfCalls().join('\n');
  expect(told).toMatch(
    /A value from an earlier step is missing\. It did not run\. Call the tool with exact arguments/,
  );
  expect(told).toMatch(/The plan stopped, and this step was to get values from earlier steps/);
});

test('a value for which the rules ask others is asked alone, of them', async () => {
  const desk = await openDesk();
  const rule = '- { match: close_ticket, when: \'input.ticket == "case-Bolt"\', policy: two }';
  const story = await startStory({
    manifest: ticketManifest({ rules: `      ${rule}` }),
    replies: [
      propose(openCase('Bolt', 5), {
        tool: 'close_ticket',
        input: { ticket: '{{steps.1.output.id}}', customer: 'Bolt' },
      }),
      { text: 'Done.' },
    ],
  });
  const thread = story.ask('open and close');
  await thread.click(alice, /Run 2 steps as planned\?/, 'approve');
  await thread.click(alice, /Close ticket case-Bolt[\s\S]*Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await desk.done()).toEqual(['opened case Bolt 5']);
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Bolt 5', 'closed case-Bolt']);
});

test('a value for which no rule asks any more runs as approved, and one that a rule denies does not run', async () => {
  const desk = await openDesk();
  const rules = `
      - { match: close_ticket, when: 'input.ticket == "case-Acme"', require: never }
      - { match: pay_customer, when: 'input.customer == "case-Acme"', require: deny, reason: No payments to cases. }
      - { match: pay_customer, policy: default }`;
  const story = await startStory({
    manifest: ticketManifest({ rules }),
    replies: [
      propose(
        openCase('Acme', 5),
        { tool: 'close_ticket', input: { ticket: '{{steps.1.output.id}}', customer: 'Acme' } },
        { tool: 'pay_customer', input: { customer: '{{steps.1.output.id}}', amount: 5 } },
      ),
      { text: 'Done.' },
    ],
  });
  const thread = story.ask('open, close, pay');
  await thread.click(alice, /Run 3 steps as planned\?/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 5', 'closed case-Acme']);
  expect(story.toldOfCalls().join('\n')).toMatch(/No payments to cases/);
});

test('a value for which no rule would ask is asked alone all the same, if it is outside its bound', async () => {
  const desk = await openDesk();
  const rule = '- { match: close_ticket, when: \'input.ticket == "case-Acme"\', require: never }';
  const story = await startStory({
    manifest: ticketManifest({ rules: `      ${rule}` }),
    replies: [
      propose(openCase('Acme', 5), {
        tool: 'close_ticket',
        input: { ticket: '{{steps.1.output.id}}', customer: 'Acme' },
        bounds: ['input.ticket.startsWith("T-")'],
      }),
      { text: 'Done.' },
    ],
  });
  const thread = story.ask('open and close');
  await thread.click(alice, /Run 2 steps as planned\?/, 'approve');
  const card = await thread.shows(/Approval needed: Close ticket case-Acme/);
  expect(JSON.stringify(card.blocks)).toContain('its values come from earlier steps of a plan');
  expect(await desk.done()).toEqual(['opened case Acme 5']);
  await thread.click(bruno, /Approval needed: Close ticket case-Acme/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 5', 'closed case-Acme']);
});

test('a step that ran by the word of a person has no output, so what needs it does not run', async () => {
  const desk = await openDesk();
  const after = { tool: 'close_ticket', input: { ticket: 'of {{steps.1.output.id}}', customer: 'Acme' } };
  const story = await startStory({
    manifest,
    replies: [propose(close('lost-1'), after), { text: 'I see.' }],
  });
  const thread = story.ask('close both');
  await thread.click(alice, /Run 2 steps as planned\?/, 'approve');
  await thread.shows(/Outcome unknown: Close ticket lost-1/);
  await story.directly(admin).click(admin, /Outcome unknown/, 'ran');
  const modal = await story.modalFor(admin);
  await story.workspace.as(admin).submit(modal.id, { reason: 'It is closed.' });
  await thread.shows(/I see\./);
  expect(await desk.done()).toEqual(['closed lost-1']);
  expect(story.toldOfCalls().join('\n')).toMatch(/A value from an earlier step is missing/);
});

test('a step that a limit stops is asked alone with its whole input', async () => {
  const desk = await openDesk();
  const limits = `limits:
  close_ticket: { per: requester, window: 1d, max: 1, policy: two }
`;
  const story = await startStory({
    manifest: manifest + limits,
    replies: [propose(openCase('Acme', 5), close('T-1'), closeCase), { text: 'Done.' }],
  });
  const thread = story.ask('open and close twice');
  const card = await thread.shows(/Run 3 steps as planned\?/);
  expect(JSON.stringify(card.blocks)).toContain(
    'Only 2 of 3 steps fit the limit of 1 call in 1 day per person. The plan stops there.',
  );
  await thread.click(alice, /Run 3 steps as planned\?/, 'approve');
  await thread.click(alice, /Approval needed: Close ticket nr case-Acme/, 'approve');
  await thread.click(bruno, /1 of 2 approvals/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 5', 'closed T-1', 'closed nr case-Acme']);
});

test('a step with values from another can be undone with what it ran with', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: manifest.replace('reversible: yes', 'reversible: undo'),
    replies: [propose(close('T-1'), { ...closeCase }), { text: 'Closed.' }, { text: 'Opened again.' }],
  });
  const thread = story.ask('close both');
  await thread.click(alice, /Run 2 steps as planned\?/, 'approve');
  const card = await thread.shows(/✅ 2\. Closed ticket/);
  await thread.shows(/Closed\./);
  const [second] = JSON.stringify((await thread.shows(/Undo a step/)).blocks).matchAll(
    /"2\. Close ticket nr ‹id from step 1›","emoji":false\},"value":"([^"]+)"/g,
  );
  await story.workspace
    .as(remi)
    .choose({ channel: thread.channel, ts: card.ts }, 'undo-step', second?.[1] ?? '');
  await thread.click(alice, /Approval needed: Open ticket nr C-T-1/, 'approve');
  await thread.shows(/Opened again\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed nr C-T-1', 'opened nr C-T-1']);
});

test('an edit of another step asks for the whole plan again, with its references', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest,
    replies: [propose(openCase('Acme', 250), payCase(['input.amount <= 300'])), { text: 'Done.' }],
  });
  const thread = story.ask('open and pay');
  const card = await thread.shows(/Run 2 steps as planned\?/);
  expect(JSON.stringify(card.blocks)).not.toMatch(/"2\. Pay customer/);
  const [first] = JSON.stringify(card.blocks).matchAll(
    /"1\. Open case for Acme 250","emoji":false\},"value":"([^"]+)"/g,
  );
  await story.workspace
    .as(remi)
    .choose({ channel: thread.channel, ts: card.ts }, 'edit-step', first?.[1] ?? '');
  const modal = await story.modalFor(remi);
  await story.workspace.as(remi).submit(modal.id, { 'field-1': '200' });
  await thread.click(alice, /Open case for Acme 200[\s\S]*From earlier steps/, 'approve');
  await thread.shows(/Done\./);
  expect(await desk.done()).toEqual(['opened case Acme 200', 'paid Acme 200']);
});

test.for([
  ['a later step', [closeCase, openCase('Acme', 1)], /is no earlier step/],
  [
    'a reference that cannot be read',
    [openCase('Acme', 1), close('{{steps.one.output}}')],
    /a reference is the text/,
  ],
  [
    'a bound of exact arguments',
    [close('T-1'), { ...close('T-2'), bounds: ['input.ticket != ""'] }],
    /are exact, so a bound/,
  ],
  [
    'a bound that cannot be read',
    [openCase('Acme', 1), payCase(['input.amount <='])],
    /the bound .{0,20}cannot be used/,
  ],
  [
    'a bound about people',
    [openCase('Acme', 1), payCase(['requester == "U1"'])],
    /must be about .{0,10} alone/,
  ],
  [
    'another argument that does not fit',
    [
      openCase('Acme', 1),
      { tool: 'pay_customer', input: { customer: 7, amount: '{{steps.1.output.amount}}' } },
    ],
    /does not fit the schema at .{0,3}customer/,
  ],
] as const)('a plan with %s is one error for the model, and nobody is asked', async ([, steps, problem]) => {
  const desk = await openDesk();
  const story = await startStory({ manifest, replies: [propose(...steps), { text: 'I see.' }] });
  const thread = story.ask('do it');
  await thread.shows(/I see\./);
  expect(story.toldOfCalls().at(0)).toMatch(problem);
  expect(await eventsOf(story)).not.toContain('asked');
  expect(await desk.done()).toEqual([]);
});

test('where a rule or the risk depends on the value, the arguments must be exact', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(openCase('Acme', 1), payCase(['input.amount <= 5'])), { text: 'I see.' }],
  });
  const thread = story.ask('open and pay');
  await thread.shows(/I see\./);
  expect(story.toldOfCalls().at(0)).toMatch(
    /Step 2 \(pay_customer\) is asked by itself, so its arguments must be exact/,
  );
  expect(await desk.done()).toEqual([]);
});

test('what looks like a reference in calls of one answer is a text, so they are asked one by one', async () => {
  const desk = await openDesk();
  const calls = [openCase('Acme', 1), close('{{steps.1.output.id}}')];
  const story = await startStory({
    manifest: ticketManifest({ agent: ', plans: { collect: true }' }),
    replies: [
      { calls: calls.map(({ tool, input }) => ({ name: tool, arguments: input })) },
      { text: 'Done.' },
    ],
  });
  const thread = story.ask('open and close');
  await thread.click(alice, /Approval needed: Open case for Acme 1/, 'approve');
  await thread.click(alice, /Approval needed: Close ticket \{\{steps/, 'approve');
  await thread.shows(/Done\./);
  expect((await desk.done()).toSorted()).toEqual(['closed {{steps.1.output.id}}', 'opened case Acme 1']);
});

test('two payments of the same reference are the same call', async () => {
  await openDesk();
  const story = await startStory({
    manifest,
    replies: [propose(openCase('Acme', 1), payCase(), payCase(), pay('Acme', 3)), { text: 'I see.' }],
  });
  const thread = story.ask('pay twice');
  await thread.shows(/I see\./);
  expect(story.toldOfCalls().at(0)).toMatch(/Steps 2 and 3 are the same call/);
});
