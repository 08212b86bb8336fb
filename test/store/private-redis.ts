import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisMachine } from '../../playground/install/machine.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { launchWatchdog } from '../../playground/redis/launch-watchdog.ts';
import { obtainServer } from '../../playground/redis/obtain-server.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** A server with settings of its own; it ends with `stop`, or with this process however that ends. */
export interface PrivateRedis {
  readonly port: number;
  readonly url: string;
  stop(): Promise<void>;
}

export interface Place {
  readonly port: number;
  readonly folder: string;
}

/** Starts a server that keeps nothing on disk unless the arguments say so. */
export async function startPrivateRedis(
  argumentsFor: (place: Place) => readonly string[] = () => [],
  onPort?: number,
): Promise<PrivateRedis> {
  const port = onPort ?? (await findFreePort());
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-private-')));
  const url = `redis://127.0.0.1:${port}`;
  const logFile = join(folder, 'server.log');
  const watched = launchWatchdog(
    {
      server: await obtainServer(process.env, thisMachine(), () => {}),
      url,
      serverArguments: [...argumentsFor({ port, folder })],
      dataFolder: folder,
      removeDataFolder: true,
      logFile,
      lockFile: join(folder, 'server.lock'),
    },
    process.env,
  );
  await until(`the server on port ${port} is ready`, () => isReady(logFile));
  return { port, url, stop: watched.stop };
}

/** The arguments of a plain server, to which a test adds what it is about. */
export function plainArguments({ port, folder }: Place): string[] {
  return [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--daemonize', 'no'],
    ...['--save', '', '--appendonly', 'no', '--enable-debug-command', 'local'],
  ];
}

/** Waits for something that has to happen, and says what it was if it does not. */
export async function until(what: string, check: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(`It did not happen in time that ${what}`);
    await sleep(20);
  }
}

function isReady(logFile: string): boolean {
  try {
    return /Ready to accept connections|Sentinel ID is/.test(readFileSync(logFile, 'utf8'));
  } catch {
    return false;
  }
}
