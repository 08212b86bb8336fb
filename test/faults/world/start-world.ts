import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster, Redis } from 'ioredis';
import { startLocalModel } from '../../../playground/model/start-local-model.ts';
import { startLocalSlack } from '../../../playground/slack/start-local-slack.ts';
import { createKeyPair, readSigningKey } from '../../../src/audit/signing-key.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../../src/tools/manifest/parse.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { startRedisProxy } from '../../support/redis-proxy.ts';
import type { FaultAction, WorkerNews } from '../worker/fault-messages.ts';
import { PREFIX } from '../worker/prefix.ts';
import type { WorkerOrder } from '../worker/worker.ts';
import { Callers } from './callers.ts';
import { CHANNELS, USER_GROUPS, USERS } from './cast.ts';
import { ANYBODY_APPROVES, CALLER_KEY, MANIFEST, PAGE_SECRET } from './manifest.ts';
import { FailingModel } from './model-script.ts';
import { startOwnRedis } from './own-redis.ts';
import { People } from './people.ts';
import { Signers } from './signers.ts';
import { startWorker, type Worker } from './start-worker.ts';

/** A secret in the workers' environment that must never be shown anywhere. */
export const SECRET = 'planted-secret-51f0c2';

/** After how long without a sign of life a worker is taken for dead where workers die or sleep: fast enough for a suite. */
export const NOTICE_MS = 1_500;
/** The same where none does: a worker is not dead that a busy machine holds up, that waits to connect again, or that Redis answers late. */
const PATIENT_NOTICE_MS = 8_000;
const SIGN_MS = 150;
const PUBLIC_URL = 'http://localhost';
const CALLBACK_SECRET = 'the callback secret of the tests, long enough';
const SWEEP = { everyMs: 700, overdueMs: 100 };
/** Often enough that workers die over it. */
const AUDIT = { everyMs: 1_000, checkpointEveryMs: 1_000 };

export interface WorldOptions {
  /** The folder of the built worker. */
  readonly built: string;
  readonly workers: number;
  readonly defect?: string;
  /** The most talkative one unless it says otherwise, because a secret must not get out at any. */
  readonly logLevel?: string;
  /** After how long without a sign of life a worker is taken for dead, where that is not the usual. */
  readonly noticeMs?: number;
  /** Three masters with a replica each, and not one server. */
  readonly cluster?: boolean;
  /** Whether people know that a worker which fell silent is dead, and have what did not run run again; whoever only sleeps may act yet. */
  readonly silentIsDead?: boolean;
  readonly clockAheadMs?: (index: number) => number;
  /** Slack's time limit for an acknowledgement; three seconds by default. */
  readonly acknowledgementMs?: number;
  readonly run?: LongRun;
}

/** A run that takes longer than one sitting. */
export interface LongRun {
  /** Told now and then how far it is. */
  readonly onProgress: (text: string) => void;
  /** The number of failures at each point in earlier sittings. */
  readonly earlier: ReadonlyMap<string, number>;
  /** The time at which no new errand is begun. */
  readonly endsAt: number;
}

const ONE_SITTING: LongRun = {
  onProgress: () => {},
  earlier: new Map(),
  endsAt: Number.POSITIVE_INFINITY,
};

export type World = Awaited<ReturnType<typeof startWorld>>;

/** Starts Redis, Slack, the model, people and workers; a worker that dies is replaced for as long as the world stands. */
export async function startWorld(options: WorldOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-faults-'));
  const effectsFile = join(folder, 'effects.jsonl');
  const logFile = join(folder, 'workers.log');
  writeFileSync(effectsFile, '');
  const redis = await startOwnRedis(join(folder, 'redis'));
  const proxy = await startRedisProxy(redis.url);
  const slack = await startLocalSlack({
    users: USERS,
    channels: CHANNELS,
    userGroups: USER_GROUPS,
    app: { commands: ['/countersign'] },
    // As patient as Slack is, in a world that is faster: it sends again until some worker is there.
    timings: {
      eventRetries: [300, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000],
      ...(options.acknowledgementMs !== undefined && { acknowledgement: options.acknowledgementMs }),
    },
  });
  const failing = new FailingModel();
  const model = await startLocalModel({ script: failing.reply });
  const cluster = options.cluster === true ? await startRedisCluster(3, { withReplicas: true }) : undefined;
  const client = cluster === undefined ? new Redis(redis.url) : new Cluster([...cluster.nodes]);
  client.on('error', () => {});
  const release = async (threadId: string): Promise<void> => {
    await openRedisStore({ client, prefix: PREFIX }).unquarantine(threadId, {
      by: 'an admin',
      with: 'retry',
    });
  };
  const workers = new Set<Worker>();
  const signers = new Signers({
    ...{ workspace: slack.workspace, publicUrl: PUBLIC_URL, secret: CALLBACK_SECRET },
    store: openRedisStore({ client, prefix: PREFIX }),
    ports: () => [...workers].map(({ port }) => port),
  });
  await signers.enrol();
  const people = new People(slack.workspace, {
    ...{ effectsFile, release, signers },
    runsAgain: options.silentIsDead ?? false,
  });
  const reached = new Set<string>();
  const faults: { point: string; action: FaultAction; pid: number }[] = [];
  let atBirth: (worker: Worker) => void = () => {};
  let started = 0;
  let isOver = false;

  const parsed = parseManifest(options.defect === 'anybody-approves' ? ANYBODY_APPROVES : MANIFEST, {
    file: 'faults.yml',
    environment: { CALLER_KEY, PAGE_SECRET },
  });
  if (!parsed.ok) throw new Error(`The manifest of the faults does not hold: ${JSON.stringify(parsed)}`);
  const auditKey = { text: createKeyPair().privatePem };
  const noticeMs = options.noticeMs ?? PATIENT_NOTICE_MS;
  const orderOf = (index: number): WorkerOrder => ({
    settings: {
      slack: { mode: 'socket', botToken: slack.botToken, appToken: slack.appToken, apiUrl: slack.apiUrl },
      model: { model: 'scripted', apiKey: SECRET, baseURL: model.url, silenceMs: 1_500 },
      redis:
        cluster === undefined
          ? { mode: 'single', urls: [proxy.url] }
          : { mode: 'cluster', urls: cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`) },
      manifest: 'faults.yml',
      port: 0,
      publicUrl: PUBLIC_URL,
      callbackSecret: CALLBACK_SECRET,
      crashNoticeSeconds: 5,
      auditKey,
      logLevel: options.logLevel ?? 'debug',
    },
    manifest: parsed.manifest,
    folder: options.built,
    timing: {
      heartbeatTimeoutMs: noticeMs,
      heartbeatMs: SIGN_MS,
      leaseMs: noticeMs,
      renewMs: SIGN_MS,
      claimMs: noticeMs,
      redrawMs: 2 * noticeMs,
    },
    sweep: SWEEP,
    audit: { ...AUDIT, leaseMs: noticeMs },
    clockAheadMs: options.clockAheadMs?.(index) ?? 0,
  });

  function hear(news: WorkerNews, worker: Worker): void {
    if (news.kind === 'reached') reached.add(news.point);
    if (news.kind === 'fault') faults.push({ point: news.point, action: news.action, pid: worker.pid });
  }

  /** Starts one more, and another in its place when it dies. */
  async function addWorker(): Promise<void> {
    const worker = await startWorker({
      order: orderOf(started++),
      environment: {
        FAULTS_EFFECTS: effectsFile,
        FAULTS_SECRET: SECRET,
        FAULTS_DEFECT: options.defect ?? '',
      },
      logFile,
      onNews: hear,
      onBirth: (worker) => atBirth(worker),
    });
    workers.add(worker);
    void worker.gone.then(() => {
      workers.delete(worker);
      replace();
    });
    if (isOver) await worker.kill();
  }

  /** Slack, Redis or the token may be what is broken: then a new worker does not come up, and is tried again. */
  function replace(): void {
    if (!isOver) void addWorker().catch(() => setTimeout(replace, 300));
  }

  await Promise.all(Array.from({ length: options.workers }, () => addWorker()));
  const looking = people.run();
  const callers = new Callers({
    people,
    effectsFile,
    auditKey: await readSigningKey(auditKey),
    release,
    ports: () => [...workers].map(({ port }) => port),
  });

  return {
    folder,
    effectsFile,
    logFile,
    redis,
    proxy,
    cluster,
    client,
    slack,
    workspace: slack.workspace,
    model,
    failing,
    people,
    signers,
    callers,
    reached,
    faults,
    workers,
    /** Has each worker that is started from now on met before it does anything. */
    meetAtBirth(meet: (worker: Worker) => void): void {
      atBirth = meet;
    },
    run: options.run ?? ONE_SITTING,
    async stop(): Promise<void> {
      isOver = true;
      callers.stop();
      people.stop();
      await looking;
      await Promise.all([...workers].map((worker) => worker.kill()));
      client.disconnect();
      await slack.stop();
      await model.stop().catch(() => {});
      await proxy.stop();
      await redis.kill();
      await cluster?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
