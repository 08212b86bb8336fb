import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The server that the watchdog runs, and the files it removes at the end. */
export type WatchdogOptions = {
  server: string;
  url: string;
  serverArguments: string[];
  dataFolder: string;
  removeDataFolder: boolean;
  logFile: string;
  lockFile: string;
};

/** A server under a watchdog: `serverEnded` resolves if it exits unexpectedly, `stop` when the server and its files are gone. */
export type WatchedServer = { serverEnded: Promise<void>; stop(): Promise<void> };

/** Starts the server under a watchdog that ends it however this process ends, without keeping this process alive. */
export function launchWatchdog(order: WatchdogOptions, env: NodeJS.ProcessEnv): WatchedServer {
  const { NODE_OPTIONS: _loaderOfThisProcess, ...plainEnv } = env;
  const script = fileURLToPath(new URL('./watchdog.mjs', import.meta.url));
  // Detached, so that Ctrl-C in the terminal reaches this process only and the server is stopped in order.
  const watchdog = spawn(process.execPath, [script, JSON.stringify(order)], {
    detached: true,
    env: plainEnv,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve) => {
    watchdog.once('exit', () => resolve());
    watchdog.once('error', () => resolve());
  });
  const serverEnded = new Promise<void>((resolve) => {
    watchdog.stdout.once('data', () => resolve());
    void ended.then(resolve);
  });
  watchdog.stdin.on('error', () => {});
  watchdog.unref();
  for (const stream of [watchdog.stdin, watchdog.stdout]) {
    if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  return {
    serverEnded,
    stop() {
      watchdog.ref();
      watchdog.stdin.end();
      return ended;
    },
  };
}
