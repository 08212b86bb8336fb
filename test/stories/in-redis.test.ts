import { expect, test } from 'vitest';
import { manifest, startGoverned } from './governed.ts';
import { close, openDesk, propose, ticketManifest } from './planning.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

const KINDS = ['run', 'ask'] as const;
const OF_THREADS = /^(thread|log|inbox|seen|round|files):/;

/** The ids of the Runs and of the Asks that Redis holds. */
async function held(story: Pick<Awaited<ReturnType<typeof startStory>>, 'prefix' | 'redis'>) {
  const start = `{${story.prefix}}:`;
  const keys = await story.redis.keys(`${start}*`);
  const [runs, asks] = KINDS.map((kind) => keys.filter((key) => key.startsWith(`${start}${kind}:`)));
  return { runs: runs ?? [], asks: asks ?? [] };
}

test('an approved action is one Run and one Ask; the Run says how far the call is, the Ask what people said', async () => {
  const story = await startStory({
    replies: [
      { calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount: 12_000 } }] },
      { text: 'Refunded.' },
    ],
  });
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Approval needed/);
  const { runs, asks } = await held(story);
  expect([runs, asks]).toMatchObject([{ length: 1 }, { length: 1 }]);
  const [run = '', ask = ''] = [...runs, ...asks];
  expect(await story.redis.hmget(run, 'tool', 'state')).toEqual(['refund_order', 'waiting']);
  expect(await story.redis.hmget(ask, 'kind', 'state')).toEqual(['approval', 'open']);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/Refunded\./);
  expect(await held(story)).toEqual({ runs, asks });
  expect(await story.redis.hmget(run, 'state', 'attempts')).toEqual(['succeeded', '1']);
  expect(await story.redis.hget(ask, 'state')).toBe('approved');
});

test('a call that needs no approval is one Run, without an Ask', async () => {
  const workshop = await openWorkshop();
  const story = await startStory({
    manifest: workshopManifest().replace('approval: { policy: default }', 'approval: { require: never }'),
    replies: [{ calls: [workshop.call('press_part')] }, { text: 'Pressed.' }],
  });
  await story.ask('make a part').shows(/Pressed\./);
  const { runs, asks } = await held(story);
  expect([runs.length, asks.length]).toEqual([1, 0]);
  expect(await story.redis.hmget(runs[0] ?? '', 'tool', 'state')).toEqual(['press_part', 'succeeded']);
});

test('a question is an Ask about no Run', async () => {
  const story = await startStory({
    replies: [{ calls: [{ name: 'ask_question', arguments: { question: 'Which order?' } }] }],
  });
  await story.ask('refund').shows(/Which order\?/);
  const { runs, asks } = await held(story);
  expect([runs.length, asks.length]).toEqual([0, 1]);
});

test('a plan of five steps is five Runs and one Ask, before people decide and after', async () => {
  const desk = await openDesk();
  const tickets = ['T-1', 'T-2', 'T-3', 'T-4', 'T-5'];
  const story = await startStory({
    manifest: ticketManifest(),
    replies: [propose(...tickets.map((ticket) => close(ticket))), { text: 'All closed.' }],
  });
  const thread = story.ask('close the five tickets');
  await thread.shows(/5 (of \d )?planned steps/);
  const before = await held(story);
  expect([before.runs.length, before.asks.length]).toEqual([5, 1]);
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await thread.shows(/All closed\./);
  expect(await desk.done()).toHaveLength(5);
  const { runs, asks } = await held(story);
  expect([runs.toSorted(), asks]).toEqual([before.runs.toSorted(), before.asks]);
  const [ask = ''] = asks;
  const plan = ask.slice(ask.indexOf('ask:') + 'ask:'.length);
  const rows = await Promise.all(runs.map((run) => story.redis.hgetall(run)));
  const places = rows.map(({ plan: of, number, state, tool }) => [number, of, state, tool]).toSorted();
  expect(places).toEqual(tickets.map((_, index) => [`${index + 1}`, plan, 'succeeded', 'close_ticket']));
  // What people said is on record once.
  expect(
    rows.flatMap((row) => Object.keys(row).filter((field) => /^(vote:|principals$)/.test(field))),
  ).toEqual([]);
  expect(await story.redis.hget(ask, 'state')).toBe('approved');
});

test('a change of policies is one Run and one Ask, and no thread', async () => {
  const { start, click, prefix, redis } = await startGoverned();
  const process = await start(manifest(2));
  process.write(manifest(1));
  await click(CAST.alice, 'approve');
  await expect.poll(() => process.quorum()).toBe(1);
  const { runs, asks } = await held({ prefix, redis });
  expect([runs.length, asks.length]).toEqual([1, 1]);
  const [run = '', ask = ''] = [...runs, ...asks];
  expect(await redis.hmget(run, 'tool', 'from', 'state')).toEqual([
    'apply_manifest',
    'manifest',
    'succeeded',
  ]);
  expect(await redis.hmget(ask, 'kind', 'state')).toEqual(['approval', 'approved']);
  // Its end has been seen to, and nothing but the record waits.
  const timers = () => redis.zrange(`{${prefix}}:timers`, '0', '-1');
  await expect.poll(timers).toEqual([`purge|${run.slice(`{${prefix}}:run:`.length)}`]);
  const keys = await redis.keys(`{${prefix}}:*`);
  expect(keys.filter((key) => OF_THREADS.test(key.slice(`{${prefix}}:`.length)))).toEqual([]);
});
