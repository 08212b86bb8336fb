import { badRequest, type RequestProblem } from './request-problem.ts';

/**
 * The rules of a server beyond those of OpenAI's older models: `reasoning` takes tools on Chat Completions only without an effort, as
 * gpt-5.6 and gpt-6; `gemini` wants its signatures back, and `deepseek` its reasoning.
 */
export type Dialect = 'reasoning' | 'gemini' | 'deepseek';

const SIGNATURE = 'signature of this step';
const THOUGHT = 'Let me think.';

interface Assistant {
  reasoning_content?: unknown;
  tool_calls?: {
    extra_content?: { google?: { thought_signature?: unknown } };
    function?: { name?: unknown };
  }[];
}

/** Checks the fields that only one kind of server knows, and returns the body without them, as OpenAI would take it. */
export function readDialect(
  body: unknown,
  dialect: Dialect | undefined,
): { readonly body: unknown; readonly problem?: RequestProblem; readonly isList?: boolean } {
  if (dialect === undefined || typeof body !== 'object' || body === null) return { body };
  if (dialect === 'reasoning') return { body, ...problem(checkEffort(body)) };
  const copy: { messages?: unknown } = structuredClone(body);
  const messages: unknown[] = Array.isArray(copy.messages) ? copy.messages : [];
  const latestUser = messages.findLastIndex((message) => roleOf(message) === 'user');
  let found: RequestProblem | undefined;
  for (const [index, message] of messages.entries()) {
    if (!isAssistant(message)) continue;
    found ??= dialect === 'gemini' ? checkSignature(message, index > latestUser) : checkReasoning(message);
    delete message.reasoning_content;
    for (const call of message.tool_calls ?? []) delete call.extra_content;
  }
  return { body: copy, isList: dialect === 'gemini', ...problem(found) };
}

/** Adds what a server of this kind sends beside its chunks. */
export function speakDialect(chunk: object, dialect: Dialect | undefined): object {
  if (dialect !== 'gemini' && dialect !== 'deepseek') return chunk;
  const copy: { choices?: { delta?: Assistant & { role?: string }; finish_reason?: unknown }[] } =
    structuredClone(chunk);
  const [choice] = copy.choices ?? [];
  if (choice === undefined) return copy;
  if (dialect === 'deepseek' && choice.delta?.role !== undefined) choice.delta.reasoning_content = THOUGHT;
  if (dialect !== 'gemini') return copy;
  if (choice.finish_reason === 'tool_calls') choice.finish_reason = 'stop';
  for (const call of choice.delta?.tool_calls ?? []) {
    const piece: { index?: number; id?: string; extra_content?: object } = call;
    if (piece.index === 0 && piece.id !== undefined)
      piece.extra_content = { google: { thought_signature: SIGNATURE } };
    delete piece.index;
  }
  return copy;
}

function problem(found: RequestProblem | undefined): { readonly problem?: RequestProblem } {
  return found === undefined ? {} : { problem: found };
}

function roleOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null ? Reflect.get(message, 'role') : undefined;
}

function isAssistant(message: unknown): message is Assistant {
  return roleOf(message) === 'assistant';
}

function checkEffort(body: object): RequestProblem | undefined {
  if (Reflect.get(body, 'tools') === undefined || Reflect.get(body, 'reasoning_effort') === 'none')
    return undefined;
  return badRequest(
    `Function tools with reasoning_effort are not supported for ${String(Reflect.get(body, 'model'))} in /v1/chat/completions. ` +
      "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    'reasoning_effort',
  );
}

function checkSignature(
  { tool_calls: calls = [] }: Assistant,
  isCurrent: boolean,
): RequestProblem | undefined {
  const [first] = calls;
  const signature = first?.extra_content?.google?.thought_signature;
  const isKnown = signature === SIGNATURE || signature === 'skip_thought_signature_validator';
  if (first === undefined || !isCurrent || isKnown) return undefined;
  return badRequest(
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing ' +
      'thought_signature may lead to degraded model performance. Additional data, function call ' +
      `\`default_api:${String(first.function?.name)}\` , position 2.`,
  );
}

function checkReasoning({
  tool_calls: calls,
  reasoning_content: content,
}: Assistant): RequestProblem | undefined {
  if (calls === undefined || typeof content === 'string') return undefined;
  return badRequest(
    'The `reasoning_content` in the thinking mode must be passed back to the API.',
    null,
    'invalid_request_error',
  );
}
