import { lastLines } from '../install/run-command.ts';
import type { BotProcess } from '../protocol.ts';
import { type BotCommand, type RunningProcess, runBot } from './run-bot.ts';

export interface SupervisorOptions extends BotCommand {
  /** Time a killed bot stays down, long enough to be visible. */
  readonly restartAfterMs?: number;
  /** First delay after an unexpected exit; it doubles while the bot exits before it connects. */
  readonly backOffMs?: number;
  /** Grace time of a bot that is asked to stop. */
  readonly stopGraceMs?: number;
}

/** Keeps one bot running until `stop` resolves. */
export interface BotSupervisor {
  state(): BotProcess;
  onChange(listener: () => void): void;
  /** Kills the bot and its group with no warning; it is started again after a while. */
  kill(): Promise<void>;
  /** Ends the bot in order, or without if it takes too long; it is not started again. */
  stop(): Promise<void>;
  /** Resolves when the bot is connected; rejects, with its last lines, when it ends before that. */
  connected(): Promise<void>;
}

const RESTART_AFTER_MS = 4_000;
const BACK_OFF_MS = 1_000;
const LONGEST_BACK_OFF_MS = 30_000;
const STOP_GRACE_MS = 4_000;

/** Starts the bot in its own process and restarts it whenever it ends. */
export function superviseBot(supervised: SupervisorOptions): BotSupervisor {
  const {
    restartAfterMs = RESTART_AFTER_MS,
    backOffMs = BACK_OFF_MS,
    stopGraceMs = STOP_GRACE_MS,
  } = supervised;
  const listeners: (() => void)[] = [];
  let bot: BotProcess = { state: 'starting', kills: 0 };
  let running: RunningProcess | undefined;
  let restart: NodeJS.Timeout | undefined;
  let dying: Promise<void> | undefined;
  let failures = 0;
  let isStopping = false;

  function change(next: BotProcess): void {
    bot = next;
    for (const listener of [...listeners]) listener();
  }

  function start(): void {
    const current = runBot(supervised);
    const { kills } = bot;
    let wasConnected = false;
    running = current;
    change({ state: 'starting', kills, ...(current.pid !== undefined && { pid: current.pid }) });
    void current.connected.then(() => {
      if (running !== current) return;
      wasConnected = true;
      failures = 0;
      change({ ...bot, state: 'connected' });
    });
    void current.ended.then(() => {
      if (running !== current) return;
      running = undefined;
      if (isStopping) return change({ state: 'down', kills });
      change(
        wasConnected
          ? { state: 'down', kills }
          : { state: 'failed', kills, lastOutput: lastLines(current.lastOutput()) },
      );
      startAgainAfter(Math.min(backOffMs * 2 ** failures, LONGEST_BACK_OFF_MS));
      failures += 1;
    });
  }

  function startAgainAfter(ms: number): void {
    clearTimeout(restart);
    restart = setTimeout(start, ms);
  }

  start();
  return {
    state: () => bot,
    onChange: (listener) => void listeners.push(listener),
    async kill() {
      const killed = running;
      if (killed === undefined || isStopping) return;
      running = undefined;
      change({ state: 'down', kills: bot.kills + 1, restartsAt: Date.now() + restartAfterMs });
      startAgainAfter(restartAfterMs);
      dying = killed.kill();
      await dying;
    },
    async stop() {
      isStopping = true;
      clearTimeout(restart);
      await Promise.all([dying, running?.stop(stopGraceMs)]);
    },
    connected: () =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (bot.state === 'connected') resolve();
          if (bot.state === 'failed')
            reject(new Error(`The bot exited before it was connected. Its last output:\n${bot.lastOutput}`));
          return bot.state === 'connected' || bot.state === 'failed';
        };
        if (!look()) listeners.push(() => void look());
      }),
  };
}
