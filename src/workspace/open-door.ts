import type { BotContext } from '../bot/context.ts';
import { engineContext } from '../bot/engine-context.ts';
import { Door } from '../door/door.ts';
import type { McpDoor } from '../door/mcp.ts';
import { WaitingPlaces } from '../door/waiting-places.ts';
import { Webhooks } from '../door/webhooks.ts';
import { askerProblem } from '../engine/asks/may-ask.ts';
import type { HttpPart } from '../http/http-part.ts';
import { currentTrace } from '../observe/tracing.ts';
import { personInClaims } from '../page/claims.ts';
import { proxiedFetch } from '../tools/http/proxy.ts';
import type { BotProcess } from './installation.ts';
import type { WorkspaceSlack } from './open-slack.ts';

/** The ways in which other agents and jobs ask, and are told. */
export interface WorkspaceDoor {
  readonly door: Door;
  readonly webhooks: Webhooks;
  readonly parts: readonly HttpPart[];
  /** Takes no further requests. */
  close(): Promise<void>;
}

/** Callers may wait for up to a minute. */
const ANSWER_MS = 75_000;

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
  const places = new WaitingPlaces();
  const count = (caller: string, status: number) =>
    metrics.count('countersign_door_requests_total', { caller, status: String(status) });
  const openIdentities = async () => {
    const { Identities } = await import('../door/identity.ts');
    return new Identities({
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
  };
  let identities: ReturnType<typeof openIdentities> | undefined;
  const shared = async () => {
    identities ??= openIdentities();
    return { door, identities: await identities, places, logger, count };
  };
  let mcp: Promise<McpDoor> | undefined;
  const openMcp = async (): Promise<McpDoor> => {
    const [served, common] = await Promise.all([import('../door/mcp.ts'), shared()]);
    return served.openMcp({ ...common, publicUrl, ...(mcpWaitMs !== undefined && { waitMs: mcpWaitMs }) });
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
    parts: [
      {
        paths: ['/v1/*'],
        answerMs: ANSWER_MS,
        async open() {
          const [{ openRest }, common] = await Promise.all([import('../door/rest.ts'), shared()]);
          return openRest(common);
        },
      },
      {
        paths: ['/mcp'],
        answerMs: ANSWER_MS,
        open() {
          mcp = openMcp();
          return mcp;
        },
      },
    ],
    async close() {
      door.close();
      await (await mcp)?.close();
    },
  };
}
