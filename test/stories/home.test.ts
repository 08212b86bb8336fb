import { expect, test } from 'vitest';
import { LIMITS } from '../../playground/slack/limits.ts';
import { elementsOf } from '../../playground/slack/state/normalize-blocks.ts';
import type { View } from '../../playground/slack/state/types.ts';
import { countFor } from '../support/count-for.ts';
import { CAST, type Story, startStory } from './support.ts';

const COMMAND = '/countersign';
const slack = { app: { commands: [COMMAND] } };
const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help., limits: { pending_per_thread: 50, pending_per_person: 500 } }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], self_approval: true, notify: { direct_messages: false } }
tools:
  delete_customer: { module: ./examples/shop/tools/delete-customer.ts }
`;

const deleting = (...customers: string[]) => ({
  calls: customers.map((customer) => ({ name: 'delete_customer', arguments: { customer } })),
});

/** The requests that a view offers to look at, and the buttons that turn its pages. */
const linksIn = (blocks: View['blocks']) =>
  blocks
    .flatMap(elementsOf)
    .flatMap(({ action_id, value }) => (action_id === 'home-open' ? [String(value)] : []));

/** The requests of one of the lists, by its title. */
function listIn(home: View, title: string): string[] {
  const from = home.blocks.findIndex((block) => JSON.stringify(block).includes(title));
  const length = home.blocks.slice(from + 1).findIndex(({ type }) => type === 'header');
  return linksIn(home.blocks.slice(from, length === -1 ? undefined : from + 1 + length));
}

async function homeOf(story: Story, who: string, isThere: (home: View) => boolean): Promise<View> {
  return story.workspace.until(
    () => {
      const home = story.workspace.homeOf(who);
      return home !== undefined && isThere(home) ? home : undefined;
    },
    { what: 'App Home' },
  );
}

const PENDING = countFor('HOME_PENDING', { quick: 150, full: 500 });
const A_TURN = 50;

test(`with ${PENDING} pending, App Home has three lists whose pages lead to every request, none over the limits of Slack`, async () => {
  const rounds = Array.from({ length: PENDING / A_TURN }, (_, round) =>
    deleting(...Array.from({ length: A_TURN }, (_each, call) => `customer ${round}-${call}`)),
  );
  const story = await startStory({ manifest, slack, replies: rounds });
  for (const _round of rounds) story.ask('delete them all', { as: CAST.alice });
  await story.workspace.until(({ calls }) => calls.filter(isCard).length >= PENDING, {
    what: 'a card for each',
  });

  story.workspace.as(CAST.bruno).openHome();
  let home = await homeOf(story, CAST.bruno, (view) => listIn(view, 'Waiting for you').length > 0);
  const seen = new Set(listIn(home, 'Waiting for you'));
  while (JSON.stringify(home.blocks).includes('home-page:waiting:next')) {
    const before = JSON.stringify(home.blocks);
    await story.workspace.as(CAST.bruno).click({ viewId: home.id }, 'home-page:waiting:next');
    home = await homeOf(story, CAST.bruno, (view) => JSON.stringify(view.blocks) !== before);
    for (const id of listIn(home, 'Waiting for you')) seen.add(id);
  }
  expect(seen.size).toBe(PENDING);
  expect(listIn(home, 'Requested by you')).toEqual([]);
  await story.workspace.as(CAST.bruno).click({ viewId: home.id }, 'home-page:waiting:first');
  await homeOf(story, CAST.bruno, (view) => !JSON.stringify(view.blocks).includes('Back to the first'));
  story.workspace.as(CAST.alice).openHome();
  await homeOf(story, CAST.alice, (view) => listIn(view, 'Requested by you').length === 5);

  const published = story.workspace.calls.filter(({ method }) => method === 'views.publish');
  expect(published.length).toBeGreaterThan(PENDING / 10);
  expect(published.filter(({ response }) => response.ok !== true)).toEqual([]);
});

const isCard = (call: {
  method: string;
  response: Record<string, unknown>;
  arguments: Record<string, unknown>;
}) => call.method === 'chat.postMessage' && call.response.ok === true && call.arguments.blocks !== undefined;

test('from App Home one looks at a request and signs it there, and Home shows that it is decided', async () => {
  const story = await startStory({
    manifest,
    slack,
    replies: [deleting('Ines Marr'), { text: 'She is gone.' }],
  });
  const thread = story.ask('delete Ines');
  await thread.shows(/Approval needed/);
  story.workspace.as(CAST.alice).openHome();
  const home = await homeOf(story, CAST.alice, (view) => listIn(view, 'Waiting for you').length === 1);
  await story.workspace.as(CAST.alice).click({ viewId: home.id }, 'home-open');
  const modal = await story.modalFor(CAST.alice, /Ines Marr/);
  await story.workspace.as(CAST.alice).click({ viewId: modal.id }, 'approve');

  await thread.shows(/She is gone\./);
  await story.modalFor(CAST.alice, /· (Approved|Running|Done)/);
  await homeOf(story, CAST.alice, (view) => listIn(view, 'Waiting for you').length === 0);
  expect(await story.ledger.order('A-1003')).toBeUndefined();
});

test('from App Home one rejects with a reason, and Home shows that it is decided', async () => {
  const story = await startStory({
    manifest,
    slack,
    replies: [deleting('Ines Marr'), { text: 'She stays.' }],
  });
  const thread = story.ask('delete Ines');
  await thread.shows(/Approval needed/);
  story.workspace.as(CAST.bruno).openHome();
  const home = await homeOf(story, CAST.bruno, (view) => listIn(view, 'Waiting for you').length === 1);
  await story.workspace.as(CAST.bruno).click({ viewId: home.id }, 'home-open');
  const modal = await story.modalFor(CAST.bruno, /Ines Marr/);
  await story.workspace.as(CAST.bruno).click({ viewId: modal.id }, 'reject');
  const why = await story.modalFor(CAST.bruno, /You're about to reject/);
  await story.workspace.as(CAST.bruno).submit(why.id, { reason: 'She still pays.' });

  await thread.shows(/She stays\./);
  const settled = await homeOf(story, CAST.bruno, (view) => listIn(view, 'Waiting for you').length === 0);
  expect(listIn(settled, 'Recent')).toHaveLength(1);
  expect(await story.ledger.order('A-1003')).toBeDefined();
});

test('with three full lists the slash command gives one message that Slack takes and says what else there is, and App Home has a page of each', async () => {
  const waiting = Array.from({ length: 12 }, (_, call) => `waiting ${call}`);
  const decided = Array.from({ length: 12 }, (_, call) => `decided ${call}`);
  const story = await startStory({ manifest, slack, replies: [deleting(...decided, ...waiting)] });
  const thread = story.ask('delete them', { as: CAST.alice });
  for (const customer of decided)
    await thread.click(CAST.alice, new RegExp(`Approval needed[\\s\\S]*${customer}\\b`), 'approve');
  for (const customer of waiting) await thread.shows(new RegExp(`Approval needed[\\s\\S]*${customer}\\b`));

  const person = story.workspace.as(CAST.alice);
  await person.command(COMMAND);
  const all = await story.noticeFor(CAST.alice, /Your requests/);
  const shown = JSON.stringify(all.blocks);
  expect(shown).toMatch(/Waiting for you[\s\S]*Requested by you[\s\S]*Recent[\s\S]*more in the Home tab/);
  expect(all.blocks.length).toBeLessThanOrEqual(LIMITS.messageBlocks);
  expect(linksIn(all.blocks)).toHaveLength(15);

  person.openHome();
  const home = await homeOf(story, CAST.alice, (view) => linksIn(view.blocks).length === 20);
  expect(home.blocks.length).toBeLessThanOrEqual(LIMITS.viewBlocks);

  await person.command(COMMAND, 'waiting');
  const one = await story.workspace.until(() =>
    story.workspace.ephemeralsFor(CAST.alice).find(({ blocks }) => linksIn(blocks).length === 10),
  );
  const [first = ''] = linksIn(one.blocks);
  await person.click({ channel: one.channel, ts: one.ts }, 'home-open', { value: first });
  await story.modalFor(CAST.alice, /delete_customer/);
  await person.command(COMMAND, 'nonsense');
  await story.noticeFor(CAST.alice, /^Try one of these:[\s\S]*`\/countersign grants`/);
});

test('what I have approved waits for others and not for me, rows have titles, and the command takes capitals', async () => {
  const story = await startStory({
    manifest: manifest
      .replace('default: {', 'default: { quorum: 2,')
      .replace('delete-customer.ts }', "delete-customer.ts, title: 'Delete {{input.customer}}' }"),
    slack,
    replies: [deleting('Ines Marr')],
  });
  const thread = story.ask('delete Ines');
  await thread.shows(/Approval needed: Delete "Ines Marr"/);
  story.workspace.as(CAST.alice).openHome();
  const home = await homeOf(story, CAST.alice, (view) => listIn(view, 'Waiting for you').length === 1);
  expect(JSON.stringify(home.blocks)).toContain('🟡 Delete \\"Ines Marr\\"');
  await thread.click(CAST.alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  story.workspace.as(CAST.alice).openHome();
  const after = await homeOf(story, CAST.alice, (view) => listIn(view, 'Waiting for you').length === 0);
  expect(JSON.stringify(after.blocks)).toContain("You're all caught up.");
  await story.workspace.as(CAST.bruno).command('/countersign', 'Waiting');
  await story.noticeFor(CAST.bruno, /Your requests/);
});

test('an admin sees on App Home which tools are missing, and nobody else does', async () => {
  const { admin, alice } = CAST;
  const story = await startStory({
    manifest: `
agent: { admins: [${admin}] }
policies:
  default: { approvers: [${alice}] }
tools:
  gone: { module: ./gone.mjs }
`,
  });
  for (const who of [admin, alice]) story.workspace.as(who).openHome();
  const seen = await homeOf(story, admin, () => true);
  expect(JSON.stringify(seen.blocks)).toMatch(/1 problem with tools[\s\S]*gone[\s\S]*countersign doctor/);
  const other = await homeOf(story, alice, () => true);
  expect(JSON.stringify(other.blocks)).not.toMatch(/gone|with tools/);
});

test('what a person has edited does not wait for them, and a row of high risk has one mark', async () => {
  const story = await startStory({
    manifest: `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], risk: high, notify: { direct_messages: false } }
tools:
  delete_customer: { module: ./examples/shop/tools/delete-customer.ts }
`,
    replies: [deleting('Tomo Arai')],
  });
  const thread = story.ask('delete Tomo');
  await thread.click(CAST.alice, /Approval needed/, 'edit');
  const modal = await story.modalFor(CAST.alice);
  await story.workspace.as(CAST.alice).submit(modal.id, { 'field-0': 'Hooper Ltd' });
  await thread.shows(/edited by/);
  for (const who of [CAST.alice, CAST.bruno]) story.workspace.as(who).openHome();
  const home = await homeOf(story, CAST.bruno, ({ blocks }) =>
    JSON.stringify(blocks).includes('Waiting for you (1)'),
  );
  const row = JSON.stringify(home.blocks).split('Recent')[0] ?? '';
  expect(row.match(/🔴/g)).toHaveLength(1);
  expect(row).not.toContain('🟡');
  const own = await homeOf(story, CAST.alice, ({ blocks }) =>
    JSON.stringify(blocks).includes('Waiting for you'),
  );
  expect(JSON.stringify(own.blocks)).toContain("You're all caught up.");
});
