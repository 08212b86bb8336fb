import { pino } from 'pino';
import { openAIModel } from '../../src/agent/openai/chat-model.ts';
import type { BotParts } from '../../src/bot/bot-parts.ts';
import { CallbackUrls } from '../../src/bot/callbacks/callback-urls.ts';
import { vote } from '../../src/bot/decisions/decide.ts';
import { hear } from '../../src/bot/hear.ts';
import { Directory } from '../../src/bot/people/directory.ts';
import { PendingBrake } from '../../src/bot/requests/pending-brake.ts';
import { runAction } from '../../src/bot/run-action.ts';
import { RunningTurns } from '../../src/bot/running-turns.ts';
import { takeTurn } from '../../src/bot/take-turn.ts';
import { parseThreadId } from '../../src/bot/thread.ts';
import { timingFor } from '../../src/bot/timing.ts';
import { openConnection } from '../../src/store/connect.ts';
import { SHARDS, threadOf } from '../../src/store/keys.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
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
  const { instructions = '', maxSteps, contextBudget, limits } = toolbox.manifest.agent;
  const parts: Omit<BotParts, 'model'> = {
    agent: () => ({ instructions, maxSteps, contextBudget, limits }),
    toolbox,
    store,
    client: slack,
    directory: new Directory(slack),
    brake: new PendingBrake(store),
    callbacks: new CallbackUrls('http://localhost', 'bench'),
    turns: new RunningTurns(),
    timing: timingFor(30),
    logger: pino({ level: 'silent' }),
  };
  const speaking = (model: string): BotParts => ({
    ...parts,
    model: openAIModel({ model, apiKey: 'bench', baseURL: modelUrl }),
  });
  const calling = speaking('caller');
  const answering = speaking('instant');

  return {
    async fill(threadId, messages) {
      const history = buildHistory(messages);
      for (let at = 0; at < history.length; at += 500) {
        await store.put(threadId, { id: `fill-${at}`, body: { user: REQUESTER, text: '' } });
        const taken = await store.take(threadId, 60_000);
        if (taken.outcome !== 'taken') throw new Error(`The thread is ${taken.outcome}.`);
        await store.suspend(taken.turn, { messages: history.slice(at, at + 500), read: 1 });
      }
    },

    async pause(threadId) {
      events += 1;
      const heard = {
        thread: parseThreadId(threadId),
        ts: `1712345678.${String(events).padStart(6, '0')}`,
        user: REQUESTER,
        text: SAID,
        toBot: true,
      };
      await hear(calling, heard, undefined);
      // What this process has no hand free for is done by whoever the engine wakes.
      await (parts.turns.workIn(threadId) ?? takeTurn(calling, threadId));
    },

    async handleOf(threadId) {
      const [requestId] = await store.waitingIn(threadId);
      if (requestId === undefined) throw new Error('A paused thread waits for nothing.');
      return requestId;
    },

    async resume(requestId) {
      const notice = await vote(answering, requestId, { who: APPROVER, id: `click-${requestId}` }, 'approve');
      if (notice !== undefined) throw new Error(`The click of the bench was refused: ${notice}`);
      await (parts.turns.workIn(threadOf(requestId) ?? '') ?? runAction(answering, requestId));
    },

    async deliver() {
      for (let shard = 0; shard < SHARDS; shard += 1) {
        for (const item of await store.takeOutbox(shard, { leaseMs: 60_000, limit: 10_000 })) {
          if (item.kind === 'row') await store.doneRow(item);
          else await store.doneView(item, 1, { channel: 'C0123456789', ts: '1712345678.000001' });
        }
      }
    },

    close: () => store.close(),
  };
}
