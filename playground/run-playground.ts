import { PLAYGROUND_HELP, type PlaygroundArguments, readArguments } from './read-arguments.ts';
import { openInBrowser, openOnRequest } from './start/open-on-request.ts';
import { StoppedError } from './start/resources.ts';
import type { Playground } from './start-playground.ts';

const EXIT = { failed: 1, invalidArguments: 2, interrupted: 130 } as const;
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C can arrive several times: from the terminal, and passed on by npm and the shell. */
export const SAME_CTRL_C_MS = 500;

/** Runs the playground in this process until Ctrl-C; an expected error is one sentence. */
export async function runPlayground(given: readonly string[]): Promise<void> {
  const read = readArguments(given, process.env);
  if (read.kind === 'help') {
    process.stdout.write(PLAYGROUND_HELP);
  } else if (read.kind === 'invalid') {
    process.stderr.write(`${read.problem}\n`);
    process.exitCode = EXIT.invalidArguments;
  } else {
    await run(read.arguments);
  }
}

async function run(asked: PlaygroundArguments): Promise<void> {
  // A closed terminal must not prevent the shutdown.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {});
  const stopping = stopSignal();
  try {
    print('Loading the playground.');
    // Imported late because it takes seconds to load: help and argument errors are answered immediately.
    const { startPlayground } = await import('./start-playground.ts');
    const playground = await startPlayground({
      ...asked,
      env: process.env,
      log: print,
      signal: stopping,
      withOpening: true,
    });
    print(readyLines(playground, asked, process.uptime()));
    openOnRequest(playground.url, process.stdin, (url) => openInBrowser(url, print));
    await aborted(stopping);
    await playground.stop();
  } catch (error) {
    if (!(error instanceof StoppedError)) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = EXIT.failed;
    }
  }
  // Do not wait for handles that are still open, such as closing connections.
  process.exit();
}

function readyLines(
  { url, model, hasCard, own }: Playground,
  { dataFolder }: PlaygroundArguments,
  seconds: number,
): string {
  const modelLine = model.isScripted
    ? 'scripted (fixed rules, no AI; set OPENAI_API_KEY for a real one)'
    : model.name;
  const [example] = own?.calls ?? [];
  return [
    `Model: ${modelLine}`,
    ...(own?.workspace ?? []),
    ...(example === undefined ? [] : [`Mention the bot in #general, for example: ${example}`]),
    `Ready after ${seconds.toFixed(1)} s: ${url}`,
    `Open it in a browser${process.stdin.isTTY ? ' (or type o and Enter here)' : ''}${hasCard ? ': a card is waiting for you' : ''}. Press Ctrl-C here to stop.`,
    `Data is kept in ${dataFolder} for the next start; --reset deletes it.`,
  ].join('\n');
}

/** Returns a signal that the first Ctrl-C aborts; a second Ctrl-C ends the process. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let firstAt: number | undefined;
  const onSignal = () => {
    if (firstAt === undefined) {
      firstAt = performance.now();
      print('\nStopping.');
      stop.abort();
    } else if (performance.now() - firstAt > SAME_CTRL_C_MS) {
      // Redis and the bot notice that this process is gone and end too.
      process.exit(EXIT.interrupted);
    }
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  return stop.signal;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
