import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { inject, onTestFinished } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { startLocalModel } from '../../playground/model/start-local-model.ts';
import { CAST, PLACES } from '../../playground/slack/default-cast.ts';
import { type LocalSlackOptions, startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { startBot } from '../../src/start-bot.ts';
import { openRedisLedger } from '../../src/store/redis-ledger.ts';
import { parseManifest } from '../../src/tools/manifest/parse-manifest.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { Secrets } from '../../src/tools/secrets.ts';

export { CAST, PLACES };

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The policies and tools of the stories; the shop's tools are the samples that are shipped. */
export const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], direct_messages: false }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, direct_messages: false }
tools:
  read_order: { module: ./src/tools/samples/read-order.ts, approval: { require: never } }
  refund_order: { module: ./src/tools/samples/refund-order.ts, approval: { policy: default, when: "input.amount > 10000" } }
  delete_customer: { module: ./src/tools/samples/delete-customer.ts, approval: { policy: two } }
`;

export interface StoryOptions {
  readonly replies?: readonly ModelReply[];
  readonly manifest?: string;
  readonly slack?: LocalSlackOptions;
  readonly prefix?: string;
}

/** Starts the whole product against local stand-ins; everything ends with the test, and a reply left over fails it. */
export async function startStory(options: StoryOptions = {}) {
  const { manifest: text = MANIFEST, prefix = `story-${randomUUID()}:` } = options;
  const parsed = parseManifest(text, { file: 'story.yml', environment: {} });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  const slack = await startLocalSlack(options.slack);
  const model = await startLocalModel({ script: options.replies ?? [] });
  const redis = new Redis(inject('redisUrl'));
  const bot = await startBot({
    settings: {
      slack: { botToken: slack.botToken, appToken: slack.appToken, apiUrl: slack.apiUrl },
      model: { model: 'scripted', apiKey: 'test', baseURL: model.url },
      redis: { mode: 'single', urls: [inject('redisUrl')] },
      manifest: 'story.yml',
      port: 0,
      publicUrl: 'http://localhost',
      logLevel: 'silent',
    },
    manifest: parsed.manifest,
    folder: root,
    secrets: new Secrets(),
    logger: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    prefix,
  });
  onTestFinished(async () => {
    await bot.stop();
    await slack.stop();
    redis.disconnect();
    await model.stop();
  });
  const { workspace } = slack;

  /** Says something to the bot in a channel, and gives the thread that it begins or goes on. */
  const ask = (
    text: string,
    {
      as = CAST.requester as string,
      channel = PLACES.general as string,
      threadTs = undefined as string | undefined,
    } = {},
  ) => {
    const mention = `<@${workspace.state.app.botUserId}> ${text}`;
    const said = workspace.as(as).say(channel, mention, threadTs === undefined ? {} : { threadTs });
    return threadIn(channel, threadTs ?? said.ts);
  };

  const threadIn = (channel: string, ts: string) => ({
    channel,
    ts,
    /** Waits until the thread has a message whose words fit, in its text or its blocks, and gives it. */
    shows: (words: RegExp) =>
      workspace.until(
        () =>
          workspace
            .messagesIn(channel, ts)
            .find((message) => words.test(`${message.text}\n${JSON.stringify(message.blocks ?? [])}`)),
        { what: `${words} in the thread` },
      ),
    click: async (who: string, words: RegExp, actionId: string) => {
      const card = await threadIn(channel, ts).shows(words);
      return workspace.as(who).click({ channel, ts: card.ts }, actionId);
    },
  });

  const noticeFor = (who: string, words: RegExp) =>
    workspace.until(() => workspace.ephemeralsFor(who).find(({ text }) => words.test(text)), {
      what: `a notice ${words}`,
    });

  return {
    slack,
    workspace,
    model,
    redis,
    prefix,
    ledger: openRedisLedger(redis, prefix),
    ask,
    threadIn,
    noticeFor,
  };
}
