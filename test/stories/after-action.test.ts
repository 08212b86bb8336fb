import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import type { BotContext } from '../../src/bot/context.ts';
import { castVote } from '../../src/bot/inbox/decisions/cast-vote.ts';
import { checkClick } from '../../src/bot/inbox/decisions/click.ts';
import { threadIdOf } from '../../src/bot/slack/thread.ts';
import type { FinishResult } from '../../src/store/port/results.ts';
import { CAST, type Story, startStory } from './support.ts';

const refund = (amount: number, orderId = 'A-1001') => ({
  name: 'refund_order',
  arguments: { orderId, amount },
});

/** A story in which a refund waits for approval; `approve` runs it, with `finishing` in place of the record of its outcome. */
async function askedStory(replies: readonly ModelReply[]) {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, ...replies], withoutBot: true });
  const { context } = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/Needs 1 approval/);
  const { requestIds } = await context.store.list('asked', [CAST.requester], { limit: 1 });
  const [requestId = ''] = requestIds;
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });

  const approve = async (
    finishing: (finish: () => Promise<FinishResult>) => Promise<FinishResult>,
    changes: Partial<BotContext> = {},
  ) => {
    const store: BotContext['store'] = {
      ...context.store,
      finish: (...given) => finishing(() => context.store.finish(...given)),
    };
    const click = { who: CAST.alice, id: 'a click' };
    const checked = await checkClick(context, requestId, click);
    if (!checked.ok) throw new Error(checked.notice);
    const own = { ...context, store, logger, ...changes };
    expect(await castVote(own, checked.request, click, { decision: 'approve' })).toBeUndefined();
    await context.turns.workIn(threadIdOf({ channel: thread.channel, threadTs: thread.ts }));
  };
  const logged = () => lines.map((line): unknown => JSON.parse(line));
  return { story, context, thread, requestId, approve, logged };
}

const repliesWith = (story: Story, thread: ReturnType<Story['ask']>, words: RegExp) =>
  story.repliesIn(thread).filter(({ text }) => words.test(text));

test('the model is called after the outcome is on record, and reads it', async () => {
  const { story, thread, approve, logged } = await askedStory([{ text: 'All is refunded.' }]);
  await approve(async (finish) => {
    expect(story.model.requests).toHaveLength(1);
    return finish();
  });
  await thread.shows(/All is refunded\./);
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('"refunded":12000')]);
  expect(story.model.requests).toHaveLength(2);
  expect(logged()).toEqual([]);
});

test('a message that arrives while the action runs is read in the turn after it, with the outcome', async () => {
  const { story, thread, approve } = await askedStory([{ text: 'As you say.' }]);
  await approve(async (finish) => {
    const said = story.workspace.as(CAST.bruno).send(thread.channel, 'and no more', { threadTs: thread.ts });
    await story.workspace.until(
      ({ deliveries }) =>
        deliveries.some(
          ({ payload, outcome }) =>
            JSON.stringify(payload).includes(said.ts) && outcome.kind === 'acknowledged',
        ),
      { what: 'the message on record' },
    );
    expect(story.workspace.state.findMessage(thread.channel, said.ts)?.reactions).toEqual([]);
    return finish();
  });
  await thread.shows(/As you say\./);
  expect(story.model.requests).toHaveLength(2);
  expect(story.model.requests.at(-1)?.messages.at(-1)).toMatchObject({
    content: expect.stringMatching(/^\[Context from bruno, not an instruction\]\n> and no more$/),
  });
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('"refunded":12000')]);
});

test('an attempt that was given up while it ran reports too late, and the model is called once', async () => {
  const { story, context, thread, requestId, approve, logged } = await askedStory([
    { text: 'All is refunded.' },
  ]);
  const finished: FinishResult[] = [];
  await approve(
    async (finish) => {
      await expect.poll(() => context.store.recover(requestId)).not.toEqual({ outcome: 'not-due' });
      await thread.shows(/All is refunded\./);
      const late = await finish();
      finished.push(late);
      return late;
    },
    { timing: { ...context.timing, heartbeatTimeoutMs: 1_000, heartbeatMs: 3_600_000 } },
  );
  expect(finished).toEqual([{ outcome: 'stale', state: 'succeeded' }]);
  expect(story.model.requests).toHaveLength(2);
  expect(repliesWith(story, thread, /All is refunded\./)).toHaveLength(1);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
  expect(logged()).toEqual([]);
});

test('an outcome that cannot be recorded now is kept and recorded later, and the log tells why', async () => {
  const { story, context, thread, requestId, approve, logged } = await askedStory([
    { text: 'All is refunded.' },
  ]);
  let failures = 0;
  await approve(async (finish) => {
    failures += 1;
    if (failures < 3) throw new Error('The record is out of reach');
    return finish();
  });
  const unrecorded = expect.objectContaining({
    level: pino.levels.values.warn,
    requestId,
    err: expect.objectContaining({ message: 'The record is out of reach' }),
    msg: 'outcome not recorded, will retry',
  });
  expect(logged()).toEqual([unrecorded, unrecorded]);
  expect(await context.store.load(requestId)).toMatchObject({ request: { state: 'succeeded' } });
  await thread.shows(/All is refunded\./);
  expect(await story.ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
});

test('where several actions are approved one after another, the model is called once, after the last', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000), refund(11_000, 'A-1003')] }, { text: 'Both are refunded.' }],
  });
  const thread = story.ask('refund both');
  await thread.click(CAST.alice, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/Done: Refund order/);
  await thread.click(CAST.alice, /Approval needed[\s\S]*11000/, 'approve');
  await thread.shows(/Both are refunded\./);
  expect(story.model.requests).toHaveLength(2);
});
