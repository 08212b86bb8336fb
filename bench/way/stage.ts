import { type LocalSlackOptions, startLocalSlack } from '../../playground/slack/start-local-slack.ts';
import type { Workspace } from '../../playground/slack/workspace.ts';
import { type NodeProcess, startNode } from '../support/node-process.ts';
import { type BotKind, type BotServers, botEnvironment } from './bots.ts';
import { SlackPeople } from './slack-people.ts';

/** A local Slack of its own for one bot. The bot can be started in it several times, one after the other. */
export interface Stage {
  readonly workspace: Workspace;
  readonly people: SlackPeople;
  /** Starts the bot and returns when it has a connection to Slack. */
  startBot(servers: Omit<BotServers, 'slack'>): Promise<StartedBot>;
  /** Switches the delay of every answer of the Web API on or off; it is off at first. */
  setSlow(isSlow: boolean): void;
  stop(): Promise<void>;
}

export interface StartedBot extends NodeProcess {
  /** From the start of the process to the first connection that Slack can use. */
  readonly startUpMs: number;
}

const TIMEOUT_MS = 60_000;

export async function openStage(
  kind: BotKind,
  { delayMs = 0, seed = {} }: { readonly delayMs?: number; readonly seed?: LocalSlackOptions } = {},
): Promise<Stage> {
  const slack = await startLocalSlack(seed);
  const { workspace } = slack;
  const bots: NodeProcess[] = [];
  let isSlow = false;
  const delay = { kind: 'slow', milliseconds: delayMs } as const;
  workspace.fail('*', delay, { calls: Number.POSITIVE_INFINITY, when: () => isSlow });
  return {
    workspace,
    people: new SlackPeople(workspace),
    async startBot(servers) {
      await connections(workspace, (count) => count === 0);
      const startedAt = performance.now();
      const bot = startNode(kind, botEnvironment({ slack, ...servers }));
      bots.push(bot);
      await Promise.race([connections(workspace, (count) => count > 0), bot.failed]);
      return { ...bot, startUpMs: performance.now() - startedAt };
    },
    setSlow(slow) {
      isSlow = slow;
    },
    async stop() {
      for (const bot of bots) await bot.kill();
      await slack.stop();
    },
  };
}

function connections(workspace: Workspace, isEnough: (count: number) => boolean): Promise<boolean> {
  return workspace.until(({ socketConnections }) => isEnough(socketConnections), {
    timeoutMs: TIMEOUT_MS,
    what: 'another number of connections',
  });
}
