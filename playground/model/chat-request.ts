import { z } from 'zod';

/** Every top-level parameter of Chat Completions that the `openai` 6.49 client can send; any other is refused. */
export const chatParameters = [
  'audio',
  'frequency_penalty',
  'function_call',
  'functions',
  'logit_bias',
  'logprobs',
  'max_completion_tokens',
  'max_tokens',
  'messages',
  'metadata',
  'modalities',
  'model',
  'moderation',
  'n',
  'parallel_tool_calls',
  'prediction',
  'presence_penalty',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'reasoning_effort',
  'response_format',
  'safety_identifier',
  'seed',
  'service_tier',
  'stop',
  'store',
  'stream',
  'stream_options',
  'temperature',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'user',
  'verbosity',
  'web_search_options',
] as const;

const functionName = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[a-zA-Z0-9_-]+$/);
const callId = z.string().min(1).max(40);
const textPart = z.strictObject({ type: z.literal('text'), text: z.string() });
const textContent = z.union([z.string(), z.array(textPart).min(1)]);

const userPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({
    type: z.literal('image_url'),
    image_url: z.strictObject({ url: z.string(), detail: z.enum(['auto', 'low', 'high']).optional() }),
  }),
  z.strictObject({
    type: z.literal('input_audio'),
    input_audio: z.strictObject({ data: z.string(), format: z.enum(['wav', 'mp3']) }),
  }),
  z.strictObject({ type: z.literal('file'), file: z.looseObject({}) }),
]);

const assistantPart = z.discriminatedUnion('type', [
  textPart,
  z.strictObject({ type: z.literal('refusal'), refusal: z.string() }),
]);

const toolCall = z.strictObject({
  id: callId,
  type: z.literal('function'),
  function: z.strictObject({ name: functionName, arguments: z.string() }),
});

const chatMessage = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal('system'), content: textContent, name: z.string().optional() }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(assistantPart).min(1)]).nullish(),
    name: z.string().optional(),
    refusal: z.string().nullish(),
    tool_calls: z.array(toolCall).min(1).max(128).optional(),
    function_call: z.strictObject({ name: functionName, arguments: z.string() }).nullish(),
    audio: z.strictObject({ id: z.string() }).nullish(),
    // The reply's own message carries it, and OpenAI takes that message back as it is.
    annotations: z.array(z.unknown()).optional(),
  }),
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(userPart).min(1)]),
    name: z.string().optional(),
  }),
  z.strictObject({ role: z.literal('function'), content: z.string().nullable(), name: functionName }),
  z.strictObject({
    role: z.literal('tool'),
    content: textContent,
    tool_call_id: callId,
    name: z.string().optional(),
  }),
  z.strictObject({ role: z.literal('developer'), content: textContent, name: z.string().optional() }),
]);

const chatTool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject({
    name: functionName,
    description: z.string().max(1024).optional(),
    parameters: z.record(z.string(), z.unknown()).optional(),
    strict: z.boolean().nullish(),
  }),
});

/** Schema of a Chat Completions request; `checkRequest` checks the rules a schema cannot express. */
export const ChatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(chatMessage).min(1),
  tools: z.array(chatTool).min(1).max(128).optional(),
  tool_choice: z
    .union([
      z.enum(['none', 'auto', 'required']),
      z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  stream: z.boolean().nullish(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullish(),
  // The script holds one answer to a request, so a request for several cannot be honoured.
  n: z.int().min(1).max(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().min(0).max(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  max_completion_tokens: z.int().min(1).nullish(),
  seed: z.int().nullish(),
  user: z.string().optional(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
export type ChatMessage = ChatRequest['messages'][number];
export type ChatTool = NonNullable<ChatRequest['tools']>[number];
