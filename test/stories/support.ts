import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { pino } from 'pino';
import { expect, inject, onTestFinished } from 'vitest';
import { openLedger } from '../../examples/shop/ledger.ts';
import type { ModelReply, ReplyFunction } from '../../playground/model/model-reply.ts';
import { type LocalModel, startLocalModel } from '../../playground/model/start-local-model.ts';
import { appFromManifest } from '../../playground/slack/app-from-manifest.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { type LocalSlackOptions, startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import { ProofCheck } from '../../src/audit/proof-check.ts';
import { type BotSetup, type RunningBot, startBot } from '../../src/start-bot.ts';
import type { AuditRow } from '../../src/store/port/audit.ts';
import { AUDIT_EVENTS, isAuditEvent } from '../../src/store/port/audit-events.ts';
import type { Store } from '../../src/store/port/store.ts';
import { sha256 } from '../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../src/tools/manifest/problem.ts';
import { SHIPPED_SLACK } from '../../src/tools/manifest/schema/slack.ts';
import { Secrets } from '../../src/tools/secrets.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { payloadProblems } from '../support/check-payloads.ts';
import { clickCard } from '../support/click-card.ts';
import { PATIENT_SLACK } from '../support/patience.ts';
import { keepUse } from '../support/used-scopes.ts';

export { CAST, CHANNELS as PLACES };

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The app as the shipped manifest declares it: a scope or an event that it lacks fails the story that needs it. */
export const SHIPPED_APP = appFromManifest(SHIPPED_SLACK);

/** The policies and tools of the stories; the tools are those of the example shop. */
export const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], notify: { direct_messages: false } }
  two: { approvers: [${CAST.alice}, ${CAST.bruno}], quorum: 2, notify: { direct_messages: false } }
tools:
  read_order: { module: ./examples/shop/tools/read-order.ts, approval: { require: never } }
  refund_order: { module: ./examples/shop/tools/refund-order.ts, approval: [{ policy: default, when: "input.amount > 10000" }, { require: never }] }
  delete_customer: { module: ./examples/shop/tools/delete-customer.ts, approval: { policy: two } }
`;

export interface StoryOptions extends Pick<BotSetup, 'timing' | 'sweep'> {
  readonly replies?: readonly ModelReply[] | ReplyFunction;
  readonly manifest?: string;
  /** The variables that the manifest names. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder that the manifest's paths start from; the repository unless it is named. */
  readonly folder?: string;
  readonly slack?: LocalSlackOptions;
  readonly prefix?: string;
  /** Leaves the bot out, so that the story can start and end bots by itself. */
  readonly withoutBot?: boolean;
}

/** Lists what the log alone says against what was asked, approved and started. */
async function logProblems(store: Pick<Store, 'auditEnds' | 'exportAudit'>): Promise<readonly string[]> {
  const { base } = await store.auditEnds();
  const check = new ProofCheck({ isPartial: base.seq > 0, sha256 });
  const problems: string[] = [];
  for await (const row of store.exportAudit())
    problems.push(...[await check.add(row), unlistedIn(row)].filter((each) => each !== undefined));
  return problems;
}

/** Says what a row has that the list of events does not: readers rely on the list. */
function unlistedIn({ seq, event, body }: AuditRow): string | undefined {
  const fields = Object.keys(body === '' ? {} : JSON.parse(body));
  const listed: readonly string[] = isAuditEvent(event) ? AUDIT_EVENTS[event] : [];
  const unlisted = fields.filter((name) => !listed.includes(name));
  if (isAuditEvent(event) && unlisted.length === 0) return undefined;
  return `row ${seq}: src/store/port/audit-events.ts does not list ${event} with ${unlisted.join(', ')}`;
}

/** Starts the whole product against local stand-ins; everything ends with the test, and a reply left over fails it. */
export async function startStory(options: StoryOptions = {}) {
  const { manifest: text = MANIFEST, prefix = `story-${randomUUID()}:` } = options;
  const parsed = parseManifest(await withBuiltTools(text, options.folder), {
    file: 'story.yml',
    environment: options.environment ?? {},
  });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  const slack = await startLocalSlack({
    ...options.slack,
    timings: { ...PATIENT_SLACK, ...options.slack?.timings },
    app: { ...SHIPPED_APP, ...options.slack?.app },
  });
  const model = await startLocalModel({ script: options.replies ?? [] });
  const redis = new Redis(inject('redisUrl'));
  const shopUrl = `${inject('redisUrl')}?keyPrefix=${prefix}shop:`;
  process.env.SHOP_REDIS_URL = shopUrl;
  const setup: BotSetup = {
    settings: {
      slack: {
        mode: 'socket',
        botToken: slack.botToken,
        appToken: slack.appToken,
        apiUrl: slack.apiUrl,
      },
      model: { model: 'scripted', apiKey: 'test', baseURL: model.url, silenceMs: 120_000 },
      redis: { mode: 'single', urls: [inject('redisUrl')] },
      manifest: 'story.yml',
      port: 0,
      publicUrl: 'http://localhost',
      callbackSecret: 'the callback secret of the tests, long enough',
      crashNoticeSeconds: 30,
      logLevel: 'silent',
    },
    manifest: parsed.manifest,
    folder: options.folder ?? root,
    secrets: new Secrets(),
    logger: pino({ level: process.env.LOG_LEVEL ?? 'silent' }),
    prefix,
    // A test goes on when a click is acknowledged, and then the decision is on record, however busy the machine is.
    timing: { ackWithinMs: { click: 500, submission: 500 }, ...options.timing },
    ...(options.sweep !== undefined && { sweep: options.sweep }),
  };
  onTestFinished(async () => {
    // An app with scopes of its own says nothing about the shipped one.
    if (options.slack?.app?.scopes === undefined) keepUse(slack.workspace, inject('usedScopes'));
    await slack.stop();
    expect(await logProblems(openRedisStore({ client: redis, prefix }))).toEqual([]);
    redis.disconnect();
    expect(payloadProblems(slack.workspace.payloads())).toEqual([]);
    await model.stop();
  });
  const { workspace } = slack;

  /** Starts a bot, or one more, on the same record and the same Slack; it ends with the test. */
  const startOwnBot = async (changes: Partial<BotSetup> = {}): Promise<RunningBot> => {
    const bot = await startBot({ ...setup, ...changes, timing: { ...setup.timing, ...changes.timing } });
    onTestFinished(() => bot.stop());
    return bot;
  };
  if (options.withoutBot !== true) await startOwnBot();

  /** Says something to the bot in a channel, and gives the thread that it begins or goes on. */
  const ask = (
    text: string,
    {
      as = CAST.requester as string,
      channel = CHANNELS.general as string,
      threadTs = undefined as string | undefined,
    } = {},
  ) => {
    const mention = `<@${workspace.state.app.botUserId}> ${text}`;
    const said = workspace.as(as).send(channel, mention, threadTs === undefined ? {} : { threadTs });
    return threadIn(channel, threadTs ?? said.ts);
  };

  const placeIn = (channel: string, ts?: string) => ({
    channel,
    /** Waits until the thread has a message whose words fit, in its text or its blocks, and gives it. */
    shows: (words: RegExp) =>
      workspace.until(
        () =>
          workspace
            .messagesIn(channel, ts)
            .find((message) => words.test(`${message.text}\n${readable(message.blocks ?? [])}`)),
        { what: `${words} in the thread` },
      ),
    click: async (who: string, words: RegExp, actionId: string) => {
      const card = await placeIn(channel, ts).shows(words);
      return clickCard(workspace, who, { channel, ts: card.ts }, actionId);
    },
  });

  const threadIn = (channel: string, ts: string) => ({ ...placeIn(channel, ts), ts });

  /** The bot's direct messages to a person. */
  const directly = (who: string) => placeIn(workspace.directMessages(who));

  /** The last results that the model read, in the order of the calls. */
  const toldOfCalls = () =>
    (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
      message.role === 'tool' ? [String(message.content)] : [],
    );

  const noticeFor = (who: string, words: RegExp) =>
    workspace.until(() => workspace.ephemeralsFor(who).find(({ text }) => words.test(text)), {
      what: `a notice ${words}`,
    });

  /** Waits for a modal with such words in front of somebody. */
  const modalFor = (who: string, words = /./) =>
    workspace.until(
      () => {
        const modal = workspace.modalOf(who);
        return modal !== undefined && words.test(readable(modal.blocks)) ? modal : undefined;
      },
      { what: `a modal ${words} for ${who}` },
    );

  /** Everything that the bot has posted in a thread, oldest first. */
  const repliesIn = ({ channel, ts }: { readonly channel: string; readonly ts: string }) =>
    workspace.messagesIn(channel, ts).filter(({ user }) => user === workspace.state.app.botUserId);

  /** Waits until every event is acknowledged, so that what was said is on record. */
  const allReceived = () =>
    workspace.until(() => workspace.deliveries.every(({ outcome }) => outcome.kind !== 'pending'), {
      what: 'every event acknowledged',
    });

  /** Waits until every event is acknowledged and nothing is left to send. */
  const deliveredAll = async () => {
    await allReceived();
    await expect.poll(async () => (await redis.keys(`{${prefix}}:outbox`)).length).toBe(0);
  };

  return {
    modalFor,
    repliesIn,
    allReceived,
    deliveredAll,
    slack,
    workspace,
    model,
    redis,
    prefix,
    ledger: openLedger(shopUrl),
    ask,
    placeIn,
    threadIn,
    directly,
    toldOfCalls,
    noticeFor,
    setup,
    startOwnBot,
  };
}

export type Story = Awaited<ReturnType<typeof startStory>>;
export type Thread = ReturnType<Story['ask']>;

/** The people's messages in the model's last request, in order. */
export function heardByModel(model: LocalModel): string[] {
  return (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'user' ? [textOf(message.content)] : [],
  );
}

/** The arguments of the calls in the history that the model was last sent, in order. */
export function callArguments(model: LocalModel): unknown[] {
  return (model.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === 'assistant'
      ? (message.tool_calls ?? []).map((call): unknown => JSON.parse(call.function.arguments))
      : [],
  );
}

/** Blocks as JSON without what a button carries: the digits of an id could be taken for an amount. */
function readable(blocks: readonly unknown[]): string {
  return JSON.stringify(blocks, (key, value: unknown) =>
    ['value', 'block_id', 'timestamp'].includes(key) ? undefined : value,
  );
}

function textOf(content: unknown): string {
  return typeof content === 'string' ? content : JSON.stringify(content);
}
