import type { Interrupt } from '../agent/messages.ts';
import { firstOfFacts } from '../policy/first-times.ts';
import { editorOf } from '../tools/gate.ts';
import { answerOf } from '../tools/mcp/server-pause.ts';
import { askOf, ownAnswerOf } from '../tools/pause.ts';
import { requestDigest } from '../tools/toolbox/request-digest.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import { channelOf } from './ports.ts';
import { type Details, innerCalls } from './request-details.ts';

/** A request as its digest covers it, whether it is new or on record. */
export interface BoundRequest {
  readonly entry: ToolEntry;
  readonly interrupt: Interrupt;
  /** The words that people read about the call. */
  readonly presented: Details['presented'];
  /** The name of the policy; `undefined` if no policy applies. */
  readonly policy: string | undefined;
  readonly threadId: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly barred: readonly string[];
}

/** Computes the digest of a request by the manifest that is active now. It is compared with the one on record before the action starts. */
export function digestNow(toolbox: Pick<Toolbox, 'policy'>, request: BoundRequest): string {
  const { entry, interrupt, presented, policy, threadId, requesters, contextAuthors, barred } = request;
  const pause = classifyInterrupt(interrupt);
  return requestDigest({
    entry,
    inner: innerCalls(interrupt),
    answer: answerOf(interrupt) ?? ownAnswerOf(interrupt),
    ask: askOf(interrupt),
    policy: policy === undefined ? undefined : toolbox.policy(policy),
    asked: pause.kind === 'approval' ? { policy: pause.policy, rule: pause.rule } : undefined,
    input: interrupt.toolRequest.input,
    presented,
    requesters,
    contextAuthors,
    barred,
    editor: editorOf(interrupt),
    threadId,
    channel: channelOf(threadId),
    firstOf: pause.kind === 'approval' ? firstOfFacts(pause.first) : undefined,
  });
}
