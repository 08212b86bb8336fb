import type { JsonObject } from '../agent/json.ts';
import type { Interrupt } from '../agent/messages.ts';
import type { DigestParts } from '../policy/digest.ts';
import { firstOfFacts } from '../policy/first-times.ts';
import { digestOfParts, digestParts } from '../tools/toolbox/request-digest.ts';
import type { Toolbox, ToolEntry } from '../tools/toolbox/toolbox.ts';
import { classifyInterrupt } from './classify-interrupt.ts';
import { digestedFacets, type KeptFacets } from './facets/facets.ts';
import { PLAN_RULE } from './plans.ts';
import { channelOf } from './ports.ts';
import type { PresentedCall } from './presented.ts';

/** A request as its digest covers it, whether it is new or on record. */
export interface BoundRequest {
  readonly entry: ToolEntry;
  readonly interrupt: Interrupt;
  /** The words that people read about the call. */
  readonly presented: PresentedCall;
  readonly facets: KeptFacets;
  /** The terms of the policy that people approve under. */
  readonly terms?: JsonObject | undefined;
  /** The name of the policy; `undefined` if no policy applies. */
  readonly policy: string | undefined;
  readonly threadId: string;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly barred: readonly string[];
}

/** Computes the digest of a request by the manifest that is active now. It is compared with the one on record before the action starts. */
export function digestNow(toolbox: Pick<Toolbox, 'policy'>, request: BoundRequest): string {
  return digestOfParts(partsNow(toolbox, request));
}

/** Lists what the digest of a request covers, by the manifest that is active now. */
export function partsNow(toolbox: Pick<Toolbox, 'policy'>, request: BoundRequest): DigestParts {
  const { entry, interrupt, presented, facets, terms, policy, threadId, requesters } = request;
  const pause = classifyInterrupt(interrupt);
  const first = pause.kind === 'approval' ? pause.first : undefined;
  const planned = pause.kind === 'plan' ? { policy: policy ?? '', rule: PLAN_RULE } : undefined;
  return digestParts({
    entry,
    policy: policy === undefined ? undefined : toolbox.policy(policy),
    terms,
    asked: pause.kind === 'approval' ? pause : planned,
    input: interrupt.toolRequest.input,
    presented,
    facets: digestedFacets(facets, interrupt),
    first,
    requesters,
    contextAuthors: request.contextAuthors,
    barred: request.barred,
    threadId,
    channel: channelOf(threadId),
    firstOf: firstOfFacts(first),
  });
}
