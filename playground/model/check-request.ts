import { ChatRequest, chatParameters } from './chat-request.ts';
import { checkConversation } from './check-conversation.ts';
import { checkTools } from './check-tools.ts';
import { describeIssue } from './describe-issue.ts';
import { badRequest, type RequestProblem } from './request-problem.ts';

/** The model names that a local model answers to unless it is given others. */
export const localModelNames: readonly string[] = [
  'scripted',
  'gpt-4o',
  'gpt-4o-mini',
  'gpt-4.1',
  'gpt-4.1-mini',
  'gpt-5',
  'gpt-5-mini',
  'gpt-5-nano',
  'gpt-6-luna',
  'gpt-6.1-terra',
];

/** A request that may be answered, or the reason to refuse it. */
export type ParsedRequest = { ok: true; request: ChatRequest } | { ok: false; problem: RequestProblem };

/** The first reason to refuse a Chat Completions body, or undefined for one that may be answered. */
export function checkRequest(
  body: unknown,
  models: readonly string[] = localModelNames,
): RequestProblem | undefined {
  const parsed = parseRequest(body, models);
  return parsed.ok ? undefined : parsed.problem;
}

/** Like `checkRequest`, and hands over the typed request when there is nothing to refuse. */
export function parseRequest(body: unknown, models: readonly string[]): ParsedRequest {
  const problem = checkParameters(body);
  if (problem !== undefined) return { ok: false, problem };
  const { data, error } = ChatRequest.safeParse(body);
  if (error !== undefined) {
    const [issue] = error.issues;
    if (issue === undefined) throw new Error('A body failed its schema without an issue; this is a zod bug.');
    return { ok: false, problem: describeIssue(issue, body) };
  }
  const deeper =
    checkModel(data.model, models) ??
    checkOptions(data) ??
    checkTools(data.tools ?? []) ??
    checkConversation(data.messages);
  return deeper === undefined ? { ok: true, request: data } : { ok: false, problem: deeper };
}

function checkParameters(body: unknown): RequestProblem | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    return badRequest(
      'We could not parse the JSON body of your request. The OpenAI API expects a JSON payload, an object.',
    );
  }
  const known = new Set<string>(chatParameters);
  const unknown = Object.keys(body).filter((key) => !known.has(key));
  if (unknown.length > 0) {
    const noun = unknown.length === 1 ? 'argument' : 'arguments';
    return badRequest(`Unrecognized request ${noun} supplied: ${unknown.join(', ')}`);
  }
  const model: unknown = Reflect.get(body, 'model');
  if (model === undefined || model === null || model === '') {
    return badRequest('you must provide a model parameter');
  }
  return undefined;
}

function checkModel(model: string, models: readonly string[]): RequestProblem | undefined {
  if (models.includes(model)) return undefined;
  const message = `The model \`${model}\` does not exist or you do not have access to it.`;
  return { ...badRequest(message, null, 'model_not_found'), status: 404 };
}

function checkOptions(request: ChatRequest): RequestProblem | undefined {
  const { tool_choice: choice, tools } = request;
  if (request.stream !== true && request.stream_options !== undefined && request.stream_options !== null) {
    return badRequest(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  }
  for (const option of ['tool_choice', 'parallel_tool_calls'] as const) {
    if (request[option] !== undefined && tools === undefined) {
      return badRequest(
        `Invalid value for '${option}': '${option}' is only allowed when 'tools' are specified.`,
        option,
      );
    }
  }
  if (typeof choice === 'object' && !tools?.some((tool) => tool.function.name === choice.function.name)) {
    return badRequest(
      `Invalid value for 'tool_choice': function '${choice.function.name}' is not in 'tools'.`,
      'tool_choice',
      'invalid_value',
    );
  }
  return undefined;
}
