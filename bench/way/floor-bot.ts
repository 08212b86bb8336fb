import { App } from '@slack/bolt';
import type { WebClient } from '@slack/web-api';
import OpenAI from 'openai';
import { z } from 'zod';
import { INSTRUCTIONS, REFUND_TOOL, refund } from '../support/refund.ts';

/*
 * The floor: a plain Bolt bot that does the same work and shows the same things (status, card, outcome, streamed reply), and
 * nothing more. All state is in this process and lost with it: no record, no audit, no deadline, no second worker.
 */
type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;

interface Call {
  readonly id: string;
  readonly name: string;
  arguments: string;
}

interface Conversation {
  readonly channel: string;
  readonly thread: string;
  readonly user: string;
  readonly team: string;
  readonly messages: ChatMessage[];
  pending?: Call;
}

const {
  SLACK_BOT_TOKEN: token = '',
  SLACK_APP_TOKEN: appToken = '',
  SLACK_API_URL: slackApiUrl = '',
  OPENAI_MODEL: model = '',
  APPROVER: approver = '',
} = process.env;
const INPUT = z.object({
  order: z.string().describe(REFUND_TOOL.order),
  amount: z.number().int().positive().describe(REFUND_TOOL.amount),
  reason: z.string().describe(REFUND_TOOL.reason),
});
const TOOLS: OpenAI.Chat.Completions.ChatCompletionFunctionTool[] = [
  {
    type: 'function',
    function: {
      name: REFUND_TOOL.name,
      description: REFUND_TOOL.description,
      parameters: z.toJSONSchema(INPUT),
    },
  },
];

const app = new App({ token, appToken, socketMode: true, clientOptions: { slackApiUrl } });
// The key and the URL come from the environment.
const openai = new OpenAI();
const conversations = new Map<string, Conversation>();

app.event('app_mention', async ({ event, client, context }) => {
  const thread = event.thread_ts ?? event.ts;
  const conversation = conversations.get(thread) ?? {
    channel: event.channel,
    thread,
    user: event.user ?? '',
    team: context.teamId ?? '',
    messages: [],
  };
  conversations.set(thread, conversation);
  conversation.messages.push({ role: 'user', content: event.text });
  await runTurn(client, conversation);
});

app.action('approve', async ({ ack, body, client }) => {
  await ack();
  if (body.type !== 'block_actions' || body.user.id !== approver) return;
  const thread = String(body.message?.thread_ts);
  const conversation = conversations.get(thread);
  const call = conversation?.pending;
  if (conversation === undefined || call === undefined) return;
  delete conversation.pending;
  const { order, amount } = INPUT.parse(JSON.parse(call.arguments));
  const content = JSON.stringify(refund(order, amount));
  conversation.messages.push({ role: 'tool', tool_call_id: call.id, content });
  await client.chat.update({
    channel: conversation.channel,
    ts: String(body.message?.ts),
    text: `${call.name} approved`,
    blocks: [section(`*${call.name}*\n${call.arguments}\nApproved by <@${body.user.id}>`)],
  });
  await runTurn(client, conversation);
});

await app.start();

/** Lets the model work: a text is streamed to the thread, a call becomes a card. */
async function runTurn(client: WebClient, conversation: Conversation): Promise<void> {
  const { channel, thread, user, team, messages } = conversation;
  await client.assistant.threads.setStatus({
    channel_id: channel,
    thread_ts: thread,
    status: 'is thinking…',
  });
  const reply = client.chatStream({
    channel,
    thread_ts: thread,
    recipient_user_id: user,
    recipient_team_id: team,
  });
  let text = '';
  let call: Call | undefined;
  const chunks = await openai.chat.completions.create({
    model,
    messages: [{ role: 'system', content: INSTRUCTIONS }, ...messages],
    tools: TOOLS,
    stream: true,
  });
  for await (const { choices } of chunks) {
    const delta = choices[0]?.delta;
    const piece = delta?.tool_calls?.[0];
    if (piece?.id !== undefined) call = { id: piece.id, name: piece.function?.name ?? '', arguments: '' };
    if (call !== undefined) call.arguments += piece?.function?.arguments ?? '';
    const words = delta?.content ?? '';
    text += words;
    if (words !== '') await reply.append({ markdown_text: words });
  }
  if (call === undefined) {
    messages.push({ role: 'assistant', content: text });
    await reply.stop();
    return;
  }
  const { id, ...made } = call;
  messages.push({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: made }],
  });
  conversation.pending = call;
  await client.chat.postMessage({
    channel,
    thread_ts: thread,
    text: `Approval needed: ${call.name}`,
    blocks: [
      section(`*Approval needed: ${call.name}*\n${call.arguments}\nRequested by <@${user}>`),
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: 'approve',
            style: 'primary',
            text: { type: 'plain_text', text: 'Approve' },
          },
        ],
      },
    ],
  });
}

function section(text: string) {
  return { type: 'section', text: { type: 'mrkdwn', text } } as const;
}
