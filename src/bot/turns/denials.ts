import { z } from 'zod';
import { type JsonObject, toJson } from '../../agent/json.ts';
import type { Message } from '../../agent/messages.ts';
import { Transcript } from '../../agent/transcript.ts';
import type { ClaimedTurn } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import type { RefusedCall } from '../reply/refusal-rows.ts';
import { latestRequestersOf } from '../requests/task-people.ts';

const Denial = z.object({ reason: z.string() });

/** Lists the calls of a turn that were denied, by a rule or by the tool itself. What people rejected is told by its card. */
export function deniedCalls(
  { messages: before, settled }: Pick<ClaimedTurn, 'messages' | 'settled'>,
  messages: readonly Message[],
): RefusedCall[] {
  const rejected = settled.filter(({ state }) => state === 'rejected').map(({ requestId }) => requestId);
  const waited = rejected.length === 0 ? [] : Transcript.latestRound(before, { mayBeOpen: true }).interrupts;
  const refs = new Set(
    waited.flatMap(({ id, toolRequest }) =>
      rejected.some((requestId) => requestId.endsWith(`~${id}`)) ? [toolRequest.ref] : [],
    ),
  );
  return messages.slice(before.length).flatMap((message) =>
    message.role !== 'tool'
      ? []
      : message.content.flatMap((part) => {
          if ('interrupt' in part || part.status !== 'denied') return [];
          const { name, ref, output } = part.toolResponse;
          if (refs.has(ref)) return [];
          const reason = Denial.safeParse(output).data?.reason ?? '';
          return [{ toolRequest: { name, ref }, metadata: { interruptId: ref, reason } }];
        }),
  );
}

/** Writes an audit row for each denied call. */
export async function noteDenials(
  { store }: Pick<BotContext, 'store'>,
  threadId: string,
  denied: readonly RefusedCall[],
  messages: readonly Message[],
): Promise<void> {
  const requesters = [...latestRequestersOf(messages)];
  for (const { toolRequest, metadata } of denied) {
    const { name, ref } = toolRequest;
    const body: JsonObject = {
      tool: name,
      arguments: argumentsOf(messages, ref),
      requesters,
      reason: metadata.reason,
    };
    await store.note(`${threadId}/denied-${ref}`, 'denied', threadId, body);
  }
}

/** Returns the arguments that a call was denied with: those of an edit, else the model's. */
function argumentsOf(messages: readonly Message[], ref: string) {
  for (const message of messages.toReversed()) {
    if (message.role === 'user') continue;
    for (const part of message.content) {
      if ('toolResponse' in part && part.toolResponse.ref === ref && part.input !== undefined)
        return toJson(part.input);
      if ('toolRequest' in part && part.toolRequest.ref === ref) return toJson(part.toolRequest.input);
    }
  }
  return null;
}
