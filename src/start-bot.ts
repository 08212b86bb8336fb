import type { Logger } from 'pino';
import { readSigningKey, type SigningKey } from './audit/signing-key.ts';
import { probes } from './http/probes.ts';
import { createHttpServer } from './http/server.ts';
import { Metrics } from './observe/metrics.ts';
import { setGauges, setSurroundings } from './observe/observe-record.ts';
import type { Settings } from './settings.ts';
import { DEFAULT_PREFIX } from './store/port/keys.ts';
import { checkServer, readMemory } from './store/redis/check-server.ts';
import { connectRedis } from './store/redis/connect.ts';
import { claimRecord } from './store/redis/record-version.ts';
import { refusedWrite } from './store/redis/short-lived.ts';
import type { BotProcess, Installation, ProcessSetup } from './workspace/installation.ts';
import { openWorkspace, type Workspace } from './workspace/open-workspace.ts';

/** A process with one workspace. */
export interface BotSetup extends ProcessSetup, Omit<Installation, 'slack' | 'prefix'> {
  /** The prefix of all keys in Redis, so that several bots can share one. */
  readonly prefix?: string;
}

export interface RunningBot extends Pick<Workspace, 'context' | 'door' | 'toolbox'> {
  /** The port of its own HTTP server. */
  readonly port: number;
  /** Accepts nothing new, lets running work finish, and closes every connection. */
  stop(): Promise<void>;
}

/** Connects to Redis, opens the workspace and lets Slack reach it; a server that cannot be reached is one error. */
export async function startBot(setup: BotSetup): Promise<RunningBot> {
  const { settings, logger } = setup;
  const prefix = setup.prefix ?? settings.redis.prefix ?? DEFAULT_PREFIX;
  const process = await openProcess(setup);
  const { redis } = process;
  const opening = claimRecord(redis, prefix).then(() =>
    openWorkspace({ ...setup, slack: settings.slack, prefix }, process),
  );
  const workspace = await opening.catch((error) => {
    redis.disconnect();
    throw error;
  });
  const server = serverFor(workspace, process, prefix);
  const stopInOrder = async (): Promise<void> => {
    await workspace.stopReceiving();
    await server.stop();
    await workspace.stop();
    await redis.quit();
    logger.info('stopped');
  };
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopped ??= stopInOrder();
    return stopped;
  };
  try {
    await workspace.start();
    const port = await server.start();
    await workspace.connect();
    const { context, door, toolbox } = workspace;
    return { port, context, door, toolbox, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Opens what the workspaces of a process share, and warns of what is wrong with its Redis and its audit log. */
async function openProcess(setup: ProcessSetup): Promise<BotProcess> {
  const log = setup.logger.child({ part: 'record' });
  const auditKey = await readAuditKey(setup.settings, log);
  const redis = await connectRedis(setup.settings.redis, { onProblem: (message) => log.warn(message) });
  const found = await checkServer(redis).catch((error) => {
    redis.disconnect();
    throw error;
  });
  for (const { severity, setting, message } of found)
    log[severity === 'error' ? 'error' : 'warn']({ setting }, message);
  return { ...setup, redis, metrics: new Metrics(), auditKey };
}

async function readAuditKey(
  { auditKey: source, auditStateFile }: Settings,
  log: Logger,
): Promise<SigningKey | undefined> {
  const key = source && (await readSigningKey(source));
  if (key === undefined) log.warn('audit log is not signed: set AUDIT_KEY_FILE or AUDIT_KEY');
  else if (auditStateFile === undefined)
    log.warn('audit signer forgets what it signed when this process ends: set AUDIT_STATE_FILE');
  return key;
}

function serverFor(
  { parts, context, toolbox, isConnected, unsigned }: Workspace,
  { settings, redis, metrics, logger }: BotProcess,
  prefix: string,
) {
  const surroundings = {
    refusedWrite: () => refusedWrite(redis, prefix),
    memory: () => readMemory(redis),
    toolProblems: () => toolbox.problems().length,
    isConnected,
  };
  const watched = probes({
    ...surroundings,
    unsigned,
    metrics: async () => {
      await Promise.all([setGauges(context.store, metrics), setSurroundings(surroundings, metrics)]);
      return { status: 200, headers: { 'content-type': metrics.contentType }, body: await metrics.text() };
    },
    metricsToken: settings.metricsToken,
  });
  return createHttpServer({ port: settings.port, parts: [watched, ...parts], logger });
}
