import { z } from 'zod';
import type { ChatMessage, ChatRequest } from './chat-request.ts';

const functionName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);
const inputText = z.strictObject({ type: z.literal('input_text'), text: z.string() });
const inputImage = z.strictObject({
  type: z.literal('input_image'),
  image_url: z.string().regex(/^(?:https?:|data:image\/)/),
  detail: z.enum(['auto', 'low', 'high', 'original']),
});
const inputFile = z.strictObject({
  type: z.literal('input_file'),
  filename: z.string().optional(),
  file_data: z
    .string()
    .regex(/^data:application\/pdf;base64,/)
    .optional(),
  file_url: z.url().optional(),
});
const inputPart = z.discriminatedUnion('type', [inputText, inputImage, inputFile]);
const outputPart = z.strictObject({
  type: z.literal('output_text'),
  text: z.string(),
  annotations: z.array(z.unknown()),
  logprobs: z.array(z.unknown()),
});
const phase = z.enum(['commentary', 'final_answer']).optional();

const inputItem = z.union([
  z.strictObject({
    type: z.literal('message'),
    role: z.enum(['user', 'system', 'developer']),
    content: z.union([z.string(), z.array(inputPart).min(1)]),
  }),
  z.strictObject({ type: z.literal('message'), role: z.literal('assistant'), content: z.string(), phase }),
  z.strictObject({
    type: z.literal('message'),
    role: z.literal('assistant'),
    id: z.string().regex(/^msg_/),
    status: z.enum(['in_progress', 'completed', 'incomplete']),
    content: z.array(outputPart).min(1),
    phase,
  }),
  z.strictObject({
    type: z.literal('reasoning'),
    id: z.string().regex(/^rs_/),
    summary: z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() })),
    encrypted_content: z.string().nullish(),
  }),
  z.strictObject({
    type: z.literal('function_call'),
    id: z.string().regex(/^fc_/).optional(),
    call_id: z.string().min(1).max(64),
    name: functionName,
    arguments: z.string(),
  }),
  z.strictObject({
    type: z.literal('function_call_output'),
    call_id: z.string().min(1).max(64),
    output: z.union([z.string(), z.array(inputPart).min(1)]),
  }),
]);
export type InputItem = z.infer<typeof inputItem>;

const tool = z.strictObject({
  type: z.literal('function'),
  name: functionName,
  description: z.string().max(1024).optional(),
  parameters: z.record(z.string(), z.unknown()).nullable(),
  strict: z.boolean().nullable(),
});

/** The part of a Responses request that a client without state may send; any other field is refused. */
export const ResponsesRequest = z.strictObject({
  model: z.string(),
  instructions: z.string().nullish(),
  input: z.array(inputItem).min(1),
  tools: z.array(tool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), name: z.string() }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().nullish(),
  stream: z.boolean().nullish(),
  // With `store` on, the provider would keep what people wrote.
  store: z.literal(false),
  include: z.array(z.literal('reasoning.encrypted_content')).nullish(),
  prompt_cache_key: z.string().max(64).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_output_tokens: z.int().min(16).nullish(),
  reasoning: z
    .strictObject({ effort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']) })
    .nullish(),
  text: z
    .strictObject({
      verbosity: z.enum(['low', 'medium', 'high']).optional(),
      format: z
        .strictObject({
          type: z.literal('json_schema'),
          name: z.string(),
          schema: z.record(z.string(), z.unknown()),
          strict: z.boolean(),
        })
        .optional(),
    })
    .nullish(),
  service_tier: z.enum(['auto', 'default', 'flex', 'scale', 'priority']).nullish(),
});
export type ResponsesRequest = z.infer<typeof ResponsesRequest>;

/** Writes a Responses request as one of Chat Completions, so that one script answers both. */
export function toChatRequest(request: ResponsesRequest): ChatRequest {
  const { instructions, tools } = request;
  const messages: ChatMessage[] = instructions ? [{ role: 'system', content: instructions }] : [];
  for (const item of request.input) addItem(messages, item);
  return {
    model: request.model,
    messages,
    stream: request.stream,
    ...(tools !== undefined && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        function: {
          name,
          ...(description !== undefined && { description }),
          ...(parameters !== null && { parameters }),
        },
      })),
    }),
  };
}

function addItem(messages: ChatMessage[], item: InputItem): void {
  if (item.type === 'reasoning') return;
  if (item.type === 'function_call_output') {
    messages.push({ role: 'tool', tool_call_id: item.call_id, content: textOf(item.output) });
    return;
  }
  if (item.type === 'message' && item.role !== 'assistant') {
    messages.push({ role: item.role, content: textOf(item.content) });
    return;
  }
  const last = messages.at(-1);
  const open = last?.role === 'assistant' ? last : undefined;
  const message = open ?? { role: 'assistant' as const, content: null };
  if (open === undefined) messages.push(message);
  if (item.type === 'message') message.content = `${message.content ?? ''}${textOf(item.content)}`;
  else {
    const call = {
      id: item.call_id,
      type: 'function' as const,
      function: { name: item.name, arguments: item.arguments },
    };
    message.tool_calls = [...(message.tool_calls ?? []), call];
  }
}

function textOf(content: string | readonly { readonly text?: string; readonly type: string }[]): string {
  if (typeof content === 'string') return content;
  return content.map(({ type, text }) => text ?? `[${type}]`).join('');
}
