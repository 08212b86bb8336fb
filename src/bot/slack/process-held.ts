import type { App, ReceiverEvent } from '@slack/bolt';
import type { Logger } from 'pino';

/**
 * Passes a payload to Bolt, and holds back Bolt's early acknowledgement of an event until every listener is done. A process that dies
 * or fails before that does not acknowledge, so that Slack sends the event again. Other payloads are acknowledged by their listener;
 * one that no listener owns is acknowledged here, because sending it again would change nothing.
 */
export async function processHeld(app: App | undefined, event: ReceiverEvent, logger: Logger): Promise<void> {
  const { type } = event.body;
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
