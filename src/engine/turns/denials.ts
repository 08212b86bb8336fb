import { z } from 'zod';
import { type JsonObject, toJson } from '../../agent/json.ts';
import type { Message } from '../../agent/messages.ts';
import { Transcript } from '../../agent/transcript.ts';
import type { ClaimedTurn } from '../../store/port/values.ts';
import { isRejectionOf } from '../paused.ts';
import type { EngineContext, RefusedCall } from '../ports.ts';
import { latestPeopleOf } from '../task-people.ts';

const Denial = z.object({ reason: z.string() });

/** Lists the calls of a turn that were denied, by a rule or by the tool itself. A rejection has a card of its own and is none. */
export function deniedCalls(
  { messages: before, settled }: Pick<ClaimedTurn, 'messages' | 'settled'>,
  messages: readonly Message[],
): RefusedCall[] {
  const rejected = rejectedRefs(before, settled);
  return messages.slice(before.length).flatMap((message) =>
    message.role !== 'tool'
      ? []
      : message.content.flatMap((part) => {
          if ('interrupt' in part || part.status !== 'denied') return [];
          const { name, ref, output } = part.toolResponse;
          if (rejected.has(ref)) return [];
          const reason = Denial.safeParse(output).data?.reason ?? '';
          return [{ toolRequest: { name, ref }, metadata: { interruptId: ref, reason } }];
        }),
  );
}

/** Returns the refs of the calls that people rejected. */
function rejectedRefs(messages: readonly Message[], settled: ClaimedTurn['settled']): ReadonlySet<string> {
  if (settled.length === 0) return new Set();
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  const rejected = interrupts.filter((pause) => settled.some((ended) => isRejectionOf(pause, ended)));
  return new Set(rejected.map(({ toolRequest }) => toolRequest.ref));
}

/** Writes an audit row for each denied call. */
export async function noteDenials(
  { store, toolbox }: Pick<EngineContext, 'store' | 'toolbox'>,
  threadId: string,
  denied: readonly RefusedCall[],
  messages: readonly Message[],
): Promise<void> {
  const { requesters, contextAuthors } = latestPeopleOf(messages, toolbox);
  for (const { toolRequest, metadata } of denied) {
    const { name, ref } = toolRequest;
    const body: JsonObject = {
      tool: name,
      arguments: argumentsOf(messages, ref),
      requesters: [...requesters],
      ...(contextAuthors.length > 0 && { context_authors: [...contextAuthors] }),
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
