import { mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lastLines } from '../install/run-command.ts';
import { askRedis, servesFolder } from './ask-redis.ts';
import { findFreePort } from './find-free-port.ts';
import { launchWatchdog, type WatchedServer } from './launch-watchdog.ts';
import { lockDataFolder } from './lock-data-folder.ts';

const PORTS_TO_TRY = 5;
const START_TIMEOUT_MS = 60_000;

/** The server to start and its data folder; without one, a temporary folder that `stop` removes. */
export type ServerOptions = {
  server: string;
  dataFolder: string | undefined;
  persistent: boolean;
  env: NodeJS.ProcessEnv;
};

/** A private server that answers at `url` until `stop` resolves. */
export type StartedServer = { url: string; stop(): Promise<void> };

type Attempt = { kind: 'ready'; started: StartedServer } | { kind: 'ended' | 'timeout'; serverLog: string };

/** Starts a private server on a free loopback port; it has answered before this resolves, and ends with this process. */
export async function startServer(order: ServerOptions): Promise<StartedServer> {
  for (let portsLeft = PORTS_TO_TRY - 1; ; portsLeft -= 1) {
    const attempt = await attemptStart(order, await findFreePort());
    if (attempt.kind === 'ready') return attempt.started;
    const isPortTaken = attempt.kind === 'ended' && /address already in use/i.test(attempt.serverLog);
    if (isPortTaken && portsLeft > 0) continue;
    const what = attempt.kind === 'ended' ? 'exited immediately' : 'did not answer in time';
    throw new Error(
      `The Redis server ${order.server} ${what}; fix the error in its last lines, or set REDIS_URL:\n${lastLines(attempt.serverLog)}`,
    );
  }
}

async function attemptStart(order: ServerOptions, port: number): Promise<Attempt> {
  const dataFolder = realpathSync(makeDataFolder(order.dataFolder));
  const url = `redis://127.0.0.1:${port}`;
  const lockFile = await lockDataFolder(dataFolder, url);
  const logFile = join(dataFolder, 'server.log');
  const watched = launchWatchdog(
    {
      server: order.server,
      url,
      serverArguments: serverArguments(port, dataFolder, order.persistent),
      dataFolder,
      removeDataFolder: order.dataFolder === undefined,
      logFile,
      lockFile,
    },
    order.env,
  );
  const kind = await waitForStart(url, dataFolder, watched);
  if (kind === 'ready') return { kind, started: { url, stop: watched.stop } };
  const serverLog = readLog(logFile);
  await watched.stop();
  return { kind, serverLog };
}

function makeDataFolder(dataFolder: string | undefined): string {
  if (dataFolder === undefined) return mkdtempSync(join(tmpdir(), 'countersign-redis-'));
  mkdirSync(dataFolder, { recursive: true });
  return dataFolder;
}

function serverArguments(port: number, dataFolder: string, persistent: boolean): string[] {
  const persistence = persistent
    ? ['--appendonly', 'yes', '--appendfsync', 'everysec']
    : ['--appendonly', 'no'];
  return [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dataFolder, '--daemonize', 'no'],
    ...['--save', '', '--maxmemory-policy', 'noeviction'],
    ...persistence,
  ];
}

async function waitForStart(
  url: string,
  dataFolder: string,
  watched: WatchedServer,
): Promise<'ready' | 'ended' | 'timeout'> {
  const ended = watched.serverEnded.then(() => 'ended' as const);
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const outcome = await Promise.race([ended, isReady(url, dataFolder)]);
    if (outcome === 'ended') return 'ended';
    if (outcome) return 'ready';
    await sleep(25);
  }
  return 'timeout';
}

// A PONG alone could come from another server that took the port first; only ours serves this folder.
async function isReady(url: string, dataFolder: string): Promise<boolean> {
  try {
    await askRedis(url, (client) => client.ping());
    return await servesFolder(url, dataFolder);
  } catch {
    return false;
  }
}

function readLog(logFile: string): string {
  try {
    return readFileSync(logFile, 'utf8');
  } catch {
    return '';
  }
}
