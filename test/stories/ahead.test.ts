import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import type { Model } from '../../src/agent/model.ts';
import type { BotParts } from '../../src/bot/bot-parts.ts';
import { vote } from '../../src/bot/decisions/decide.ts';
import { threadIdOf } from '../../src/bot/thread.ts';
import type { FinishAndTakeResult } from '../../src/store/port.ts';
import { CAST, startStory } from './support.ts';

const refund = (amount: number, orderId = 'A-1001') => ({
  name: 'refund_order',
  arguments: { orderId, amount },
});

/** One call that runs unsigned and one that people would be asked about. */
const DROPPED = {
  text: ['Dropped ', 'words. '],
  calls: [refund(500, 'A-1003'), refund(15_000, 'A-1004')],
} satisfies ModelReply;

type Story = Awaited<ReturnType<typeof startStory>>;
type Seen = 'said' | 'answered' | 'failed';

/** The model, and what has been seen of its answers. */
function watched(model: Model): { readonly model: Model; readonly seen: Seen[] } {
  const seen: Seen[] = [];
  const reply: Model['reply'] = async (request) => {
    const onText = (delta: string) => {
      request.onText?.(delta);
      seen.push('said');
    };
    try {
      const given = await model.reply({ ...request, onText });
      seen.push('answered');
      return given;
    } catch (error) {
      seen.push('failed');
      throw error;
    }
  };
  return { seen, model: { name: model.name, reply } };
}

/**
 * A story in which a refund waits for its signature. It is signed with what `finishing` does in place of the finish, which comes when
 * so much of the answer of the model that was asked ahead has been seen; the look at the thread stays fresh however slow the machine is.
 */
async function askedStory(replies: readonly ModelReply[]) {
  const story = await startStory({ replies: [{ calls: [refund(12_000)] }, ...replies], withoutBot: true });
  const { parts } = await story.startOwnBot();
  const thread = story.ask('refund order A-1001');
  await thread.shows(/0 of 1 signed/);
  const { requestIds } = await parts.store.listAsked(CAST.requester, { limit: 1 });
  const [requestId = ''] = requestIds;
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });

  const sign = async (
    until: Seen,
    finishing: (finish: () => Promise<FinishAndTakeResult>) => Promise<FinishAndTakeResult>,
    changes: Partial<BotParts> = {},
  ) => {
    const { model, seen } = watched(parts.model);
    const store: BotParts['store'] = {
      ...parts.store,
      finishAndTake: async (...given) => {
        await expect.poll(() => seen).toContain(until);
        // Whatever would be shown without a wait has reached Slack by then.
        await parts.client.auth.test();
        return finishing(() => parts.store.finishAndTake(...given));
      },
    };
    const click = { who: CAST.alice, id: 'a click' };
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    expect(
      await vote({ ...parts, model, store, logger, ...changes }, requestId, click, 'approve'),
    ).toBeUndefined();
    await parts.turns.workIn(threadIdOf({ channel: thread.channel, threadTs: thread.ts }));
  };
  const logged = () => lines.map((line): unknown => JSON.parse(line));
  return { story, parts, thread, requestId, sign, logged };
}

const repliesWith = (story: Story, thread: ReturnType<Story['ask']>, words: RegExp) =>
  story.repliesIn(thread).filter(({ text }) => words.test(text));

/** Whether anything of the answer that was dropped was ever sent to Slack, or has run. */
async function expectDropped({ workspace, ledger }: Story) {
  expect(JSON.stringify(workspace.calls)).not.toMatch(/Dropped|A-1003|A-1004/);
  expect(await ledger.order('A-1003')).toMatchObject({ refunded: 0 });
  expect(await ledger.order('A-1001')).toMatchObject({ refunded: 12_000 });
}

test('the model is asked once, before the outcome is on record, and heard of only afterwards', async () => {
  const { story, thread, sign, logged } = await askedStory([{ text: ['All ', 'is refunded. '] }]);
  const { workspace } = story;
  await sign('answered', async (finish) => {
    expect(repliesWith(story, thread, /refunded/)).toEqual([]);
    expect(workspace.sessionOf(thread.channel, thread.ts)?.status).toBe('suspended');
    return finish();
  });
  await thread.shows(/All is refunded\./);
  expect(story.toldOfCalls()).toEqual([expect.stringContaining('"refunded":12000')]);
  expect(story.model.requests).toHaveLength(2);
  await workspace.until(() => workspace.sessionOf(thread.channel, thread.ts)?.status === 'active', {
    what: 'an active session',
  });
  expect(repliesWith(story, thread, /refunded\./)).toHaveLength(1);
  expect(logged()).toEqual([]);
});

const ANSWERS: { how: string; until: Seen; reply: ModelReply }[] = [
  { how: 'has answered with words and calls', until: 'answered', reply: DROPPED },
  { how: 'is in the middle of its words', until: 'said', reply: { ...DROPPED, hang: 3 } },
  { how: 'has failed', until: 'failed', reply: { status: 400 } },
];

test.each(ANSWERS)(
  'where somebody speaks before the outcome is on record, and the model $how, that is dropped and what was said is read',
  async ({ until, reply }) => {
    const { story, parts, thread, sign, logged } = await askedStory([
      reply,
      { text: 'As you say.' },
      { text: 'All is said.' },
    ]);
    await sign(until, async (finish) => {
      const said = story.workspace.as(CAST.bruno).say(thread.channel, 'and no more', { threadTs: thread.ts });
      const { reactions } = story.workspace.state.findMessage(thread.channel, said.ts) ?? {};
      await story.workspace.until(() => reactions?.some(({ name }) => name === 'eyes'), {
        what: 'a mark on what was said',
      });
      return finish();
    });
    await thread.shows(/As you say\./);
    expect(story.model.requests).toHaveLength(3);
    expect(story.model.requests.at(-1)?.messages.at(-1)).toMatchObject({ content: 'bruno: and no more' });

    story.ask('anything else?', { threadTs: thread.ts });
    await thread.shows(/All is said\./);
    const history = JSON.stringify(story.model.requests.at(-1)?.messages);
    expect(history.split('As you say.')).toHaveLength(2);
    expect(history).not.toMatch(/Dropped|A-1003|A-1004/);
    expect(repliesWith(story, thread, /As you say\./)).toHaveLength(1);
    expect((await parts.store.listAsked(CAST.requester, { limit: 9 })).requestIds).toHaveLength(1);
    await expectDropped(story);
    expect(logged()).toEqual([]);
  },
);

test('a stop that is typed while the model is asked ahead stops the turn that comes, whatever else it has to read', async () => {
  const { story, thread, sign, logged } = await askedStory([{ ...DROPPED, hang: 3 }]);
  await sign('said', async (finish) => {
    story.ask('stop', { threadTs: thread.ts });
    await expect.poll(() => story.model.abandoned).toHaveLength(1);
    return finish();
  });
  await thread.shows(/Stopped\./);
  expect(story.model.requests).toHaveLength(2);
  await expectDropped(story);
  expect(logged()).toEqual([]);
});

test('where the action was given up meanwhile and another attempt went on from there, the model is heard once, after that one', async () => {
  const { story, parts, thread, requestId, sign, logged } = await askedStory([
    DROPPED,
    { text: 'All is refunded.' },
  ]);
  const finished: FinishAndTakeResult[] = [];
  await sign(
    'answered',
    async (finish) => {
      await expect.poll(() => parts.store.recover(requestId)).not.toEqual({ outcome: 'not-due' });
      await thread.shows(/All is refunded\./);
      const late = await finish();
      finished.push(late);
      return late;
    },
    { timing: { ...parts.timing, silenceMs: 1, beatMs: 3_600_000 } },
  );
  expect(finished).toEqual([{ outcome: 'stale', state: 'succeeded' }]);
  expect(story.model.requests).toHaveLength(3);
  expect(repliesWith(story, thread, /All is refunded\./)).toHaveLength(1);
  await expectDropped(story);
  expect(logged()).toEqual([]);
});

test('where the outcome cannot be put on record, nothing is heard of the model, and the log tells why', async () => {
  const { story, parts, thread, requestId, sign, logged } = await askedStory([DROPPED]);
  await sign('answered', async () => {
    throw new Error('The record is out of reach');
  });
  expect(logged()).toEqual([
    expect.objectContaining({
      level: pino.levels.values.warn,
      requestId,
      err: expect.objectContaining({ message: 'The record is out of reach' }),
      msg: 'an action broke off',
    }),
  ]);
  expect(await parts.store.load(requestId)).toMatchObject({ request: { state: 'started' } });
  expect(repliesWith(story, thread, /\S/)).toHaveLength(1);
  expect(story.model.requests).toHaveLength(2);
  await expectDropped(story);
});

test('where several are signed one after the other, the model is asked once, after the last', async () => {
  const story = await startStory({
    replies: [{ calls: [refund(12_000), refund(11_000, 'A-1003')] }, { text: 'Both are refunded.' }],
  });
  const thread = story.ask('refund both');
  await thread.click(CAST.alice, /Approval needed[\s\S]*12000/, 'approve');
  await thread.shows(/refund_order: succeeded/);
  await thread.click(CAST.alice, /Approval needed[\s\S]*11000/, 'approve');
  await thread.shows(/Both are refunded\./);
  expect(story.model.requests).toHaveLength(2);
});
