import type { BotOptions } from './bot-options.ts';

/** A bot that a program starts and stops. */
export interface Bot {
  /** Connects to Redis and Slack, and returns the port of the HTTP server; what is wrong is one `StartError`. A bot that runs stays as it is. */
  start(): Promise<{ readonly port: number }>;
  /** Lets running work finish and closes everything; a bot that does not run stays as it is. */
  stop(): Promise<void>;
}

/** Creates a bot from a manifest and the tools of a program. Slack and Redis are loaded when it starts, so that the loop alone needs neither. */
export function createBot(options: BotOptions = {}): Bot {
  let started: Promise<RunningBot> | undefined;
  let stopped: Promise<void> = Promise.resolve();
  const run = async (): Promise<RunningBot> => {
    await stopped;
    const { runBot } = await import('./run-bot.ts');
    return runBot(options);
  };
  return {
    async start() {
      const current = started ?? run();
      started = current;
      try {
        const { port } = await current;
        return { port };
      } catch (error) {
        if (started === current) started = undefined;
        throw error;
      }
    },
    stop() {
      const current = started;
      started = undefined;
      if (current !== undefined)
        stopped = current.then(
          (bot) => bot.stop(),
          // It never ran; its start has said why.
          () => {},
        );
      return stopped;
    },
  };
}

interface RunningBot {
  readonly port: number;
  stop(): Promise<void>;
}
