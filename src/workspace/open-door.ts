import { askerProblem } from '../bot/asks/may-ask.ts';
import type { BotContext } from '../bot/context.ts';
import type { WebRequest } from '../bot/slack/bot-server.ts';
import type { HttpAnswer } from '../bot/slack/http-answer.ts';
import { engineContext } from '../bot/turns/engine-context.ts';
import { Door } from '../door/door.ts';
import { Identities } from '../door/identity.ts';
import type { McpDoor } from '../door/mcp.ts';
import { createRest } from '../door/rest.ts';
import { Webhooks } from '../door/webhooks.ts';
import { currentTrace } from '../observe/tracing.ts';
import { personInClaims } from '../page/sign-in.ts';
import { proxiedFetch } from '../tools/http/proxy.ts';
import type { BotProcess } from './installation.ts';
import type { WorkspaceSlack } from './open-slack.ts';

/** The ways in which other agents and jobs ask, and are told. */
export interface WorkspaceDoor {
  readonly door: Door;
  readonly webhooks: Webhooks;
  readonly rest: (request: WebRequest) => Promise<HttpAnswer>;
  readonly mcp: (request: WebRequest) => Promise<Response>;
  /** Takes no further requests. */
  close(): Promise<void>;
}

/** Opens the door for the callers of the manifest that is active. */
export function openDoor(
  process: BotProcess,
  { issuer: slackIssuer }: WorkspaceSlack,
  context: BotContext,
): WorkspaceDoor {
  const { settings, metrics, auditKey, mcpWaitMs, webhookGiveUpMs } = process;
  const { store, toolbox, limiter, directory } = context;
  const { proxy, publicUrl } = settings;
  const logger = process.logger.child({ part: 'door' });
  const door = new Door({
    store,
    toolbox,
    limiter,
    logger,
    trace: currentTrace,
    key: auditKey,
    engine: () => engineContext({ ...context, directory: directory.fresh() }),
    mayAsk: async (user, channel) =>
      (await askerProblem(directory, context.agent().askers, { user, channel })) === undefined,
  });
  const callers = () => toolbox.callers();
  const identities = new Identities({
    store,
    callers,
    logger,
    personIn: async (claims, issuer) => {
      const isSlack = issuer === slackIssuer;
      const found = await personInClaims(directory, claims, { isSlack });
      return 'who' in found ? found.who : undefined;
    },
    fetch: proxiedFetch(proxy) ?? fetch,
  });
  const count = (caller: string, status: number) =>
    metrics.count('countersign_door_requests_total', { caller, status: String(status) });
  // Its library is large and most bots have no such clients, so the first one waits for it.
  let mcp: Promise<McpDoor> | undefined;
  const loadMcp = async (): Promise<McpDoor> => {
    const { createMcp } = await import('../door/mcp.ts');
    const waiting = mcpWaitMs === undefined ? {} : { waitMs: mcpWaitMs };
    return createMcp({ door, identities, publicUrl, logger, count, ...waiting });
  };
  return {
    door,
    webhooks: new Webhooks({
      store,
      door,
      callers,
      proxy,
      logger,
      count: (caller, result) => metrics.count('countersign_webhooks_total', { caller, result }),
      ...(webhookGiveUpMs !== undefined && { giveUpMs: webhookGiveUpMs }),
    }),
    rest: createRest({ door, identities, logger, count }),
    async mcp(request) {
      mcp ??= loadMcp();
      return (await mcp).answer(request);
    },
    async close() {
      door.close();
      await (await mcp)?.close();
    },
  };
}
