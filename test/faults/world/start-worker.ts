import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { serialize } from 'node:v8';
import { type Arm, WorkerNews } from '../worker/fault-messages.ts';
import type { WorkerOrder } from '../worker/worker.ts';

/** A bot in a process of its own, that can be told where to fail. */
export interface Worker {
  readonly pid: number;
  /** The port of its door, once it is ready. */
  port: number;
  arm(fault: Omit<Arm, 'kind'>): void;
  /** The memory after a garbage collection, in bytes. */
  memory(): Promise<{ readonly heapUsed: number; readonly rss: number }>;
  /** Wakes it after it was stopped. */
  wake(): void;
  kill(): Promise<void>;
  /** Asks it to end by itself, as a deployment does. */
  end(): void;
  readonly gone: Promise<unknown>;
}

export interface WorkerSetup {
  readonly order: WorkerOrder;
  readonly environment: NodeJS.ProcessEnv;
  /** The log file. */
  readonly logFile: string;
  readonly onNews: (news: WorkerNews, worker: Worker) => void;
  /** Called before it has done anything. */
  readonly onBirth: (worker: Worker) => void;
}

/** Starts a worker; it is connected when this resolves, and an end before that is an error. */
export async function startWorker({
  order,
  environment,
  logFile,
  onNews,
  onBirth,
}: WorkerSetup): Promise<Worker> {
  const log = openSync(logFile, 'a');
  const encoded = serialize(order).toString('base64');
  const child = spawn(process.execPath, ['--expose-gc', join(order.folder, 'launch.cjs'), encoded], {
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...process.env, ...environment },
  });
  closeSync(log);
  const { pid } = child;
  if (pid === undefined) throw new Error('The worker could not be started');
  const gone = once(child, 'exit');
  const worker: Worker = {
    pid,
    port: 0,
    arm: (fault) => {
      if (child.connected) child.send({ kind: 'arm', ...fault }, () => {});
    },
    memory: async () => {
      child.send({ kind: 'measure' });
      for await (const [message] of on(child, 'message')) {
        const news = WorkerNews.parse(message);
        if (news.kind === 'memory') return news;
      }
      throw new Error('The worker did not tell how much memory it holds');
    },
    wake: () => child.kill('SIGCONT'),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
    end: () => child.kill('SIGTERM'),
    gone,
  };
  onBirth(worker);
  const ready = new Promise<true>((resolve) => {
    child.on('message', (message) => {
      const news = WorkerNews.parse(message);
      if (news.kind === 'ready') {
        worker.port = news.port;
        resolve(true);
      }
      onNews(news, worker);
    });
  });
  const isReady = await Promise.race([ready, gone.then(() => false)]);
  if (!isReady) throw new Error(`A worker ended before it was connected; see ${logFile}`);
  return worker;
}
