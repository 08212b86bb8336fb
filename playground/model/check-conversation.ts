import type { ChatMessage } from './chat-request.ts';
import { nullContent } from './describe-issue.ts';
import { badRequest, type RequestProblem } from './request-problem.ts';

interface OpenTurn {
  assistantIndex: number;
  waiting: Set<string>;
  answeredAt: Map<string, number>;
}

/** Holds a history to the rule that each tool call has exactly one result, directly after the message that made it. */
export function checkConversation(messages: readonly ChatMessage[]): RequestProblem | undefined {
  const calledAt = new Map<string, number>();
  let turn: OpenTurn | undefined;
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const problem = settle(turn, message.tool_call_id, index);
      if (problem !== undefined) return problem;
      continue;
    }
    const dangling = checkAnswered(turn, index);
    if (dangling !== undefined) return dangling;
    turn = undefined;
    if (message.role !== 'assistant') continue;
    const problem = checkAssistant(message, index, calledAt);
    if (problem !== undefined) return problem;
    if (message.tool_calls === undefined) continue;
    turn = {
      assistantIndex: index,
      waiting: new Set(message.tool_calls.map(({ id }) => id)),
      answeredAt: new Map(),
    };
  }
  return checkAnswered(turn, turn?.assistantIndex ?? 0);
}

function settle(turn: OpenTurn | undefined, callId: string, index: number): RequestProblem | undefined {
  if (turn === undefined) {
    return badRequest(
      // The spelling is OpenAI's; people match on it.
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
      `messages.[${index}].role`,
    );
  }
  const answered = turn.answeredAt.get(callId);
  if (answered !== undefined) {
    return badRequest(
      `Invalid parameter: Duplicate value for 'tool_call_id' of '${callId}', in messages[${answered}] and messages[${index}].`,
      `messages.[${index}].tool_call_id`,
    );
  }
  if (!turn.waiting.delete(callId)) {
    return badRequest(
      `Invalid parameter: 'tool_call_id' of '${callId}' not found in 'tool_calls' of previous message.`,
      `messages.[${index}].tool_call_id`,
    );
  }
  turn.answeredAt.set(callId, index);
  return undefined;
}

function checkAnswered(turn: OpenTurn | undefined, index: number): RequestProblem | undefined {
  if (turn === undefined || turn.waiting.size === 0) return undefined;
  return badRequest(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${[...turn.waiting].join(', ')}`,
    `messages.[${index}].role`,
  );
}

function checkAssistant(
  message: Extract<ChatMessage, { role: 'assistant' }>,
  index: number,
  calledAt: Map<string, number>,
): RequestProblem | undefined {
  const calls = message.tool_calls ?? [];
  const hasContent = message.content !== undefined && message.content !== null;
  const callsFunction = message.function_call !== undefined && message.function_call !== null;
  if (!hasContent && !callsFunction && calls.length === 0) return nullContent(index);
  for (const [position, call] of calls.entries()) {
    const param = `messages[${index}].tool_calls[${position}]`;
    const earlier = calledAt.get(call.id);
    // Stricter than OpenAI on purpose: it takes an id again in a later turn, but a call id is what a request for
    // approval hangs on, so a history in which one id means two calls is a bug of ours.
    if (earlier !== undefined) {
      return badRequest(
        `Invalid parameter: Duplicate value for 'id' of '${call.id}', in messages[${earlier}] and messages[${index}].`,
        `${param}.id`,
      );
    }
    calledAt.set(call.id, index);
    // OpenAI itself lets broken arguments through; several servers compatible with it parse them and refuse.
    if (!isJson(call.function.arguments)) {
      return badRequest(
        `Invalid '${param}.function.arguments': string is not valid JSON.`,
        `${param}.function.arguments`,
        'invalid_value',
      );
    }
  }
  return undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
