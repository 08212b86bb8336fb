import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import {
  type LocalSlack,
  type LocalSlackOptions,
  startLocalSlack,
} from '../../../playground/slack/start-local-slack.ts';
import type { JsonObject, Message } from '../../../playground/slack/state/types.ts';

/** A workspace that is stopped when the test ends. */
export async function slackForTest(options: LocalSlackOptions = {}): Promise<LocalSlack> {
  const slack = await startLocalSlack(options);
  onTestFinished(slack.stop);
  return slack;
}

/** Calls a method as an app would, with a JSON body and the bot's token unless another is given. */
export async function call(
  slack: LocalSlack,
  method: string,
  given: JsonObject = {},
  token: string | undefined = slack.botToken,
): Promise<JsonObject> {
  const response = await fetch(slack.apiUrl + method, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify(given),
  });
  return await parsed(response);
}

/** The error a call is refused with; nothing when it is not. */
export async function errorOf(slack: LocalSlack, method: string, given: JsonObject = {}): Promise<unknown> {
  return (await call(slack, method, given)).error;
}

/** Posts a plain message as the bot and returns its location. */
export async function postText(
  slack: LocalSlack,
  given: JsonObject = {},
): Promise<{ ts: string; channel: string }> {
  const posted = await call(slack, 'chat.postMessage', {
    channel: CHANNELS.general,
    text: 'hello',
    ...given,
  });
  return { ts: String(posted.ts), channel: String(posted.channel) };
}

/** The JSON object of an answer. */
export async function parsed(response: Response): Promise<JsonObject> {
  return JSON.parse(await response.text());
}

export interface Envelope {
  envelope_id: string;
  type: string;
  payload: JsonObject;
  accepts_response_payload: boolean;
  retry_attempt?: number;
  retry_reason?: string;
}

/** A bare Socket Mode client: it records envelopes and answers as configured. */
export class BareClient {
  readonly hello: JsonObject;
  readonly envelopes: Envelope[] = [];
  readonly disconnects: JsonObject[] = [];
  readonly socket: WebSocket;
  /** Returns the answer to an envelope; nothing leaves it unanswered. */
  answer: (envelope: Envelope) => JsonObject | undefined = () => ({});

  private constructor(socket: WebSocket, hello: JsonObject) {
    this.socket = socket;
    this.hello = hello;
  }

  static async connect(slack: LocalSlack): Promise<BareClient> {
    const { url } = await call(slack, 'apps.connections.open', {}, slack.appToken);
    const socket = new WebSocket(String(url));
    onTestFinished(() => socket.terminate());
    return await new Promise((resolve, reject) => {
      socket.once('error', reject);
      let client: BareClient | undefined;
      socket.on('message', (data) => {
        const message = JSON.parse(String(data));
        if (client !== undefined) client.#receive(message);
        else {
          client = new BareClient(socket, message);
          resolve(client);
        }
      });
    });
  }

  #receive(message: Envelope & { type: string }): void {
    if (message.type === 'disconnect') {
      this.disconnects.push({ ...message });
      return;
    }
    this.envelopes.push(message);
    const payload = this.answer(message);
    if (payload !== undefined)
      this.socket.send(JSON.stringify({ envelope_id: message.envelope_id, payload }));
  }
}

interface AnyBlock extends JsonObject {
  type: string;
}

/** An actions block with one button. */
export function buttonBlock(actionId: string, value = 'yes', blockId = 'choices'): AnyBlock {
  const text = { type: 'plain_text', text: actionId };
  return {
    type: 'actions',
    block_id: blockId,
    elements: [{ type: 'button', action_id: actionId, text, value }],
  };
}

/** An actions block with one overflow menu; each option is labelled with its value. */
export function overflowBlock(
  actionId: string,
  values: readonly string[],
  changes: JsonObject = {},
  blockId = 'menu',
): AnyBlock {
  const options = values.map((value) => ({ text: { type: 'plain_text', text: value }, value }));
  return {
    type: 'actions',
    block_id: blockId,
    elements: [{ type: 'overflow', action_id: actionId, options, ...changes }],
  };
}

/** A section with mrkdwn text. */
export function section(text: string): AnyBlock {
  return { type: 'section', text: { type: 'mrkdwn', text } };
}

/** A modal that asks for one line. */
export function modal(changes: JsonObject = {}): JsonObject {
  return {
    type: 'modal',
    callback_id: 'ask',
    title: { type: 'plain_text', text: 'Why?' },
    submit: { type: 'plain_text', text: 'Send' },
    blocks: [
      {
        type: 'input',
        block_id: 'reason',
        label: { type: 'plain_text', text: 'Reason' },
        element: { type: 'plain_text_input', action_id: 'text', max_length: 20 },
      },
    ],
    ...changes,
  };
}

/** A workspace with one bare client on it. */
export async function connected(options: LocalSlackOptions = {}) {
  const slack = await slackForTest(options);
  const client = await BareClient.connect(slack);
  return { slack, client, workspace: slack.workspace };
}

/** Posts a card as the bot does. */
export async function postCard(
  slack: LocalSlack,
  blocks: JsonObject[],
  channel: string = CHANNELS.general,
): Promise<Message> {
  const posted = await call(slack, 'chat.postMessage', { channel, text: 'card', blocks });
  const card = slack.workspace.messagesIn(channel).at(-1);
  if (card === undefined) throw new Error(`The card was not posted: ${JSON.stringify(posted)}`);
  return card;
}

/** The events a client got. */
export const events = (client: BareClient) =>
  client.envelopes
    .filter(({ type }) => type === 'events_api')
    .map(({ payload }) => payload.event as JsonObject);
/** The payload a client got last. */
export const lastPayload = (client: BareClient) => client.envelopes.at(-1)?.payload ?? {};
