import type { App, ReceiverEvent } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';

const Named = z.looseObject({ id: z.string() });
const View = z.looseObject({ user: Named, view: z.looseObject({}) });
/** The parts of each kind of payload without which Bolt and its listeners fail. */
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  event_callback: z.looseObject({
    event: z.looseObject({
      type: z.string(),
      channel: z.union([z.string(), Named]).optional(),
      user: z.union([z.string(), Named]).optional(),
    }),
  }),
  block_actions: z.looseObject({
    user: Named,
    actions: z.array(z.looseObject({ type: z.string(), action_id: z.string() })).min(1),
  }),
  view_submission: View,
  view_closed: View,
};
const Kind = z.union([z.looseObject({ type: z.string() }), z.looseObject({ command: z.string() })]);

/** Tells whether a payload of Slack has the parts of its kind; sending one without them again would change nothing. */
export function isReadable(body: unknown): boolean {
  const kind = Kind.safeParse(body).data;
  if (kind === undefined) return false;
  const { type } = kind;
  return (
    typeof type !== 'string' || !Object.hasOwn(SHAPES, type) || SHAPES[type]?.safeParse(body).success === true
  );
}

/**
 * Passes a payload to Bolt, and holds back Bolt's early acknowledgement of an event until every listener is done. A process that dies
 * or fails before that does not acknowledge, so that Slack sends the event again. Other payloads are acknowledged by their listener;
 * one that no listener owns is acknowledged here, because sending it again would change nothing.
 */
export async function processHeld(app: App | undefined, event: ReceiverEvent, logger: Logger): Promise<void> {
  const { type } = event.body;
  if (!isReadable(event.body)) {
    logger.warn({ type }, 'unreadable payload');
    await event.ack();
    return;
  }
  if (type === 'app_rate_limited') {
    const { team_id: team, minute_rate_limited: minute } = event.body;
    logger.warn({ team, minute }, 'Slack drops events: rate limit of events reached');
    await event.ack();
    return;
  }
  if (type === 'event_callback') {
    await app?.processEvent({ ...event, ack: async () => {} });
    await event.ack();
    return;
  }
  let isAcknowledged = false;
  await app?.processEvent({
    ...event,
    ack: async (response) => {
      isAcknowledged = true;
      await event.ack(response);
    },
  });
  if (isAcknowledged) return;
  logger.debug({ type }, 'payload without a listener');
  await event.ack();
}
