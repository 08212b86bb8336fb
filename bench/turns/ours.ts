import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openAIModel } from '../../src/agent/openai-model.ts';
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
import { threadOf } from '../../src/store/keys.ts';
import { openRedisStore } from '../../src/store/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse-manifest.ts';
import { openToolbox } from '../../src/tools/open-toolbox.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { buildHistory } from '../support/history.ts';
import { INSTRUCTIONS, REFUND_TOOL, REQUEST_TEXT } from '../support/refund.ts';
import type { Side } from './side.ts';
import { SilentSlack } from './silent-slack.ts';

const APPROVER = 'U0000ALICE';
const REQUESTER = 'U0000RITA';
const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent:
  instructions: ${INSTRUCTIONS}
  limits: { pending_per_person: 10000000 }
  built_ins: { ask_question: false, request_form: false, wait_for_callback: false, complete_task: false }
policies:
  default: { approvers: [${APPROVER}], expires: 4h, remind: 1h, direct_messages: false }
tools:
  ${REFUND_TOOL.name}: { module: ./refund-tool.js, approval: { policy: default, when: "input.amount > 1000" } }
`;

let events = 0;

/**
 * Opens the bot's own turns, decisions and actions on the real record, with a Slack that answers at once and without a queue.
 * This is the only file of the bench that knows the inside of the bot.
 */
export async function openOurs(servers: {
  readonly redisUrl: string;
  readonly modelUrl: string;
}): Promise<Side> {
  const { redisUrl, modelUrl } = servers;
  const parsed = parseManifest(MANIFEST, { file: 'bench.yml', environment: {} });
  if (!parsed.ok) throw new Error(`The manifest of the bench is invalid: ${JSON.stringify(parsed)}`);
  const logger = pino({ level: 'silent' });
  const toolbox = await openToolbox(parsed.manifest, {
    folder: fileURLToPath(new URL('../support', import.meta.url)),
    secrets: new Secrets(),
    log: logger,
  });
  if (toolbox.problems().length > 0) throw new Error(toolbox.problems().join('\n'));
  const store = openRedisStore({ client: openConnection({ mode: 'single', urls: [redisUrl] }) });
  const slack = new SilentSlack('xoxb-bench');
  const { instructions = '', maxSteps, contextBudget, limits } = toolbox.manifest.agent;
  const common: Omit<BotParts, 'model'> = {
    agent: () => ({ instructions, maxSteps, contextBudget, limits }),
    toolbox,
    services: {},
    store,
    client: slack,
    directory: new Directory(slack),
    brake: new PendingBrake(store),
    callbacks: new CallbackUrls('http://localhost', 'bench'),
    turns: new RunningTurns(),
    timing: timingFor(30),
    logger,
  };
  const withModel = (model: string): BotParts => ({
    ...common,
    model: openAIModel({ model, apiKey: 'bench', baseURL: modelUrl }),
  });
  const calling = withModel('caller');
  const answering = withModel('instant');

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
      const message = {
        thread: parseThreadId(threadId),
        ts: `1712345678.${String(events).padStart(6, '0')}`,
        user: REQUESTER,
        text: REQUEST_TEXT,
        toBot: true,
      };
      await hear(calling, message, undefined);
      // A process at its concurrency limit leaves the turn to the queue, which does not run here.
      await (common.turns.workIn(threadId) ?? takeTurn(calling, threadId));
    },

    async findRequest(threadId) {
      const [requestId] = await store.waitingIn(threadId);
      if (requestId === undefined) throw new Error('A paused thread has no pending request.');
      return requestId;
    },

    async resume(requestId) {
      const notice = await vote(answering, requestId, { who: APPROVER, id: `click-${requestId}` }, 'approve');
      if (notice !== undefined) throw new Error(`The approval was refused: ${notice}`);
      await (common.turns.workIn(threadOf(requestId) ?? '') ?? runAction(answering, requestId));
    },
  };
}
