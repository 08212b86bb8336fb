import { Redis } from 'ioredis';
import OpenAI from 'openai';
import { z } from 'zod';
import type { Message } from '../../src/index.ts';
import { buildHistory } from '../support/history.ts';
import { INSTRUCTIONS, REFUND_TOOL, REQUEST_TEXT, refund } from '../support/refund.ts';
import type { Side } from './side.ts';

type ChatMessage = OpenAI.Chat.Completions.ChatCompletionMessageParam;
interface Call {
  id: string;
  name: string;
  arguments: string;
}

export interface FloorOptions {
  readonly redisUrl: string;
  readonly modelUrl: string;
  readonly isStreaming: boolean;
}

const KEPT_SECONDS = 30 * 86_400;
const SYSTEM: ChatMessage = { role: 'system', content: INSTRUCTIONS };
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

/** The least that pauses and resumes: a list of messages and one held call. No decision, no audit, no timers, no fencing. */
export function openFloor({ redisUrl, modelUrl, isStreaming }: FloorOptions): Side {
  const redis = new Redis(redisUrl);
  redis.on('error', () => {});
  const client = new OpenAI({ apiKey: 'bench', baseURL: modelUrl, maxRetries: 0, logLevel: 'off' });
  const log = (threadId: string) => `floor:log:${threadId}`;
  const held = (threadId: string) => `floor:held:${threadId}`;

  async function ask(
    model: string,
    messages: readonly ChatMessage[],
  ): Promise<{ text: string; call?: Call }> {
    const body = { messages: [SYSTEM, ...messages], tools: TOOLS };
    if (!isStreaming) {
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
      const rows = buildHistory(messages).map((message) => JSON.stringify(toChatMessage(message)));
      for (let at = 0; at < rows.length; at += 500)
        await redis.rpush(log(threadId), ...rows.slice(at, at + 500));
    },

    async pause(threadId) {
      const loaded = await redis.pipeline().lrange(log(threadId), 0, -1).exists(held(threadId)).exec();
      const user: ChatMessage = { role: 'user', content: REQUEST_TEXT };
      const { call } = await ask('caller', [...parseRows(loaded?.[0]?.[1]), user]);
      if (call === undefined) throw new Error('The model of the bench made no call.');
      const { id, ...made } = call;
      // Nobody is asked about a call that the tool could not run.
      INPUT.parse(JSON.parse(made.arguments));
      const answer: ChatMessage = {
        role: 'assistant',
        content: null,
        tool_calls: [{ id, type: 'function', function: made }],
      };
      await redis
        .multi()
        .rpush(log(threadId), JSON.stringify(user), JSON.stringify(answer))
        .set(held(threadId), JSON.stringify(call))
        .exec();
    },

    findRequest: async (threadId) => threadId,

    async resume(threadId) {
      const loaded = await redis.pipeline().getdel(held(threadId)).lrange(log(threadId), 0, -1).exec();
      const call: Call = JSON.parse(String(loaded?.[0]?.[1]));
      const { order, amount } = INPUT.parse(JSON.parse(call.arguments));
      const result: ChatMessage = {
        role: 'tool',
        tool_call_id: call.id,
        content: JSON.stringify(refund(order, amount)),
      };
      const { text } = await ask('instant', [...parseRows(loaded?.[1]?.[1]), result]);
      const answer: ChatMessage = { role: 'assistant', content: text };
      await redis
        .multi()
        .rpush(log(threadId), JSON.stringify(result), JSON.stringify(answer))
        .expire(log(threadId), KEPT_SECONDS)
        .exec();
    },
  };
}

function parseRows(rows: unknown): ChatMessage[] {
  return Array.isArray(rows) ? rows.map((row): ChatMessage => JSON.parse(String(row))) : [];
}

/** Converts a message of the bench's history, which has one part each. */
function toChatMessage({ role, content: [part] }: Message): ChatMessage {
  if (part !== undefined && 'toolRequest' in part) {
    const { ref, name, input } = part.toolRequest;
    const made = { name, arguments: JSON.stringify(input) };
    return { role: 'assistant', content: null, tool_calls: [{ id: ref, type: 'function', function: made }] };
  }
  if (part !== undefined && 'toolResponse' in part) {
    const { ref, output } = part.toolResponse;
    return { role: 'tool', tool_call_id: ref, content: String(output) };
  }
  const text = part !== undefined && 'text' in part ? part.text : '';
  return { role: role === 'model' ? 'assistant' : 'user', content: text };
}
