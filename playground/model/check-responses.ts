import { badRequest, type RequestProblem } from './request-problem.ts';
import type { InputItem, ResponsesRequest } from './responses-request.ts';

/** The memory of a server about an answer with reasoning: which reasoning each of its items needs, by item id and call id. */
export interface Reasoned {
  readonly model: string;
  readonly reasoning: string;
  /** The call ids of the answer in their order; a message is its text. */
  readonly followers: readonly string[];
}

/**
 * Holds the items of a request to the rules of the Responses API: each call has its output, and reasoning comes back encrypted, with all
 * that followed it, in its order. A call without its reasoning is refused even if it has no id, which is stricter than OpenAI.
 */
export function checkItems(
  { input, model }: ResponsesRequest,
  reasoned: ReadonlyMap<string, Reasoned>,
): RequestProblem | undefined {
  const calls = new Map<string, number>();
  const answered = new Set<string>();
  for (const [index, item] of input.entries()) {
    const problem = checkItem(item, index, input, model, reasoned);
    if (problem !== undefined) return problem;
    if (item.type === 'function_call') {
      if (calls.has(item.call_id)) {
        return badRequest(`Duplicate function call with call_id ${item.call_id}.`, `input[${index}].call_id`);
      }
      calls.set(item.call_id, index);
    }
    if (item.type !== 'function_call_output') continue;
    if (!calls.has(item.call_id) || answered.has(item.call_id)) {
      return badRequest(`No tool call found for function call output with call_id ${item.call_id}.`, 'input');
    }
    answered.add(item.call_id);
  }
  const open = [...calls.keys()].find((callId) => !answered.has(callId));
  return open === undefined
    ? undefined
    : badRequest(`No tool output found for function call ${open}.`, 'input');
}

/** Refuses to give the reasoning of a model that has none. */
export function checkInclude({ include }: ResponsesRequest): RequestProblem | undefined {
  if (!include || include.length === 0) return undefined;
  return badRequest('Encrypted content is not supported with this model.', 'include');
}

function checkItem(
  item: InputItem,
  index: number,
  input: readonly InputItem[],
  model: string,
  reasoned: ReadonlyMap<string, Reasoned>,
): RequestProblem | undefined {
  if (item.type === 'reasoning') return checkReasoning(item, index, input, model, reasoned);
  if (item.type !== 'function_call' && !(item.type === 'message' && item.role === 'assistant'))
    return undefined;
  const id = 'id' in item ? item.id : undefined;
  const own = reasoned.get(item.type === 'function_call' ? item.call_id : (id ?? ''));
  if (own === undefined || own.model !== model) return undefined;
  const before = input.slice(0, index).findLast(({ type }) => type === 'reasoning');
  if (before?.type === 'reasoning' && before.id === own.reasoning) return undefined;
  return badRequest(
    `Item '${id ?? index}' of type '${item.type}' was provided without its required 'reasoning' item: '${own.reasoning}'.`,
    'input',
  );
}

function checkReasoning(
  item: Extract<InputItem, { type: 'reasoning' }>,
  index: number,
  input: readonly InputItem[],
  model: string,
  reasoned: ReadonlyMap<string, Reasoned>,
): RequestProblem | undefined {
  const { id, encrypted_content: encrypted } = item;
  if (encrypted === undefined || encrypted === null) {
    return badRequest(
      `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      'input',
    );
  }
  const own = reasoned.get(encrypted);
  if (own === undefined || own.model !== model) {
    return badRequest(
      `The encrypted content ${encrypted.slice(0, 8)}… could not be verified.`,
      'input',
      'invalid_encrypted_content',
    );
  }
  const following = input.slice(index + 1, index + 1 + own.followers.length).map(nameOf);
  if (own.followers.every((follower, place) => following[place] === follower)) return undefined;
  return badRequest(
    `Item '${id}' of type 'reasoning' was provided without its required following item.`,
    'input',
  );
}

function nameOf(item: InputItem): string {
  if (item.type === 'function_call') return item.call_id;
  return item.type === 'message' && 'id' in item ? item.id : item.type;
}
