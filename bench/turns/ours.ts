import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { openAIModel } from '../../src/agent/openai/openai-model.ts';
import { openAccounts, openConnections } from '../../src/bot/connections/connect-flow.ts';
import { type BotContext, timingFor } from '../../src/bot/context.ts';
import { castVote } from '../../src/bot/inbox/decisions/cast-vote.ts';
import { checkClick } from '../../src/bot/inbox/decisions/click.ts';
import { receiveMessage } from '../../src/bot/inbox/receive-message.ts';
import { CallbackUrls } from '../../src/bot/slack/callback-urls.ts';
import { Directory } from '../../src/bot/slack/directory.ts';
import { FileHost } from '../../src/bot/slack/file-host.ts';
import { MessageLinks, parseThreadId } from '../../src/bot/slack/thread.ts';
import { ThreadReader } from '../../src/bot/slack/thread-reader.ts';
import { UpdateBudget } from '../../src/bot/slack/update-budget.ts';
import { ThreadStatus } from '../../src/bot/thread-status.ts';
import { executorContext, turnContext } from '../../src/bot/turn-context.ts';
import { execute } from '../../src/engine/execute.ts';
import { PendingLimiter } from '../../src/engine/pending-limiter.ts';
import { RunningTurns } from '../../src/engine/running-turns.ts';
import { claimAndRunTurn } from '../../src/engine/turns/run-turn.ts';
import { Metrics } from '../../src/observe/metrics.ts';
import { threadOf } from '../../src/store/port/keys.ts';
import { openConnection } from '../../src/store/redis/connect.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { openToolbox } from '../../src/tools/toolbox/open-toolbox.ts';
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
  built_ins: []
policies:
  default: { approvers: [${APPROVER}], expires: 4h, notify: { remind: 1h, direct_messages: false } }
tools:
  ${REFUND_TOOL.name}: { module: ./refund-tool.js, approval: [{ policy: default, when: "input.amount > 1000" }, { require: never }] }
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
  const { instructions = '', ...agent } = toolbox.manifest.agent;
  const stored = { store, sealer: undefined, publicUrl: 'http://localhost', secrets: new Secrets(), logger };
  const common: Omit<BotContext, 'model' | 'modelFor'> = {
    agent: () => ({ ...agent, instructions }),
    toolbox,
    store,
    client: slack,
    directory: new Directory(slack),
    links: new MessageLinks(slack),
    ...{ pageLink: () => undefined, passkeyLink: () => undefined },
    threads: new ThreadReader(slack),
    fileHost: new FileHost({
      client: slack,
      botToken: 'xoxb-bench',
      apiUrl: undefined,
      fetch,
      logger,
    }),
    limiter: new PendingLimiter(store),
    callbacks: new CallbackUrls('http://localhost', 'bench'),
    accounts: openAccounts(openConnections(stored), { ...stored, findServer: () => undefined }),
    turns: new RunningTurns(),
    status: new ThreadStatus(slack, logger),
    updates: new UpdateBudget({ add: async () => ({ updates: 0, progress: 0 }) }, logger),
    timing: timingFor(30),
    metrics: new Metrics(),
    logger,
  };
  const withModel = (name: string): BotContext => {
    const model = openAIModel({ model: name, apiKey: 'bench', baseURL: modelUrl });
    return { ...common, model, modelFor: () => ({ model, contextBudget: agent.contextBudget }) };
  };
  const calling = withModel('caller');
  const answering = withModel('instant');

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
        text: REQUEST_TEXT,
        toBot: true,
        mention: false,
        files: [],
      };
      await receiveMessage(calling, message, undefined);
      // A process at its concurrency limit leaves the turn to the queue, which does not run here.
      await (common.turns.workIn(threadId) ?? claimAndRunTurn(turnContext(calling), threadId));
    },

    async findRequest(threadId) {
      const [requestId] = await store.waitingIn(threadId);
      if (requestId === undefined) throw new Error('A paused thread has no pending request.');
      return requestId;
    },

    async resume(requestId) {
      const click = { who: APPROVER, id: `click-${requestId}` };
      const checked = await checkClick(answering, requestId, click);
      const notice = checked.ok
        ? await castVote(answering, checked.request, click, { decision: 'approve' })
        : checked.notice;
      if (notice !== undefined) throw new Error(`The approval was refused: ${notice}`);
      await (common.turns.workIn(threadOf(requestId) ?? '') ??
        execute(executorContext(answering), requestId));
    },
  };
}
