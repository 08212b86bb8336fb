import type { App, ReceiverEvent } from '@slack/bolt';

/**
 * Passes a payload to Bolt, and holds back Bolt's early acknowledgement of an event until every listener is done. A process that dies
 * or fails before that does not acknowledge, so that Slack sends the event again. Other payloads are acknowledged by their listener.
 */
export async function processHeld(app: App | undefined, event: ReceiverEvent): Promise<void> {
  if (event.body.type !== 'event_callback') {
    await app?.processEvent(event);
    return;
  }
  await app?.processEvent({ ...event, ack: async () => {} });
  await event.ack();
}
