import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startLocalModel } from '../../../playground/model/start-local-model.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { actionsIn, textIn } from '../../bot/views/cards/payloads.ts';
import { startAccountStory } from '../accounts/support.ts';
import { approveAnswer, askingManifest, fillIn } from '../asking-servers.ts';
import { startCalling, WITH_CALLERS } from '../calling.ts';
import { DORA, delegate, slack as withDora } from '../delegating.ts';
import { close, eventsOf, openDesk, pay, propose, ticketManifest } from '../planning.ts';
import { CAST, MANIFEST, type Story, startStory } from '../support.ts';
import { openWorkshop, workshopManifest } from '../workshop.ts';

const { alice, bruno, admin, requester: remi } = CAST;
const SWEEP = { everyMs: 100, overdueMs: 0 };
const commands = { app: { commands: ['/countersign'] } };
const PLAN = /\d (of \d )?planned step/;
const ALONE = /Approval needed: Pay Acme 5000/;
/** Two steps, and between them one that is asked alone. */
const stopsHalfway = propose(close('T-1'), pay('Acme', 5_000), close('T-2'));

/** The tickets with other policies: `default` for most, and `large` for what is asked alone. */
const withPolicies = (usual: string, large = `approvers: [${bruno}]`) =>
  ticketManifest()
    .replace(`default: { approvers: [${alice}, ${bruno}]`, `default: { ${usual}`)
    .replace(`large: { approvers: [${alice}]`, `large: { ${large}`);

/** The tickets with more tools beside them. */
const withTools = (other: string) => {
  const [, tools = ''] = other.split('tools:\n');
  return `${ticketManifest()}${tools}`;
};

const storeOf = ({ redis, prefix }: Story) => openRedisStore({ client: redis, prefix });

const refund = (amount: number, orderId = 'A-1001') => ({
  tool: 'refund_order',
  input: { orderId, amount, reason: '' },
});
const refundsWith = (more: string) =>
  MANIFEST.replace(
    'approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }]',
    `reversible: yes, title: "Refund {{input.amount}}", target: "{{input.orderId}}", fields: { Order: "{{input.orderId}}" }, ${more}`,
  );
const refunded = async ({ ledger }: Story) => (await ledger.order('A-1001'))?.refunded;

test('the approval of a stand-in covers a step only as long as the person behind it may approve', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: [${alice}, ${bruno}], delegation: true`),
    slack: { ...withDora, ...commands },
    replies: [stopsHalfway, { text: 'All done.' }],
  });
  await delegate(story, alice, DORA);
  const thread = story.ask('close, pay, close');
  await thread.click(DORA, PLAN, 'approve');
  await thread.shows(/✅ 1\. Closed ticket T-1/);
  Object.assign(story.workspace.state.users.get(alice) ?? {}, { deleted: true });
  await thread.click(bruno, ALONE, 'approve');
  await thread.shows(/Stopped after 2 of 3 steps/);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000']);
  await thread.click(bruno, /Approval needed: Close ticket T-2/, 'approve');
  await thread.shows(/All done\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000', 'closed T-2']);
});

test('the card of a plan says to a stand-in for whom they are asked', async () => {
  await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: [${alice}], delegation: true`).replace(
      'resolvers: [U0ADMIN004], notify: { direct_messages: false }',
      `resolvers: [${admin}]`,
    ),
    slack: { ...withDora, ...commands },
    replies: [propose(close('T-1'), close('T-2'))],
  });
  await delegate(story, alice, DORA);
  story.ask('close both');
  const card = await story.directly(DORA).shows(PLAN);
  expect(textIn(card.blocks)).toMatch(new RegExp(`Sent to you because you decide for .*${alice}`));
});

test('a plan needs each group of approvers, and so does each of its steps at its start', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: { all: [{ any: [${alice}] }, { any: [${bruno}, ${admin}] }] }`),
    replies: [stopsHalfway],
  });
  const thread = story.ask('close, pay, close');
  await thread.click(bruno, PLAN, 'approve');
  await thread.shows(/1 of 2 approvals/);
  await thread.click(admin, PLAN, 'approve');
  await expect.poll(async () => (await eventsOf(story)).filter((event) => event === 'voted')).toHaveLength(2);
  expect(await desk.done()).toEqual([]);
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/✅ 1\. Closed ticket T-1/);
  Object.assign(story.workspace.state.users.get(alice) ?? {}, { deleted: true });
  await thread.click(bruno, ALONE, 'approve');
  await thread.shows(/Approval needed: Close ticket T-2/);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000']);
});

test('people to whom a plan was escalated approve its steps too', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: [${alice}], escalate: { after: 1s, to: [${bruno}] }`),
    sweep: SWEEP,
    replies: [propose(close('T-1'), close('T-2')), { text: 'Both closed.' }],
  });
  const thread = story.ask('close both');
  await thread.shows(PLAN);
  await expect.poll(() => eventsOf(story)).toContain('escalated');
  await thread.click(bruno, PLAN, 'approve');
  await thread.shows(/Both closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
});

test('a plan shows the preview of each step, and one that another step has changed is asked again', async () => {
  const story = await startStory({
    manifest: refundsWith(
      'preview: { tool: read_order, input: { orderId: "{{input.orderId}}" }, before: "So far: {{output.refunded}}", after: "And {{input.amount}}" }, approval: { policy: default }',
    ),
    replies: [propose(refund(100), refund(200)), { text: 'Refunded both.' }],
  });
  const thread = story.ask('refund twice');
  const card = await thread.shows(PLAN);
  expect(textIn(card.blocks)).toMatch(/So far: 0[\s\S]*And 100[\s\S]*So far: 0[\s\S]*And 200/);
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/Stopped after 1 of 2 steps/);
  expect(await refunded(story)).toBe(100);
  const anew = await thread.shows(/Approval needed: Refund 200/);
  expect(textIn(anew.blocks)).toMatch(/So far: 0[\s\S]*So far: 100/);
  await thread.click(alice, /Approval needed: Refund 200/, 'approve');
  await thread.shows(/Refunded both\./);
  expect(await refunded(story)).toBe(300);
});

test('a plan whose card cannot show the whole preview of a step is not asked for', async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`).join('\\n');
  const story = await startStory({
    manifest: refundsWith(
      `preview: { tool: read_order, input: { orderId: "{{input.orderId}}" }, before: "{{output.refunded}}", after: "${lines}" }, approval: { policy: default }`,
    ),
    replies: [propose(refund(100), refund(200)), { text: 'One by one, then.' }],
  });
  const thread = story.ask('refund twice');
  await thread.shows(/One by one, then\./);
  expect(story.toldOfCalls().join()).toMatch(/does not fit on one card/);
  expect(await eventsOf(story)).not.toContain('asked');
});

test('a plan neither uses nor replaces what was allowed before', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(
      `grants: { for: 1h, uses: 3, when: "input.customer == 'Acme'" }, approvers: [${alice}, ${bruno}]`,
    ),
    replies: [
      { calls: [{ name: 'close_ticket', arguments: close('T-0').input }] },
      { text: 'Closed one.' },
      propose(close('T-1'), close('T-2', 'Bolt')),
      { text: 'Closed both.' },
    ],
  });
  const first = story.ask('close one');
  const card = await first.shows(/Approval needed/);
  const person = story.workspace.as(alice);
  await person.choose({ channel: first.channel, ts: card.ts }, 'more', 'approve-grant');
  await person.submit((await story.modalFor(alice, /without asking anyone/)).id, {});
  await first.shows(/Closed one\./);
  story.ask('close two', { threadTs: first.ts });
  await first.shows(PLAN);
  expect(await desk.done()).toEqual(['closed T-0']);
  await first.click(alice, PLAN, 'approve');
  await first.shows(/Closed both\./);
  expect(await storeOf(story).listGrants()).toMatchObject([{ used: 0 }]);
});

test('the rest of a plan neither runs nor is asked for while the server of a step waits for an answer', async () => {
  const desk = await openDesk();
  const { manifest, notes } = askingManifest('current', { rule: '{ policy: default }' });
  const story = await startStory({
    manifest: withTools(manifest).replace('  bookings:', '  bookings:\n    reversible: yes'),
    replies: [
      propose(close('T-1'), { tool: 'book_table', input: { day: 'Monday' } }, close('T-2'), close('T-3')),
      { text: 'Booked.' },
    ],
  });
  const thread = story.ask('close, book, close');
  const card = await thread.shows(PLAN);
  expect(textIn(card.blocks)).not.toMatch(/sent without approval/);
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/Input needed: Who is coming\?/);
  await story.deliveredAll();
  const asked = story.repliesIn(thread).filter(({ text }) => /^Approval needed/.test(text));
  expect(asked).toEqual([]);
  await fillIn(story, thread, /Input needed/);
  await approveAnswer(thread);
  await thread.shows(/Booked\./);
  expect(notes().filter((line) => line.startsWith('booked'))).toHaveLength(1);
  expect(await desk.done()).toEqual(['closed T-1']);
  expect(story.toldOfCalls().join('\n')).toMatch(/waits/);
});

test('the rest of a plan neither runs nor is asked for while a call inside a step waits', async () => {
  const desk = await openDesk();
  const workshop = await openWorkshop();
  const inner = await startLocalModel({
    script: [
      { calls: [{ name: 'book_room', arguments: { room: 'Ballroom' } }] },
      { text: 'The room is booked.' },
    ],
  });
  const { arguments: folder } = workshop.call('plan_party');
  const story = await startStory({
    manifest: withTools(
      workshopManifest().replace('workshop-tools.ts,', 'nested-tools.ts, reversible: yes,'),
    ),
    replies: [
      propose(close('T-1'), { tool: 'plan_party', input: { ...folder, url: inner.url } }, close('T-2')),
      { text: 'All set.' },
    ],
  });
  const thread = story.ask('close, party, close');
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/Approval needed: Book room, inside/);
  await story.deliveredAll();
  expect(story.repliesIn(thread).filter(({ text }) => /^Approval needed/.test(text))).toHaveLength(1);
  await thread.click(alice, /Approval needed: Book room, inside/, 'approve');
  await thread.shows(/All set\./);
  await inner.stop();
  expect(await workshop.linesOf('effects')).toEqual(['booked Ballroom']);
  expect(await desk.done()).toEqual(['closed T-1']);
});

test('a plan says in whose account its steps run, and they run there', async () => {
  const write = (text: string) => ({ tool: 'write', input: { text } });
  const story = await startAccountStory({
    replies: [
      { calls: [{ name: 'whoami', arguments: {} }] },
      { text: 'It is you.' },
      propose(write('A'), write('B')),
      { text: 'Written.' },
    ],
    approval: '[{ match: whoami, require: never }, { match: "*", policy: default }]',
    more: { entry: '    reversible: yes' },
  });
  await story.startBot();
  const thread = story.ask('who am I there?');
  await story.connect(thread, 'remi-at-docs');
  await thread.shows(/It is you\./);
  story.ask('write both', { threadTs: thread.ts });
  const card = await thread.shows(PLAN);
  expect(textIn(card.blocks)).toMatch(new RegExp(`docs[\\s\\S]*${remi}`));
  expect(JSON.stringify(card.blocks)).toMatch(/account|in the name/i);
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/Written\./);
  expect(story.mcp.calls.slice(1)).toEqual([
    { tool: 'write', as: 'remi-at-docs' },
    { tool: 'write', as: 'remi-at-docs' },
  ]);
});

test('an idempotent step that is tried again holds nothing, and books its effect once', async () => {
  const desk = await openDesk();
  const workshop = await openWorkshop();
  const { arguments: folder } = workshop.call('coat_part');
  const story = await startStory({
    manifest: withTools(workshopManifest().replace('tools.ts,', 'tools.ts, reversible: yes,')),
    sweep: SWEEP,
    replies: [
      propose(close('T-1'), { tool: 'coat_part', input: folder }, close('T-2')),
      { text: 'All done.' },
    ],
  });
  const thread = story.ask('close, coat, close');
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/All done\./);
  expect(await workshop.linesOf('tries')).toHaveLength(2);
  expect(await workshop.linesOf('effects')).toHaveLength(1);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
  expect((await eventsOf(story)).filter((event) => event === 'voted')).toHaveLength(1);
});

test('nobody who asked approves a plan, nor whose remark was read under a policy that says so', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: [${alice}, ${bruno}, ${admin}], separation: thread`),
    replies: [{ text: 'Which ones?' }, propose(close('T-1'), close('T-2')), { text: 'Both closed.' }],
  });
  const thread = story.ask('close some tickets', { as: bruno });
  await thread.shows(/Which ones\?/);
  story.workspace.as(admin).send(thread.channel, 'T-1 and T-2 are old', { threadTs: thread.ts });
  await story.allReceived();
  story.ask('those two', { threadTs: thread.ts });
  const card = await thread.shows(PLAN);
  for (const person of [remi, bruno]) expect(textIn(card.blocks)).toContain(person);
  for (const person of [remi, bruno, admin]) {
    await thread.click(person, PLAN, 'approve');
    await story.noticeFor(person, /./);
  }
  expect(await desk.done()).toEqual([]);
  // Who speaks while it waits has asked for nothing that is on the card, and changes nothing of it.
  story.ask('and T-3', { as: bruno, threadTs: thread.ts });
  await story.allReceived();
  await thread.click(bruno, PLAN, 'approve');
  expect(await desk.done()).toEqual([]);
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/Both closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
});

test('a plan that nobody decides expires with all of its steps', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: [${alice}], expires: 2s`),
    sweep: SWEEP,
    replies: [stopsHalfway, { text: 'Too late.' }],
  });
  const thread = story.ask('close, pay, close');
  await thread.click(bruno, ALONE, 'approve');
  await thread.shows(/Too late\./);
  expect(await desk.done()).toEqual([]);
  expect((await eventsOf(story)).filter((event) => event === 'expired')).toHaveLength(4);
  expect(story.toldOfCalls().join('\n')).toMatch(/expired/);
});

test('a step that cannot start in time after the approval of its plan is asked again', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: withPolicies(`approvers: [${alice}], start_within: 2s`),
    sweep: SWEEP,
    replies: [stopsHalfway, { text: 'All done.' }],
  });
  const thread = story.ask('close, pay, close');
  await thread.click(alice, PLAN, 'approve');
  await thread.shows(/✅ 1\. Closed ticket T-1/);
  await sleep(2_100);
  await thread.click(bruno, ALONE, 'approve');
  await thread.shows(/Approval needed: Close ticket T-2/);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000']);
  await thread.click(alice, /Approval needed: Close ticket T-2/, 'approve');
  await thread.shows(/All done\./);
  expect(await desk.done()).toEqual(['closed T-1', 'paid Acme 5000', 'closed T-2']);
});

test('a plan is asked by the first times of its proposal and says them, also if its first step ends them', async () => {
  const story = await startStory({
    manifest: refundsWith(
      'approval: [{ when: "first.target || first.pair", policy: two }, { policy: default }]',
    ),
    replies: [propose(refund(100), refund(200)), { text: 'Refunded both.' }],
  });
  const thread = story.ask('refund twice');
  const card = await thread.shows(PLAN);
  expect(textIn(card.blocks)).toMatch(/First refund for this order/);
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  expect(await refunded(story)).toBe(0);
  await thread.click(bruno, PLAN, 'approve');
  await thread.shows(/Refunded both\./);
  expect(await refunded(story)).toBe(300);
});

test('a step that is of high risk as a first time is asked alone', async () => {
  const story = await startStory({
    manifest: refundsWith('approval: { policy: risky }').replace(
      'policies:',
      `policies:\n  risky: { approvers: [${alice}, ${bruno}], confirm: false, risk: "first.target ? 'high' : 'low'", notify: { direct_messages: false } }`,
    ),
    replies: [propose(refund(100), refund(200)), { text: 'I will ask one by one.' }],
  });
  const thread = story.ask('refund twice');
  await thread.shows(/one by one/);
  expect(story.toldOfCalls().at(0)).toMatch(/Fewer than two/);
  expect(await refunded(story)).toBe(0);
});

test('freeze all --model holds the steps of an approved plan, and they go on after it', async () => {
  const desk = await openDesk();
  const story = await startStory({
    manifest: ticketManifest({ agent: `, admins: [${admin}]` }),
    slack: commands,
    sweep: SWEEP,
    timing: { renewMs: 100 },
    replies: [propose(close('T-1'), close('T-2')), { text: 'Both closed.' }],
  });
  const thread = story.ask('close both');
  await thread.shows(PLAN);
  const person = story.workspace.as(admin);
  await person.command('/countersign', 'freeze all --model Stop');
  await story.noticeFor(admin, /The model is frozen too/);
  await thread.click(alice, PLAN, 'approve');
  await expect.poll(() => eventsOf(story)).toContain('held');
  expect(await desk.done()).toEqual([]);
  expect(story.model.requests).toHaveLength(1);
  await person.command('/countersign', 'unfreeze all');
  await thread.shows(/Both closed\./);
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2']);
});

test('with buttons for approvers the card of a plan in the thread has none', async () => {
  await openDesk();
  const story = await startStory({
    manifest: ticketManifest({ agent: ', cards: { buttons: approvers }' }).replaceAll(
      ', notify: { direct_messages: false }',
      '',
    ),
    replies: [propose(close('T-1'), close('T-2')), { text: 'Both closed.' }],
  });
  const thread = story.ask('close both');
  const card = await thread.shows(/planned steps[\s\S]*Approvers decide in their direct messages/);
  expect(actionsIn(card.blocks).toSorted()).toEqual(['details', 'withdraw']);
  await story.directly(alice).click(alice, PLAN, 'approve');
  await thread.shows(/Both closed\./);
});

test('a caller has no plans', async () => {
  const door = await startCalling({
    manifest: WITH_CALLERS.replace('tools: [refund_*,', 'tools: ["*", refund_*,'),
  });
  const plan = { goal: 'Both', steps: [refund(12_000), refund(13_000)] };
  const { code } = await door.send('POST', '/v1/runs', { body: { tool: 'propose_plan', input: plan } });
  expect(code).toBeGreaterThanOrEqual(400);
  expect(code).toBeLessThan(500);
  expect(await door.events()).not.toContain('asked');
});
