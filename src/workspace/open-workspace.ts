import { connectPart } from '../bot/connections/connect-flow.ts';
import type { BotContext } from '../bot/context.ts';
import { callbackPart } from '../bot/inbox/callbacks.ts';
import { listen } from '../bot/inbox/listen.ts';
import { tellOfRefusedWrites, tellOfUnlocked } from '../bot/outbox/tell-admins.ts';
import { workHandlers } from '../bot/work-handlers.ts';
import type { Door } from '../door/door.ts';
import { WEBHOOK } from '../engine/caller-threads.ts';
import type { HttpPart } from '../http/http-part.ts';
import { delegationsIn } from '../store/documents/delegations.ts';
import type { Store } from '../store/port/store.ts';
import { nameOfWork } from '../store/port/work.ts';
import type { OpenToolbox } from '../tools/toolbox/open-toolbox.ts';
import type { BotProcess, Installation } from './installation.ts';
import { openAudit } from './open-audit.ts';
import { openContext } from './open-context.ts';
import { openDoor } from './open-door.ts';
import { pagePart } from './open-page.ts';
import { openRecord } from './open-record.ts';
import { openSlack } from './open-slack.ts';
import { openTools, readSealer } from './open-tools.ts';

const STOP_TIMEOUT_MS = 20_000;
const STATUS_TIMEOUT_MS = 2_000;
const HOUR_MS = 3_600_000;

/** Everything of the bot in one Slack workspace. */
export interface Workspace {
  readonly context: BotContext;
  /** Takes requests of other agents and jobs. */
  readonly door: Door;
  readonly toolbox: OpenToolbox;
  /** The ways into it over HTTP. */
  readonly parts: readonly HttpPart[];
  /** Whether Slack can reach it. */
  isConnected(): boolean;
  /** Why its audit log is not signed now; `undefined` if nothing is wrong. */
  unsigned(): string | undefined;
  /** Checks that the record belongs to this workspace, and takes up its work. */
  start(): Promise<void>;
  /** Lets Slack send events. */
  connect(): Promise<void>;
  /** Accepts nothing new. */
  stopReceiving(): Promise<void>;
  /** Lets running work finish, and closes what the workspace has opened. */
  stop(): Promise<void>;
}

/** Opens the bot in one workspace, each part after those that it needs; nothing is received and nothing runs before `start`. */
export async function openWorkspace(installation: Installation, process: BotProcess): Promise<Workspace> {
  const { settings, logger } = process;
  // A wrong key is found before anything is open.
  readSealer(settings.connectionsKey);
  const record = await openRecord(installation, process);
  const slack = openSlack(installation, process);
  const tools = await openTools(installation, process, record, slack);
  const context = openContext(installation, process, record, slack, tools);
  const { toolbox, accounts } = tools;
  const { queue, store, reports } = record;
  reports.add((report) => context.limiter.follow(report));
  const { connection } = slack;
  listen(connection.app, context);
  record.refusedWrites.add(refusedWriteTeller(context));
  const { door, webhooks, ...outside } = openDoor(process, slack, context);
  const exporter = openAudit(installation, process, toolbox, context);
  const runningWork = (): object => ({
    threads: context.turns.threads(),
    work: queue.running().map(nameOfWork),
  });
  return {
    context,
    door,
    toolbox,
    parts: [
      callbackPart(context),
      connectPart({ flow: accounts.flow, publicUrl: settings.publicUrl }),
      ...(connection.part === undefined ? [] : [connection.part]),
      ...outside.parts,
      pagePart(process, slack, context, toolbox),
    ],
    isConnected: () => connection.isReady(),
    unsigned: () => exporter.refusal(),
    async start() {
      await connection.init();
      await claimRecord(store, await context.directory.ownTeam());
      await delegationsIn(store).adopt(toolbox.manifest.delegations);
      record.replaced.add(({ delegations }) => {
        delegationsIn(store)
          .adopt(delegations)
          .catch((err: unknown) => logger.error({ err }, 'delegations of the manifest not adopted'));
      });
      await queue.start(workHandlers(context, new Map([[WEBHOOK, (_, item) => webhooks.take(item)]])));
    },
    async connect() {
      await connection.start();
      const tellUnlocked = () => void tellOfUnlocked(context, toolbox.unlocked());
      tools.unlocked.add(tellUnlocked);
      tellUnlocked();
      const withdrawRemoved = () => void door.withdrawRemoved();
      record.replaced.add(withdrawRemoved);
      withdrawRemoved();
    },
    async stopReceiving() {
      logger.info(runningWork(), 'stopping: no new events, waiting for running work');
      await connection.stop();
      await outside.close();
    },
    async stop() {
      const idle = queue.stop();
      context.turns.handOverAll();
      const lastCall = setTimeout(() => context.turns.stopActions(), context.timing.stopActionsMs);
      await Promise.all([idle, context.turns.idle(STOP_TIMEOUT_MS)]);
      clearTimeout(lastCall);
      if (context.turns.threads().length > 0 || queue.running().length > 0)
        logger.warn(runningWork(), 'stopped with work left; other processes continue it');
      await context.status.idle(STATUS_TIMEOUT_MS);
      await webhooks.idle();
      await toolbox.close();
      await exporter.stop();
    },
  };
}

/** Counts refused writes, and tells the admins of each code once an hour. */
function refusedWriteTeller(context: BotContext): (code: string) => void {
  const log = context.logger.child({ part: 'record' });
  const toldOf = new Map<string, number>();
  return (code) => {
    context.metrics.count('countersign_record_refused_writes_total', { code });
    const hour = Math.floor(Date.now() / HOUR_MS);
    if (toldOf.get(code) === hour) return;
    toldOf.set(code, hour);
    log.error({ code }, 'Redis refuses writes');
    void tellOfRefusedWrites(context, code, hour);
  };
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
