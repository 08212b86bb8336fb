import type { Logger } from 'pino';
import { z } from 'zod';
import { tryParseJson } from './agent/json.ts';
import type { Model } from './agent/model.ts';
import { type ExporterOptions, startExporter } from './audit/exporter.ts';
import { fileMemory, processMemory } from './audit/signer.ts';
import { readSigningKey } from './audit/signing-key.ts';
import { auditSettings } from './audit/sinks.ts';
import { grantFinder } from './bot/asks/grants.ts';
import { askerProblem } from './bot/asks/may-ask.ts';
import { answerConnect, openAccounts } from './bot/connections/connect-flow.ts';
import { type BotContext, type Timing, timingFor } from './bot/context.ts';
import { answerCallback, receiveCallback } from './bot/inbox/callbacks.ts';
import { signingFor } from './bot/inbox/decisions/signing.ts';
import { listen } from './bot/inbox/listen.ts';
import { tellOfAudit, tellOfExport, tellOfRefusedWrites, tellOfUnlocked } from './bot/outbox/tell-admins.ts';
import { createBotServer } from './bot/slack/bot-server.ts';
import { CallbackUrls } from './bot/slack/callback-urls.ts';
import { createConnection } from './bot/slack/create-connection.ts';
import { Directory } from './bot/slack/directory.ts';
import { FileHost } from './bot/slack/file-host.ts';
import { MessageLinks } from './bot/slack/thread.ts';
import { ThreadReader } from './bot/slack/thread-reader.ts';
import { UPDATE_WINDOW_MS, UpdateBudget } from './bot/slack/update-budget.ts';
import { workspaceGroups } from './bot/slack/user-groups.ts';
import { ThreadStatus } from './bot/thread-status.ts';
import { engineContext } from './bot/turns/engine-context.ts';
import { workHandlers } from './bot/work-handlers.ts';
import { Door } from './door/door.ts';
import { Identities } from './door/identity.ts';
import type { McpDoor } from './door/mcp.ts';
import { createRest } from './door/rest.ts';
import { Webhooks } from './door/webhooks.ts';
import { WEBHOOK } from './engine/caller-threads.ts';
import { PendingLimiter } from './engine/pending-limiter.ts';
import { RunningTurns } from './engine/running-turns.ts';
import { Metrics } from './observe/metrics.ts';
import { observeRecord, setGauges, setSurroundings } from './observe/observe-record.ts';
import { observedModel } from './observe/observed-model.ts';
import { observeTools } from './observe/observed-tool.ts';
import { currentTrace } from './observe/tracing.ts';
import { openModels } from './open-model.ts';
import { openPage, type Page } from './page/page.ts';
import { personInClaims, SLACK_ISSUER } from './page/sign-in.ts';
import type { Settings } from './settings.ts';
import { type ManifestRecord, manifestIn } from './store/documents/manifest.ts';
import { refusalOf } from './store/errors.ts';
import type { Queue } from './store/port/queue.ts';
import type { Store } from './store/port/store.ts';
import { nameOfWork } from './store/port/work.ts';
import { openQueue, type QueueOptions } from './store/queue/queue.ts';
import { DEFAULT_PREFIX } from './store/record/keys.ts';
import { checkServer, readMemory } from './store/redis/check-server.ts';
import { connectRedis } from './store/redis/connect.ts';
import { openRedisStore } from './store/redis/redis-store.ts';
import { onceIn, updateCounterIn } from './store/redis/short-lived.ts';
import { proxiedFetch } from './tools/http/proxy.ts';
import { explainCall } from './tools/judge-call.ts';
import type { Manifest } from './tools/manifest/manifest.ts';
import { Sealer } from './tools/mcp/auth/connections.ts';
import type { Secrets } from './tools/secrets.ts';
import { type LockText, type OpenToolbox, openToolbox } from './tools/toolbox/open-toolbox.ts';
import { changeKey } from './tools/toolbox/policy-change.ts';
import { redactFields } from './tools/toolbox/protect-tool.ts';
import type { CodeTools } from './tools/toolbox/tool-source.ts';

const STOP_TIMEOUT_MS = 20_000;
const HOUR_MS = 3_600_000;
const STATUS_TIMEOUT_MS = 2_000;

export interface BotSetup {
  readonly settings: Settings;
  readonly manifest: Manifest;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  /** The tools of a program, beside those of the manifest. */
  readonly code?: CodeTools | undefined;
  /** Answers in place of the manifest's models. */
  readonly model?: Model | undefined;
  readonly secrets: Secrets;
  readonly logger: Logger;
  /** The prefix of all keys in Redis, so that several bots can share one. */
  readonly prefix?: string;
  readonly timing?: Partial<Timing>;
  /** The timing of the sweep, which finds due work that was not woken. */
  readonly sweep?: QueueOptions['sweep'];
  /** The timing of the export and the signatures of the audit log. */
  readonly audit?: Pick<ExporterOptions, 'everyMs' | 'checkpointEveryMs' | 'leaseMs'>;
  /** The time that an MCP client without tasks is kept waiting for people. */
  readonly mcpWaitMs?: number;
  /** The time for which a message to a caller's webhook is tried. */
  readonly webhookGiveUpMs?: number;
  /** Puts the text of messages, arguments and results on the spans of traces. */
  readonly captureContent?: boolean;
  /** Holds changed manifests back until they are approved; without it the given manifest is used as it is. */
  readonly policyChanges?: PolicyChangeSetup;
}

/** Wires the approval of changed policies. */
export interface PolicyChangeSetup {
  /** Chooses the manifest to start with, by the record. */
  choose(record: ManifestRecord): Promise<{ readonly manifest: Manifest; readonly lock: LockText }>;
  /** Called when a change was approved in this process. */
  onApproved(): void;
}

export interface RunningBot {
  /** The port of its own HTTP server. */
  readonly port: number;
  readonly context: BotContext;
  /** Takes requests of other agents and jobs. */
  readonly door: Door;
  readonly toolbox: OpenToolbox;
  /** Accepts nothing new, lets running work finish, and closes every connection. */
  stop(): Promise<void>;
}

/** Wires the folders together and connects to Redis and Slack; a server that cannot be reached is one error. */
export async function startBot(setup: BotSetup): Promise<RunningBot> {
  const { settings, folder, secrets, logger } = setup;
  const prefix = setup.prefix ?? settings.redis.prefix ?? DEFAULT_PREFIX;
  const metrics = new Metrics();
  const content = setup.captureContent === true ? (text: string) => secrets.redact(text) : undefined;
  const log = logger.child({ part: 'record' });
  const auditKey = settings.auditKey && (await readSigningKey(settings.auditKey));
  const { auditStateFile } = settings;
  if (auditKey === undefined) log.warn('audit log is not signed: set AUDIT_KEY_FILE or AUDIT_KEY');
  else if (auditStateFile === undefined)
    log.warn('audit signer forgets what it signed when this process ends: set AUDIT_STATE_FILE');
  const redis = await connectRedis(settings.redis, { onProblem: (message) => log.warn(message) });
  for (const { severity, setting, message } of await checkServer(redis)) {
    log[severity === 'error' ? 'error' : 'warn']({ setting }, message);
  }
  // The toolbox has the manifest that holds now; it is opened below.
  let current: () => Manifest = () => setup.manifest;
  const observe = observeRecord({ metrics, logger });
  let wake: Queue['wake'] = () => {};
  const once = onceIn(redis, prefix);
  let onRefusedWrite = (_code: string): void => {};
  const record = openRedisStore({
    client: redis,
    prefix,
    retention: () => current().retention,
    redact: (body) => redactFields(body, secrets),
    trace: currentTrace,
    onRefusedWrite: (code) => onRefusedWrite(code),
    onReport({ events, due }) {
      for (const event of events) observe(event);
      for (const { work, delayMs } of due) wake(work, delayMs);
    },
  });
  const chosen = await setup.policyChanges?.choose(manifestIn(record));
  const manifest = chosen?.manifest ?? setup.manifest;
  const queue = openQueue({
    settings: settings.redis,
    store: record,
    log,
    prefix,
    ...(setup.sweep !== undefined && { sweep: setup.sweep }),
  });
  wake = queue.wake;
  const { proxy } = settings;
  const toolsLog = logger.child({ part: 'tools' });
  let onUnlocked = (): void => {};
  let onReplaced = (): void => {};
  const sealer = settings.connectionsKey === undefined ? undefined : Sealer.read(settings.connectionsKey);
  if (typeof sealer === 'string') throw new Error(`CONNECTIONS_KEY ${sealer}`);
  const { publicUrl } = settings;
  const accounts = openAccounts({
    ...{ store: record, sealer, publicUrl, secrets, logger: toolsLog },
    findServer: (name) => toolbox.requesterServers().find((server) => server.name === name),
  });
  const toolbox: OpenToolbox = await openToolbox(manifest, {
    connections: accounts.connections,
    code: setup.code,
    folder,
    secrets,
    log: toolsLog,
    proxy,
    around: observeTools({ metrics, content }),
    readTotals: (limits) => record.readTotals(limits),
    findGrant: grantFinder(() => context),
    userGroups: workspaceGroups(() => context),
    firstSeen: (server, listed) => firstSeenIn(record, server, listed),
    onUnlocked: () => onUnlocked(),
    onReplaced: () => onReplaced(),
    lock: chosen?.lock,
    approveChange: async (change) => {
      const approved = await manifestIn(record).approveManifest(change.from, change.to, changeKey(change));
      setup.policyChanges?.onApproved();
      return approved;
    },
  });
  current = () => toolbox.manifest;
  const connection = createConnection(settings.slack, {
    logger,
    once,
    proxy,
    metrics,
  });
  const { app } = connection;
  const directory = new Directory(app.client);
  const links = new MessageLinks(app.client);
  // Another Slack than slack.com signs its own people in.
  const slackIssuer =
    settings.slack.apiUrl === undefined ? SLACK_ISSUER : new URL(settings.slack.apiUrl).origin;
  const page: Page = openPage({
    ...{ store: record, directory, links, toolbox, auditKey, publicUrl, secret: settings.callbackSecret },
    page: () => toolbox.manifest.page,
    admins: () => toolbox.manifest.agent.admins,
    explain: (call) => explainCall(toolbox, { ...call, readTotals: (limits) => record.readTotals(limits) }),
    redact: (text) => secrets.redact(text),
    signing: signingFor(() => context),
    fetch: proxiedFetch(proxy),
    slackIssuer,
    logger: logger.child({ part: 'page' }),
  });
  const context: BotContext = {
    ...openModels(
      {
        ...settings.model,
        fetch: proxiedFetch(proxy),
        onRetry: (model) => metrics.count('countersign_model_retries_total', { model }),
      },
      {
        agent: () => toolbox.manifest.agent,
        observe: (model) => observedModel(model, { metrics, content }),
        logger,
        given: setup.model,
      },
    ),
    toolbox,
    store: record,
    client: app.client,
    ...{ directory, links, pageLink: page.linkTo, passkeyLink: page.passkeyLink },
    threads: new ThreadReader(app.client),
    fileHost: new FileHost({
      client: app.client,
      botToken: settings.slack.botToken,
      apiUrl: settings.slack.apiUrl,
      fetch: proxiedFetch(proxy),
      logger,
    }),
    limiter: new PendingLimiter(record),
    callbacks: new CallbackUrls(settings.publicUrl, settings.callbackSecret),
    accounts,
    turns: new RunningTurns(),
    status: new ThreadStatus(app.client, logger),
    updates: new UpdateBudget(updateCounterIn(redis, UPDATE_WINDOW_MS, prefix), logger),
    timing: { ...timingFor(settings.crashNoticeSeconds), ...setup.timing },
    metrics,
    logger,
  };
  listen(app, context);

  const toldOf = new Map<string, number>();
  onRefusedWrite = (code) => {
    metrics.count('countersign_record_refused_writes_total', { code });
    const hour = Math.floor(Date.now() / HOUR_MS);
    if (toldOf.get(code) === hour) return;
    toldOf.set(code, hour);
    log.error({ code }, 'Redis refuses writes');
    void tellOfRefusedWrites(context, code, hour);
  };
  const doorLog = logger.child({ part: 'door' });
  const door = new Door({
    ...{
      store: record,
      toolbox,
      limiter: context.limiter,
      logger: doorLog,
      trace: currentTrace,
      key: auditKey,
      engine: () => engineContext({ ...context, directory: context.directory.fresh() }),
    },
    mayAsk: async (user, channel) =>
      (await askerProblem(context.directory, context.agent().askers, { user, channel })) === undefined,
  });
  const callers = () => toolbox.callers();
  const identities = new Identities({
    ...{ store: record, callers, logger: doorLog },
    personIn: async (claims, issuer) => {
      const isSlack = issuer === slackIssuer;
      const found = await personInClaims(context.directory, claims, { isSlack });
      return 'who' in found ? found.who : undefined;
    },
    fetch: proxiedFetch(proxy) ?? fetch,
  });
  const count = (caller: string, status: number) =>
    metrics.count('countersign_door_requests_total', { caller, status: String(status) });
  const rest = createRest({ door, identities, logger: doorLog, count });
  let mcp: Promise<McpDoor> | undefined;
  // Its library is large and most bots have no such clients, so the first one waits for it.
  const loadMcp = async (): Promise<McpDoor> => {
    const { createMcp } = await import('./door/mcp.ts');
    return createMcp({
      ...{ door, identities, publicUrl, logger: doorLog, count },
      ...(setup.mcpWaitMs !== undefined && { waitMs: setup.mcpWaitMs }),
    });
  };
  const webhooks = new Webhooks({
    ...{ store: record, door, callers, proxy, logger: doorLog },
    count: (caller, result) => metrics.count('countersign_webhooks_total', { caller, result }),
    ...(setup.webhookGiveUpMs !== undefined && { giveUpMs: setup.webhookGiveUpMs }),
  });
  const surroundings = {
    refusedWrite: () => refusedWrite(once),
    memory: () => readMemory(redis),
    toolProblems: () => toolbox.problems().length,
  };
  const server = createBotServer({
    ...surroundings,
    port: settings.port,
    isConnected: () => connection.isReady(),
    metrics: async () => {
      await Promise.all([setGauges(record, metrics), setSurroundings(surroundings, metrics)]);
      return { status: 200, headers: { 'content-type': metrics.contentType }, body: await metrics.text() };
    },
    metricsToken: settings.metricsToken,
    receiveCallback: async (token, body) => answerCallback(await receiveCallback(context, token, body)),
    connect: (url, cookies) => answerConnect({ flow: accounts.flow, publicUrl }, url, cookies),
    door: rest,
    page: page.answer,
    mcp: async (request) => {
      mcp ??= loadMcp();
      return (await mcp).answer(request);
    },
    receive: connection.receive,
    logger,
  });

  const exporter = startExporter({
    ...setup.audit,
    store: record,
    settings: () => auditSettings(toolbox.manifest.audit, settings.auditFolder ?? folder),
    key: auditKey,
    memory: auditStateFile === undefined ? processMemory() : fileMemory(auditStateFile),
    log: logger.child({ part: 'audit' }),
    onRefusal: (refusal, isNew) => {
      metrics.count('countersign_audit_refusals_total', { code: refusal.code });
      if (isNew) void tellOfAudit(context, refusal);
    },
    onExportFailure: (failure) => {
      metrics.count('countersign_audit_export_failures_total', { sink: failure.sink });
      void tellOfExport(context, failure);
    },
  });

  const runningWork = (): object => ({
    threads: context.turns.threads(),
    work: queue.running().map(nameOfWork),
  });
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= stopInOrder();
    return stopped;
  };
  const stopInOrder = async (): Promise<void> => {
    logger.info(runningWork(), 'stopping: no new events, waiting for running work');
    await connection.stop();
    door.close();
    await (await mcp)?.close();
    await server.stop();
    const idle = queue.stop();
    context.turns.handOverAll();
    await Promise.all([idle, context.turns.idle(STOP_TIMEOUT_MS)]);
    if (context.turns.threads().length > 0 || queue.running().length > 0)
      logger.warn(runningWork(), 'stopped with work left; other processes continue it');
    await context.status.idle(STATUS_TIMEOUT_MS);
    await webhooks.idle();
    await toolbox.close();
    await exporter.stop();
    await record.close();
    logger.info('stopped');
  };
  try {
    await connection.init();
    await claimRecord(record, await context.directory.ownTeam());
    await queue.start(workHandlers(context, new Map([[WEBHOOK, (_, item) => webhooks.take(item)]])));
    const port = await server.start();
    await connection.start();
    onUnlocked = () => void tellOfUnlocked(context, toolbox.unlocked());
    onUnlocked();
    onReplaced = () => void door.withdrawRemoved();
    onReplaced();
    return { port, context, door, toolbox, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

const WRITE_KEY_MS = 60_000;

/** Tries to write, and returns Redis's code if it answers and refuses; throws if it does not answer. */
async function refusedWrite(once: ReturnType<typeof onceIn>): Promise<string | undefined> {
  try {
    await once('is-writable', WRITE_KEY_MS);
    return undefined;
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) throw error;
    return code;
  }
}

/** Refuses the record of another Slack workspace before anything of it is worked on. */
async function claimRecord(record: Store, team: string): Promise<void> {
  if (team === '')
    throw new Error('Slack does not say which workspace the bot belongs to. Check SLACK_BOT_TOKEN.');
  await record.writeDocument('workspace', 'team', { version: team, value: '' }, { replaces: '' });
  const owner = (await record.readDocument('workspace', 'team'))?.version;
  if (owner !== team)
    throw new Error(
      `The record in Redis belongs to the Slack workspace ${owner}, and the bot to ${team}. Use another Redis or another REDIS_PREFIX.`,
    );
}

const Digests = z.array(z.tuple([z.string(), z.string()]));

/** Keeps the digests of a server's tools as they were listed first, by any process, and returns them. */
async function firstSeenIn(
  record: Store,
  server: string,
  listed: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string, string>> {
  const value = JSON.stringify([...listed]);
  await record.writeDocument('first-seen', server, { version: 'first', value }, { replaces: '' });
  const found = await record.readDocument('first-seen', server);
  return new Map(Digests.parse(tryParseJson(found?.value ?? '')));
}
