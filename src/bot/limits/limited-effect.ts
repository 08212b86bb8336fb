import { z } from 'zod';
import { deniedPart, type ReplacedInput, waitingPart } from '../../agent/calls/outcomes.ts';
import { type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { CallPart, Message, ToolPart } from '../../agent/messages.ts';
import { type Limit, limitInWords, overVerdict } from '../../tools/gate/limits.ts';
import type { BotContext } from '../context.ts';
import { peopleOf } from '../requests/task-people.ts';
import type { LimitedCall } from './reserve-limits.ts';

/** The part of an audit body that limits count by. */
const Evidence = z.object({
  tool: z.string(),
  arguments: z.custom<JsonValue>((value) => value !== undefined),
  requesters: z.array(z.string()),
  ref: z.string(),
});

/** Builds the body of the audit rows of a call in a turn, the same for every run of it. */
export function effectEvidence(
  { toolRequest, idempotencyKey }: CallPart,
  replaced: ReplacedInput | undefined,
  messages: readonly Message[],
): JsonObject {
  const { name, ref, input } = toolRequest;
  const { requesters, contextAuthors } = peopleOf(messages);
  return {
    tool: name,
    arguments: toJson(replaced?.ran ?? input),
    requesters: [...requesters],
    ...(contextAuthors.length > 0 && { context_authors: [...contextAuthors] }),
    ref,
    idempotencyKey,
  };
}

/** Returns a call in a turn as its limits count it, by the body of its audit rows; `undefined` if it has none. */
export function limitedEffect(
  toolbox: BotContext['toolbox'],
  threadId: string,
  evidence: JsonObject,
): LimitedCall | undefined {
  const { tool, arguments: input, requesters, ref } = Evidence.parse(evidence);
  const entry = toolbox.find(tool);
  if (entry === undefined || entry.limits.length === 0) return undefined;
  return { entry, input, requesters, threadId, ref };
}

/** Builds the end of a call that is over a limit: it is denied, or the policy of the limit is asked. */
export function overLimit(call: CallPart, limit: Limit): ToolPart {
  const verdict = overVerdict(limit);
  if (verdict.outcome !== 'ask') return deniedPart(call, limitInWords(limit));
  const { policy, rule } = verdict;
  return waitingPart(call, { metadata: { approval: { policy, rule } } });
}
