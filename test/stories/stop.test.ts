import { expect, onTestFinished, test } from 'vitest';
import { MESSAGE_VERSION, sealMessage, userMessage } from '../../src/agent/messages.ts';
import { stopAndTell } from '../../src/bot/inbox/stop-thread.ts';
import type { RunningBot } from '../../src/start-bot.ts';
import type { Store } from '../../src/store/port/store.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { startRecordingServer } from '../tools/http/recording-server.ts';
import { CAST, MANIFEST, type Story, startStory, type Thread } from './support.ts';

const { alice, bruno, requester: remi } = CAST;
const manifest = MANIFEST.replace(
  'refund_order: { module: ./examples/shop/tools/refund-order.ts,',
  `refund_order: { module: ./examples/shop/tools/refund-order.ts, title: "Refund {{input.amount | money('USD', 'cents')}}", done: "Refunded {{input.amount | money('USD', 'cents')}}",`,
);
const refund = (amount: number) => ({ name: 'refund_order', arguments: { orderId: 'A-1001', amount } });
const look = { name: 'read_order', arguments: { orderId: 'A-1001' } };

/** Processes that do not learn of a stop when they renew their lease. */
const DEAF = { leaseMs: 600_000, renewMs: 600_000 };
const SWEEP = { everyMs: 100, overdueMs: 0 };

/** Asks for a refund, and returns after the answer of the model: the look-up of its approvers is held up until `goOn`. */
async function askAndHold(story: Story): Promise<{ readonly thread: Thread; readonly goOn: () => void }> {
  const isLookUp = (given: Readonly<Record<string, unknown>>) => given.user === alice;
  const { until, goOn } = gate();
  story.workspace.fail('users.info', { kind: 'held', until }, { when: isLookUp });
  const thread = story.ask('refund it');
  await story.workspace.until(
    () =>
      story.workspace.calls.some(
        ({ method, arguments: given }) => method === 'users.info' && isLookUp(given),
      ),
    { what: 'the look-up of an approver' },
  );
  return { thread, goOn };
}

function gate(): { readonly until: Promise<void>; readonly goOn: () => void } {
  let goOn = () => {};
  const until = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  onTestFinished(goOn);
  return { until, goOn };
}

/** Stops a thread in the process that does not run its turn. */
async function stopElsewhere(bots: readonly RunningBot[], { channel, ts }: Thread, who: string = remi) {
  const threadId = `${channel}:${ts}`;
  const others = bots.filter(({ context }) => !context.turns.threads().includes(threadId));
  expect(others).toHaveLength(bots.length - 1);
  for (const { context } of nonEmpty(others)) expect(await stopAndTell(context, threadId, who)).toBe(true);
}

async function stopped(store: Store, threadId: string): Promise<void> {
  await store.stop(threadId, { who: remi, evidence: {} });
}

/** Leaves a thread as a process does that died: its turn has not ended, may have started a call, and was stopped before, if nothing else is said. */
async function die(
  story: Story,
  { tool, before = stopped }: { tool?: string; before?: typeof stopped } = {},
) {
  const store = openRedisStore({ client: story.redis, prefix: story.prefix });
  const thread = story.ask('do it');
  const threadId = `${thread.channel}:${thread.ts}`;
  const body = { user: remi, text: 'do it', role: 'requester', mention: true };
  await store.enqueue(threadId, { id: thread.ts, body });
  const claimed = await store.claimTurn(threadId, 600_000);
  if (claimed.outcome !== 'claimed') throw new Error(claimed.outcome);
  const { turn } = claimed;
  if (tool !== undefined) {
    const toolRequest = { name: tool, ref: 'call-1', input: {} };
    const asked = userMessage('do it', { user: remi, role: 'requester', ts: thread.ts });
    const called = { toolRequest, idempotencyKey: 'key-1' };
    const answer = sealMessage({ v: MESSAGE_VERSION, role: 'model', content: [called] });
    const run = { run: 'run-1', logged: 0, read: 1, messages: [asked, answer], evidence: {} };
    await store.startEffect(turn, { ref: 'call-1', tool, ...run });
  }
  await before(store, threadId);
  await store.renewLease(turn, 0);
  return { store, thread, threadId };
}

test('a stopped turn says what had already run, by the record; what only reads is not named', async () => {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(500), look] }, { text: ['I refunded ', 'a million'], hang: 2 }],
  });
  const thread = story.ask('refund and tell me');
  await story.workspace.until(() => story.model.requests.length === 2, { what: 'the second call' });
  story.ask('stop', { threadTs: thread.ts });
  const said = await thread.shows(/Stopped\./);
  expect(said.text).toMatch(/Stopped\. Already done: Refunded \$5\.00\.$/);
});

test('a stop of what waits names what it withdrew, what was too late, and what had run', async () => {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(500)] }, { calls: [refund(12_000), refund(13_000)] }, { text: 'What now?' }],
  });
  const thread = story.ask('refund all of it');
  await thread.shows(/Approval needed: Refund \$130\.00/);
  await thread.click(bruno, /Approval needed: Refund \$130\.00/, 'approve');
  await thread.shows(/Done: Refunded \$130\.00/);
  story.workspace.as(alice).send(thread.channel, 'stop', { threadTs: thread.ts });
  await thread.shows(/You have nothing to stop/);
  story.ask('stop', { threadTs: thread.ts });
  const said = await thread.shows(/Stopped\./);
  expect(said.text).toBe(
    'Stopped. Withdrawn: Refund $120.00. Already done: Refunded $5.00; Refunded $130.00.',
  );
  await story.deliveredAll();
  // The model is called when somebody speaks again.
  expect(story.model.requests).toHaveLength(2);
  story.ask('and now?', { threadTs: thread.ts });
  await thread.shows(/What now\?/);
  expect(JSON.stringify(story.repliesIn(thread))).toContain(remi);
});

test('a stop that comes after the answer of the model, and before people are asked, withdraws what they are asked', async () => {
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(12_000)] }],
  });
  const { thread, goOn } = await askAndHold(story);
  story.ask('stop', { threadTs: thread.ts });
  await story.allReceived();
  goOn();
  await thread.shows(/Withdrawn: Refund \$120\.00/);
  await thread.shows(/^Stopped\. Withdrawn: Refund \$120\.00\./);
});

test('a stop that another process receives in that moment withdraws it too, on record, and nobody is asked to approve', async () => {
  const story = await startStory({
    manifest: manifest.replaceAll('notify: { direct_messages: false }', 'notify: { direct_messages: true }'),
    replies: [{ calls: [refund(12_000), refund(13_000)] }],
    timing: DEAF,
    withoutBot: true,
  });
  const bots = [await story.startOwnBot(), await story.startOwnBot()];
  const { thread, goOn } = await askAndHold(story);
  await stopElsewhere(bots, thread);
  goOn();
  await thread.shows(/Withdrawn: Refund \$120\.00/);
  await thread.shows(/Withdrawn: Refund \$130\.00/);
  await thread.shows(/^Stopped\. Withdrawn: Refund \$120\.00; Refund \$130\.00\./);
  await story.deliveredAll();
  expect(JSON.stringify(story.workspace.payloads())).not.toContain('Approval needed');
  const events: string[] = [];
  for await (const { event, detail } of openRedisStore({
    client: story.redis,
    prefix: story.prefix,
  }).exportAudit())
    if (event === 'asked' || event === 'withdrawn') events.push(`${event} ${detail}`);
  expect(events).toEqual(['asked approval', 'asked approval', `withdrawn ${remi}`, `withdrawn ${remi}`]);
});

test('a stop by somebody else leaves the request of the requester open', async () => {
  const story = await startStory({ manifest, replies: [{ calls: [refund(12_000)] }], withoutBot: true });
  const bots = [await story.startOwnBot(), await story.startOwnBot()];
  const { thread, goOn } = await askAndHold(story);
  await stopElsewhere(bots, thread, bruno);
  goOn();
  await thread.shows(/Approval needed: Refund \$120\.00/);
});

test('a call that needs no approval does not start after a stop that another process received', async () => {
  const { until, goOn } = gate();
  const story = await startStory({
    manifest,
    replies: [{ calls: [refund(500)], before: () => until }],
    timing: DEAF,
    withoutBot: true,
  });
  const bots = [await story.startOwnBot(), await story.startOwnBot()];
  const thread = story.ask('refund it');
  await story.workspace.until(() => story.model.requests.length === 1, { what: 'the call of the model' });
  await stopElsewhere(bots, thread);
  goOn();
  const said = await thread.shows(/Stopped\./);
  expect(said.text).toBe('Stopped. Nothing else had run.');
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 0 });
});

test('a stop holds for the process that takes over after the one that received it died; what was written later is answered', async () => {
  const story = await startStory({
    manifest,
    replies: [{ text: 'Good morning.' }],
    sweep: SWEEP,
    withoutBot: true,
  });
  const dead = await die(story);
  await dead.store.enqueue(dead.threadId, {
    id: 'later',
    body: { user: remi, text: 'hi', role: 'requester' },
  });
  await story.startOwnBot();
  await dead.thread.shows(/^Stopped\. Nothing else had run\./);
  await dead.thread.shows(/Good morning\./);
  expect(story.model.requests).toHaveLength(1);
});

test('a stop after the process of the turn died, and before another takes it over, reaches it', async () => {
  const story = await startStory({
    manifest,
    sweep: { everyMs: 600_000, overdueMs: 600_000 },
    withoutBot: true,
  });
  const { thread } = await die(story, {
    async before() {
      await story.startOwnBot();
    },
  });
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/^Stopped\. Nothing else had run\./);
  expect(JSON.stringify(story.workspace.payloads())).not.toContain('nothing to stop');
  // The worker that "stop" wakes finds the stop on record.
  expect(story.model.requests).toEqual([]);
});

test('a call that may have run before the stop is not called off: a person is asked what happened', async () => {
  const server = await startRecordingServer((response) => response.end('{}'));
  onTestFinished(() => server.stop());
  const story = await startStory({
    manifest: `${manifest}  book:
    description: Books.
    effect: idempotent
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { require: never }
`,
    sweep: SWEEP,
    withoutBot: true,
  });
  const dead = await die(story, { tool: 'book' });
  await story.startOwnBot();
  await dead.thread.shows(/Outcome unknown: Book/);
  expect(server.requests).toEqual([]);
});

test('a stop while an approved action runs says what runs and that it cannot be stopped from here', async () => {
  const { until, goOn } = gate();
  const server = await startRecordingServer((response) => void until.then(() => response.end('{}')));
  onTestFinished(() => server.stop());
  const story = await startStory({
    manifest: `${manifest}  book:
    description: Books.
    title: Book it
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { require: always }
`,
    replies: [{ calls: [{ name: 'book', arguments: {} }] }, { text: 'It was booked.' }],
  });
  const thread = story.ask('book it');
  await thread.click(alice, /Approval needed: Book it/, 'approve');
  await story.workspace.until(() => server.requests.length === 1, { what: 'the call' });
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/^This is running and can't be stopped from here: Book it\./);
  goOn();
  await thread.shows(/Done: Book it/);
  await story.deliveredAll();
  expect(story.model.requests).toHaveLength(1);
  story.ask('and?', { threadTs: thread.ts });
  await thread.shows(/It was booked\./);
  expect(JSON.stringify(story.workspace.payloads())).not.toContain('nothing to stop');
});

test('a stop while a call without approval is on its way is answered, and says that nobody knows what became of it', async () => {
  const { until, goOn } = gate();
  const server = await startRecordingServer((response) => void until.then(() => response.end('{}')));
  onTestFinished(() => server.stop());
  const story = await startStory({
    manifest: `${manifest}  book:
    description: Books.
    title: Book it
    http: { method: POST, url: "${server.origin}/book", allow_private: ["127.0.0.1"] }
    approval: { require: never }
`,
    replies: [{ calls: [{ name: 'book', arguments: {} }] }],
  });
  const thread = story.ask('book it');
  await story.workspace.until(() => server.requests.length === 1, { what: 'the call' });
  story.ask('stop', { threadTs: thread.ts });
  await thread.shows(/Outcome unknown: Book it/);
  await thread.shows(/^Stopped\.[\s\S]*Book it/);
  goOn();
  await story.deliveredAll();
  expect(story.model.requests).toHaveLength(1);
});
