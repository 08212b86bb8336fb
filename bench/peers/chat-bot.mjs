import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createSlackAdapter } from '@chat-adapter/slack';
import { createRedisState } from '@chat-adapter/state-redis';
import { streamText, tool } from 'ai';
import { Actions, Button, Card, CardText, Chat } from 'chat';
import { z } from 'zod';

/*
 * The peer: the same work by Vercel's Chat SDK with its Slack adapter and its Redis state, and by the AI SDK. The conversation and the
 * pending approval are kept in the thread's state. It has no record of who decided and no promise about effects.
 */
const built = (path) =>
  import(new URL(`../../node_modules/.cache/countersign-bench/bench/${path}`, import.meta.url));
const { INSTRUCTIONS, REFUND_TOOL, refund } = await built('support/refund.js');
const { SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_API_URL, REDIS_URL, APPROVER } = process.env;

const slack = createSlackAdapter({
  mode: 'socket',
  botToken: SLACK_BOT_TOKEN,
  appToken: SLACK_APP_TOKEN,
  apiUrl: SLACK_API_URL,
});
const bot = new Chat({ userName: 'bench', adapters: { slack }, state: createRedisState({ url: REDIS_URL }) });
const provider = createOpenAICompatible({
  name: 'bench',
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: process.env.OPENAI_BASE_URL,
});
const model = provider.chatModel(process.env.OPENAI_MODEL);
const tools = {
  [REFUND_TOOL.name]: tool({
    description: REFUND_TOOL.description,
    inputSchema: z.object({
      order: z.string().describe(REFUND_TOOL.order),
      amount: z.number().int().positive().describe(REFUND_TOOL.amount),
      reason: z.string().describe(REFUND_TOOL.reason),
    }),
    needsApproval: true,
    execute: ({ order, amount }) => refund(order, amount),
  }),
};

bot.onNewMention(async (thread, message) => {
  await thread.startTyping('is thinking…');
  const messages = [{ role: 'user', content: message.text }];
  const result = streamText({ model, system: INSTRUCTIONS, messages, tools });
  await result.consumeStream();
  const content = await result.content;
  const approval = content.find(({ type }) => type === 'tool-approval-request');
  if (approval === undefined) throw new Error('The model made no call.');
  const { messages: added } = await result.response;
  const { approvalId, toolCall } = approval;
  const call = { name: toolCall.toolName, input: JSON.stringify(toolCall.input) };
  await thread.setState({
    messages: [...messages, ...added],
    approvalId,
    call,
    requester: message.author.userId,
  });
  await thread.post(
    Card({
      title: `Approval needed: ${call.name}`,
      children: [
        CardText(call.input),
        CardText(`Requested by <@${message.author.userId}>`),
        Actions([Button({ id: 'approve', label: 'Approve', style: 'primary' })]),
      ],
    }),
  );
});

bot.onAction('approve', async ({ thread, user, adapter, threadId, messageId }) => {
  if (user.userId !== APPROVER) return;
  const { messages, approvalId, call } = (await thread.state) ?? {};
  if (approvalId === undefined) return;
  await thread.setState({ approvalId: undefined });
  await adapter.editMessage(
    threadId,
    messageId,
    Card({ title: call.name, children: [CardText(call.input), CardText(`Approved by <@${user.userId}>`)] }),
  );
  await thread.startTyping('is thinking…');
  const approved = {
    role: 'tool',
    content: [{ type: 'tool-approval-response', approvalId, approved: true }],
  };
  const result = streamText({ model, system: INSTRUCTIONS, messages: [...messages, approved], tools });
  await thread.post(result.fullStream);
  const { messages: added } = await result.response;
  await thread.setState({ messages: [...messages, approved, ...added] });
});

await bot.initialize();
