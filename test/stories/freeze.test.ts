import { expect, test } from 'vitest';
import { runCommandLine } from '../../src/commands/run-command-line.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { CAST, MANIFEST, type Story, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const slack = { app: { commands: ['/countersign'] } };
const SWEEP = { everyMs: 100, overdueMs: 0 };
const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'damaged' } }],
});
const manifest = MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}],`);

const command = (story: Story, who: string, text: string) =>
  story.workspace.as(who).command('/countersign', text);

async function eventsOf({ redis, prefix }: Story): Promise<string[]> {
  const events: string[] = [];
  for await (const { event } of openRedisStore({ client: redis, prefix }).exportAudit()) events.push(event);
  return events;
}

test('while actions are frozen nothing starts, approved or not, in any process; after that, what was approved runs once', async () => {
  const story = await startStory({
    manifest,
    slack,
    sweep: SWEEP,
    replies: [refund(20_000), refund(500), { text: 'It is frozen.' }, { text: 'Refunded.' }],
  });
  const large = story.ask('refund 200 euros');
  await large.shows(/Approval needed/);
  await command(story, CAST.alice, 'freeze');
  await story.noticeFor(CAST.alice, /Only admins/);
  await command(story, CAST.admin, 'freeze all Refunds look <@U0BAD> wrong');
  await story.noticeFor(
    CAST.admin,
    /Frozen: all actions\. Nothing new starts until it's unfrozen\. Nothing is running/,
  );
  await large.shows(
    /Frozen: no action starts until it's unfrozen\. Approvals still count\. Reason: Refunds look/,
  );

  await large.click(CAST.alice, /Approval needed/, 'approve');
  await large.shows(/On hold: actions are frozen/);
  await story.startOwnBot();
  const small = story.ask('refund 5 euros');
  await small.shows(/did not run|It is frozen/);
  await small.shows(/It is frozen\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/Actions are frozen\./);
  expect((await story.ledger.order('A-1001'))?.refunded ?? 0).toBe(0);
  story.workspace.as(CAST.alice).openHome();
  await story.workspace.until(
    () => JSON.stringify(story.workspace.homeOf(CAST.alice)?.blocks ?? []).includes('"Frozen"'),
    {
      what: 'the freeze in App Home',
    },
  );

  await command(story, CAST.admin, 'unfreeze');
  await story.noticeFor(CAST.admin, /Unfrozen: all actions/);
  await large.shows(/Refunded\./);
  const events = await eventsOf(story);
  expect(events.filter((event) => event === 'started')).toHaveLength(1);
  expect(events).toEqual(expect.arrayContaining(['frozen', 'held', 'denied', 'unfreeze-voted', 'unfrozen']));
});

test('an approval that has gone stale while it was on hold is asked anew', async () => {
  const story = await startStory({ manifest, slack, sweep: SWEEP, replies: [refund(20_000)] });
  const thread = story.ask('refund 200 euros');
  await thread.shows(/Approval needed/);
  await command(story, CAST.admin, 'freeze');
  await thread.shows(/Frozen: no action starts/);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/On hold: actions are frozen/);
  for (const key of await story.redis.keys(`{${story.prefix}}:ask:*`))
    await story.redis.hset(key, 'decided_at', 1);
  await command(story, CAST.admin, 'unfreeze');
  await thread.shows(/couldn't start in time, so it needs a new approval/);
  await thread.shows(/Approval needed: /);
  expect(await eventsOf(story)).not.toContain('started');
});

test('a freeze of one tool names what runs, leaves other tools alone, and ends when as many approvers want it as the manifest says', async () => {
  const workshop = await openWorkshop();
  const rule = `agent: { admins: [${CAST.admin}], unfreeze: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2 },`;
  const story = await startStory({
    manifest: workshopManifest()
      .replace('agent: {', rule)
      .replace('{ policy: default }', '{ require: never }'),
    slack,
    replies: [
      { calls: [workshop.call('press_part')] },
      { calls: [workshop.call('stamp_part')] },
      { text: 'Stamped.' },
      { text: 'Pressed.' },
      { calls: [workshop.call('press_part')] },
      { text: 'Not pressed.' },
      { calls: [workshop.call('press_part')] },
      { text: 'Pressed again.' },
    ],
  });
  await workshop.hold('after');
  const running = story.ask('press');
  await workshop.has(1, 'effects');
  await command(story, CAST.admin, 'freeze press_part Jammed.');
  await story.noticeFor(
    CAST.admin,
    /Frozen: “Press part”\..* 1 action still running, and will finish: Press part\./,
  );
  await workshop.release('after');
  await story.ask('stamp').shows(/Stamped\.|Pressed\./);
  await running.shows(/Stamped\.|Pressed\./);
  const refused = story.ask('press once more');
  await refused.shows(/Not pressed\./);
  expect(story.toldOfCalls().at(-1)).toMatch(/Actions are frozen\. Reason: Jammed\./);

  await command(story, CAST.admin, 'unfreeze press_part');
  await story.noticeFor(CAST.admin, /0 of 2 approvals to unfreeze “Press part”/);
  await story.directly(CAST.alice).click(CAST.alice, /Unfreeze .*0 of 2 approvals/, 'unfreeze');
  await story.noticeFor(CAST.alice, /1 of 2 approvals to unfreeze/);
  await story.directly(CAST.alice).click(CAST.alice, /Unfreeze .*0 of 2 approvals/, 'unfreeze');
  await command(story, CAST.requester, 'unfreeze press_part');
  await story.noticeFor(CAST.requester, /You can't unfreeze actions/);
  expect(await eventsOf(story)).not.toContain('unfrozen');
  await story.directly(CAST.bruno).click(CAST.bruno, /Unfreeze .*0 of 2 approvals/, 'unfreeze');
  await story.noticeFor(CAST.bruno, /Unfrozen: “Press part”/);
  await story.ask('press').shows(/Pressed again\./);
  expect(await workshop.linesOf('effects')).toHaveLength(3);
});

test('a freeze of one tool changes no card of another: Slack takes few updates, and a click waits behind them', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest: workshopManifest().replace('agent: {', `agent: { admins: [${CAST.admin}],`),
    slack,
    replies: [{ calls: [workshop.call('press_part'), workshop.call('stamp_part')] }],
  });
  const thread = story.ask('press and stamp');
  await thread.shows(/Approval needed: Press part/);
  const { ts } = await thread.shows(/Approval needed: Stamp part/);
  await command(story, CAST.admin, 'freeze press_part Jammed.');
  await thread.shows(/Approval needed: Press part[\s\S]*Jammed/);
  await thread.click(CAST.alice, /Approval needed: Stamp part/, 'approve');
  await thread.shows(/Done: Stamp part/);
  const drawn = story.workspace.calls.filter(
    ({ method, arguments: given }) => method === 'chat.update' && given.ts === ts,
  );
  expect(drawn.filter(({ arguments: given }) => `${given.text}`.includes('Approval needed'))).toEqual([]);
});

test('a mistyped tool freezes nothing, and an admin is told which one was probably meant', async () => {
  const story = await startStory({ manifest, slack });
  await command(story, CAST.alice, 'freeze refund_ordr');
  await story.noticeFor(CAST.alice, /Only admins/);
  await command(story, CAST.admin, 'freeze refund_ordr Jammed.');
  await story.noticeFor(
    CAST.admin,
    /^Nothing is frozen: there is no tool "refund_ordr"; did you mean "refund_order"\? To freeze everything, use/,
  );
  expect(await eventsOf(story)).toEqual([]);
});

test('the other admins are told who froze and unfroze', async () => {
  const admins = MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}, ${CAST.bruno}],`);
  const story = await startStory({ manifest: admins, slack });
  await command(story, CAST.admin, 'freeze all Wrong sums');
  await story.directly(CAST.bruno).shows(/Frozen: all actions\. Reason: Wrong sums\. By <@U0ADMIN004>/);
  await command(story, CAST.admin, 'unfreeze');
  await story.directly(CAST.bruno).shows(/Unfrozen: all actions\. By <@U0ADMIN004>/);
});

test('a mistyped tool ends no freeze, and the person is told which ones hold', async () => {
  const story = await startStory({ manifest, slack });
  const [notFrozen, frozen] = [
    /Nothing is frozen/,
    /No freeze has that name\. Frozen: all actions, “Read order”/,
  ];
  await command(story, CAST.admin, 'unfreeze refund_ordr');
  await story.noticeFor(CAST.admin, notFrozen);
  await command(story, CAST.admin, 'freeze');
  await story.noticeFor(CAST.admin, /^Frozen: all actions/);
  await command(story, CAST.admin, 'freeze read_order');
  await story.noticeFor(CAST.admin, /^Frozen: “Read order”/);
  await command(story, CAST.admin, 'unfreeze refund_ordr');
  await story.noticeFor(CAST.admin, frozen);
  expect(await eventsOf(story)).toEqual(['frozen', 'frozen']);
  await command(story, CAST.admin, 'unfreeze');
  await story.noticeFor(CAST.admin, /^Unfrozen: all actions/);
});

test('an operator freezes and unfreezes at a terminal, on record by name, and pending says what is frozen', async () => {
  const story = await startStory({
    manifest,
    slack,
    sweep: SWEEP,
    replies: [refund(20_000), { text: 'Refunded.' }],
  });
  const [url] = story.setup.settings.redis.urls;
  const said: string[] = [];
  const terminal = (...argv: string[]) =>
    runCommandLine(argv, {
      environment: { REDIS_URL: url },
      write: async (text) => void said.push(text),
      writeError: async (text) => void said.push(text),
      prefix: story.prefix,
    });
  const thread = story.ask('refund 200 euros');
  await thread.shows(/Approval needed/);
  expect(await terminal('freeze', 'refund_order', '--reason', 'Jammed', '--as', 'ann')).toBe(0);
  expect(said.join('')).toMatch(/Frozen: “Refund order”/);
  await thread.shows(/Frozen: this action does not start/);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/On hold: this action is frozen/);
  expect(await terminal('pending')).toBe(0);
  expect(said.join('')).toContain('frozen: refund_order by operator:ann: Jammed');
  expect(await terminal('unfreeze', '--reason', 'Wrong scope', '--as', 'ann')).toBe(1);
  expect(await terminal('unfreeze', 'refund_order', '--reason', 'Mended', '--as', 'ann')).toBe(0);
  await thread.shows(/Refunded\./);
});
