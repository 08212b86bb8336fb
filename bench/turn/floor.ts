import { Redis } from 'ioredis';
import OpenAI from 'openai';
import { chatMessages, chatTool } from '../../src/agent/openai/chat-request.ts';
import { Transcript } from '../../src/agent/transcript.ts';
import { buildHistory } from '../build-history.ts';
import { benchTools } from './bench-tools.ts';
import { refund, SAID, type Side, type SideOptions } from './side.ts';

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
interface Call {
  id: string;
  name: string;
  arguments: string;
}

const KEPT_SECONDS = 30 * 86_400;

/** The least that pauses and resumes: a list of messages and one held call; no record of who decided, no audit, no timers. */
export function openFloor(options: SideOptions & { readonly stream: boolean }): Side {
  const { redisUrl, modelUrl, stream } = options;
  const redis = new Redis(redisUrl);
  redis.on('error', () => {});
  const client = new OpenAI({ apiKey: 'bench', baseURL: modelUrl, maxRetries: 0, logLevel: 'off' });
  // The same tools and the same words as ours are sent; they are written once, as any program would.
  const toolbox = benchTools(options.tools);
  const tools = toolbox
    .tools()
    .map(({ name, description, inputSchema }) =>
      chatTool({ name, description, inputSchema: inputSchema.jsonSchema }),
    );
  const system: ChatMessage = {
    role: 'system',
    content: `You help.\n\n${toolbox.notice({ channel: '', requester: '' })}`,
  };
  const log = (threadId: string) => `floor:log:${threadId}`;
  const held = (threadId: string) => `floor:held:${threadId}`;

  async function ask(
    model: string,
    messages: readonly ChatMessage[],
  ): Promise<{ text: string; call?: Call }> {
    const body = { messages: [system, ...messages], tools };
    if (!stream) {
      const answer = await client.chat.completions.create({ model: `${model}-whole`, ...body });
      const message = answer.choices[0]?.message;
      const [call] = message?.tool_calls ?? [];
      const text = message?.content ?? '';
      return call?.type === 'function' ? { text, call: { id: call.id, ...call.function } } : { text };
    }
    let text = '';
    let call: Call | undefined;
    const chunks = await client.chat.completions.create({ model, ...body, stream: true });
    for await (const { choices } of chunks) {
      const delta = choices[0]?.delta;
      text += delta?.content ?? '';
      const piece = delta?.tool_calls?.[0];
      if (piece?.id !== undefined) call = { id: piece.id, name: piece.function?.name ?? '', arguments: '' };
      if (call !== undefined) call.arguments += piece?.function?.arguments ?? '';
    }
    return call === undefined ? { text } : { text, call };
  }

  return {
    async fill(threadId, messages) {
      const { history } = Transcript.of(buildHistory(messages));
      const rows = chatMessages(history).map((message) => JSON.stringify(message));
      for (let at = 0; at < rows.length; at += 500)
        await redis.rpush(log(threadId), ...rows.slice(at, at + 500));
    },

    async pause(threadId) {
      const loaded = await redis.pipeline().lrange(log(threadId), 0, -1).exists(held(threadId)).exec();
      const rows = textsOf(loaded?.[0]?.[1]);
      const user: ChatMessage = { role: 'user', content: SAID };
      const { call } = await ask('caller', [...rows.map((row): ChatMessage => JSON.parse(row)), user]);
      if (call === undefined) throw new Error('The model of the bench made no call.');
      const { id, ...made } = call;
      const said: ChatMessage = {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: made }],
      };
      await redis
        .multi()
        .rpush(log(threadId), JSON.stringify(user), JSON.stringify(said))
        .set(held(threadId), JSON.stringify(call))
        .exec();
    },

    handleOf: async (threadId) => threadId,

    async resume(threadId) {
      const loaded = await redis.pipeline().getdel(held(threadId)).lrange(log(threadId), 0, -1).exec();
      const call: Call = JSON.parse(String(loaded?.[0]?.[1]));
      const rows = textsOf(loaded?.[1]?.[1]);
      const { order, amount } = JSON.parse(call.arguments);
      const result: ChatMessage = {
        role: 'tool',
        tool_call_id: call.id,
        content: JSON.stringify(refund(order, amount)),
      };
      const { text } = await ask('instant', [...rows.map((row): ChatMessage => JSON.parse(row)), result]);
      const said: ChatMessage = { role: 'assistant', content: text };
      await redis
        .multi()
        .rpush(log(threadId), JSON.stringify(result), JSON.stringify(said))
        .expire(log(threadId), KEPT_SECONDS)
        .exec();
    },

    async deliver() {},

    async close() {
      await redis.quit();
    },
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
