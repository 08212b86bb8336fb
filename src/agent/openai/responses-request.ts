import type OpenAI from 'openai';
import { z } from 'zod';
import type { Media } from '../messages.ts';
import type { HistoryItem, SettledCall, ToolChoice, ToolSpec } from '../model.ts';
import { type AdapterRequest, acceptableName, parametersOf, resultText, strictOutput } from './request.ts';

type ResponsesRequest = OpenAI.Responses.ResponseCreateParamsStreaming;
type InputItem = OpenAI.Responses.ResponseInputItem;
type ResponsesTool = OpenAI.Responses.FunctionTool;
type ModelItem = Extract<HistoryItem, { role: 'model' }>;

/** An item of an answer. Text and arguments are in our messages already, so a message has its length and a call its index. */
const OutputItem = z.discriminatedUnion('type', [
  z.object({ type: z.literal('reasoning'), id: z.string(), encrypted_content: z.string() }),
  z.object({
    type: z.literal('message'),
    length: z.number().int().nonnegative(),
    id: z.string().optional(),
    phase: z.enum(['commentary', 'final_answer']).optional(),
  }),
  z.object({ type: z.literal('call'), index: z.number().int().nonnegative(), id: z.string().optional() }),
]);
export type OutputItem = z.infer<typeof OutputItem>;

/** The items of one answer in their order. */
export const ResponsesData = z.object({ items: z.array(OutputItem) });

/** Comes between the texts of two messages of one answer. */
export const BETWEEN_MESSAGES = '\n\n';

/** Builds the body of a streaming Responses request. The provider keeps nothing: every request has the whole history. */
export function responsesRequest(request: AdapterRequest): ResponsesRequest {
  const { model, system, history, tools, config, outputSchema } = request;
  const text = {
    ...(config.verbosity !== undefined && { verbosity: config.verbosity }),
    ...(outputSchema !== undefined && {
      format: { type: 'json_schema' as const, ...strictOutput(outputSchema) },
    }),
  };
  return {
    model,
    stream: true,
    store: false,
    include: ['reasoning.encrypted_content'],
    ...(system !== undefined && { instructions: system }),
    input: history.flatMap((item) => inputItems(item, request.dataOf)),
    ...(tools.length > 0 && {
      tools: tools.map(responsesTool),
      ...(request.toolChoice !== undefined && { tool_choice: responsesChoice(request.toolChoice) }),
      ...(config.parallelToolCalls !== undefined && { parallel_tool_calls: config.parallelToolCalls }),
    }),
    ...(config.temperature !== undefined && { temperature: config.temperature }),
    ...(config.topP !== undefined && { top_p: config.topP }),
    ...(config.maxOutputTokens !== undefined && { max_output_tokens: config.maxOutputTokens }),
    ...(config.reasoningEffort !== undefined && { reasoning: { effort: config.reasoningEffort } }),
    ...(config.serviceTier !== undefined && { service_tier: config.serviceTier }),
    ...(Object.keys(text).length > 0 && { text }),
  };
}

function responsesTool({ name, description, inputSchema }: ToolSpec): ResponsesTool {
  // Without `strict: false` the provider rewrites the schema and makes optional fields required.
  return { type: 'function', name, description, parameters: parametersOf(inputSchema), strict: false };
}

function responsesChoice(choice: ToolChoice) {
  return typeof choice === 'string' ? choice : { type: 'function' as const, name: choice.tool };
}

function inputItems(item: HistoryItem, dataOf: AdapterRequest['dataOf']): InputItem[] {
  if (item.role === 'user') {
    const { text, media = [] } = item;
    const content = media.length === 0 ? text : [inputText(text), ...media.map(inputImage)];
    return [{ type: 'message', role: 'user', content }];
  }
  const given = dataOf(item);
  const data = given === undefined ? undefined : ResponsesData.safeParse(given).data;
  return [...(verbatimItems(item, data?.items) ?? plainItems(item)), ...item.calls.map(callOutput)];
}

/** Rebuilds the items of an answer as the model wrote them; `undefined` if they do not fit the message any more. */
function verbatimItems(item: ModelItem, items: readonly OutputItem[] = []): InputItem[] | undefined {
  const built: InputItem[] = [];
  const called = new Set<number>();
  let at = 0;
  for (const output of items) {
    if (output.type === 'reasoning') {
      built.push({ ...output, summary: [] });
    } else if (output.type === 'call') {
      const call = item.calls[output.index];
      if (call === undefined) return undefined;
      called.add(output.index);
      built.push(callItem(call, output.id));
    } else {
      if (at > 0) at += BETWEEN_MESSAGES.length;
      built.push(messageItem(item.text.slice(at, at + output.length), output));
      at += output.length;
    }
  }
  return at === item.text.length && called.size === item.calls.length ? built : undefined;
}

function plainItems({ text, calls }: ModelItem): InputItem[] {
  const message: InputItem[] = text === '' ? [] : [{ type: 'message', role: 'assistant', content: text }];
  return [...message, ...calls.map((call) => callItem(call, undefined))];
}

function messageItem(text: string, { id, phase }: Extract<OutputItem, { type: 'message' }>): InputItem {
  const ofPhase = phase !== undefined && { phase };
  if (id === undefined) return { type: 'message', role: 'assistant', content: text, ...ofPhase };
  const content = [{ type: 'output_text' as const, text, annotations: [], logprobs: [] }];
  return { type: 'message', role: 'assistant', id, status: 'completed', content, ...ofPhase };
}

function callItem({ ref, name, input }: SettledCall, id: string | undefined): InputItem {
  return {
    type: 'function_call',
    call_id: ref,
    name: acceptableName(name),
    arguments: JSON.stringify(input),
    ...(id !== undefined && { id }),
  };
}

function callOutput({ ref, output, media = [] }: SettledCall): InputItem {
  const text = resultText(output);
  return {
    type: 'function_call_output',
    call_id: ref,
    output: media.length === 0 ? text : [inputText(text), ...media.map(inputImage)],
  };
}

function inputText(text: string) {
  return { type: 'input_text' as const, text };
}

function inputImage({ url }: Media) {
  return { type: 'input_image' as const, image_url: url, detail: 'auto' as const };
}
