import { pino } from 'pino';
import { openAIModel } from '../../src/agent/openai/openai-model.ts';
import { startApprovedAction } from '../../src/bot/actions/start-action.ts';
import { CallbackUrls } from '../../src/bot/callbacks/callback-urls.ts';
import { type BotContext, timingFor } from '../../src/bot/context.ts';
import { castVote } from '../../src/bot/decisions/cast-vote.ts';
import { checkClick } from '../../src/bot/decisions/click.ts';
import { ThreadStatus } from '../../src/bot/reply/thread-status.ts';
import { PendingLimiter } from '../../src/bot/requests/pending-limiter.ts';
import { Directory } from '../../src/bot/slack/directory.ts';
import { parseThreadId } from '../../src/bot/slack/thread.ts';
import { receiveMessage } from '../../src/bot/turns/receive-message.ts';
import { claimAndRunTurn } from '../../src/bot/turns/run-turn.ts';
import { RunningTurns } from '../../src/bot/turns/running-turns.ts';
import { SHARDS, threadOf } from '../../src/store/record/keys.ts';
import { openConnection } from '../../src/store/redis/connect.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { buildHistory } from '../build-history.ts';
import { APPROVER, benchTools, REQUESTER } from './bench-tools.ts';
import { SAID, type Side, type SideOptions } from './side.ts';
import { SilentSlack } from './silent-slack.ts';

let events = 0;

/** The bot's own stories over the real record, with a Slack that answers at once and no engine: who is woken is told apart. */
export function openOurs({ redisUrl, modelUrl, tools }: SideOptions): Side {
  const client = openConnection({ mode: 'single', urls: [redisUrl] });
  const store = openRedisStore({ client });
  const toolbox = benchTools(tools);
  const slack = new SilentSlack('xoxb-bench');
  const logger = pino({ level: 'silent' });
  const { instructions = '', maxSteps, contextBudget, limits } = toolbox.manifest.agent;
  const context: Omit<BotContext, 'model'> = {
    agent: () => ({ instructions, maxSteps, contextBudget, limits }),
    toolbox,
    store,
    client: slack,
    directory: new Directory(slack),
    limiter: new PendingLimiter(store),
    callbacks: new CallbackUrls('http://localhost', 'bench'),
    turns: new RunningTurns(),
    status: new ThreadStatus(slack, logger),
    timing: timingFor(30),
    logger,
  };
  const speaking = (model: string): BotContext => ({
    ...context,
    model: openAIModel({ model, apiKey: 'bench', baseURL: modelUrl }),
  });
  const calling = speaking('caller');
  const answering = speaking('instant');

  return {
    async fill(threadId, messages) {
      const history = buildHistory(messages);
      for (let at = 0; at < history.length; at += 500) {
        await store.enqueue(threadId, { id: `fill-${at}`, body: { user: REQUESTER, text: '' } });
        const taken = await store.claimTurn(threadId, 60_000);
        if (taken.outcome !== 'claimed') throw new Error(`The thread is ${taken.outcome}.`);
        await store.suspend(taken.turn, { messages: history.slice(at, at + 500), read: 1 });
      }
    },

    async pause(threadId) {
      events += 1;
      const message = {
        thread: parseThreadId(threadId),
        ts: `1712345678.${String(events).padStart(6, '0')}`,
        user: REQUESTER,
        text: SAID,
        toBot: true,
      };
      await receiveMessage(calling, message, undefined);
      // What this process has no hand free for is done by whoever the engine wakes.
      await (context.turns.workIn(threadId) ?? claimAndRunTurn(calling, threadId));
    },

    async handleOf(threadId) {
      const [requestId] = await store.waitingIn(threadId);
      if (requestId === undefined) throw new Error('A paused thread waits for nothing.');
      return requestId;
    },

    async resume(requestId) {
      const click = { who: APPROVER, id: `click-${requestId}` };
      const checked = await checkClick(answering, requestId, click);
      const notice = checked.ok
        ? await castVote(answering, checked.request, click, 'approve')
        : checked.notice;
      if (notice !== undefined) throw new Error(`The click of the bench was refused: ${notice}`);
      await (context.turns.workIn(threadOf(requestId) ?? '') ?? startApprovedAction(answering, requestId));
    },

    async deliver() {
      for (let shard = 0; shard < SHARDS; shard += 1) {
        for (const item of await store.claimOutbox(shard, { leaseMs: 60_000, limit: 10_000 })) {
          if (item.kind === 'row') await store.doneRow(item);
          else await store.doneView(item, 1, { channel: 'C0123456789', ts: '1712345678.000001' });
        }
      }
    },

    close: () => store.close(),
  };
}
