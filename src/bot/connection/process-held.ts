import type { App, ReceiverEvent } from '@slack/bolt';

/**
 * Hands something of Slack's to Bolt. Bolt acknowledges an event before anybody has heard it, and a process that dies in between
 * would have lost what somebody said: the acknowledgement is held back until every listener is done, and is not given when one
 * failed, so that Slack sends it again. What is not an event is acknowledged by its listener.
 */
export async function processHeld(app: App | undefined, event: ReceiverEvent): Promise<void> {
  if (event.body.type !== 'event_callback') {
    await app?.processEvent(event);
    return;
  }
  await app?.processEvent({ ...event, ack: async () => {} });
  await event.ack();
}
