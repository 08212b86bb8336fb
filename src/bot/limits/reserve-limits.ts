import type { JsonValue } from '../../agent/json.ts';
import type { LimitStore } from '../../store/port/limits.ts';
import { type Limit, mayExceed, usesOf } from '../../tools/gate/limits.ts';
import type { Toolbox, ToolEntry } from '../../tools/toolbox/toolbox.ts';
import { parseThreadId } from '../slack/thread.ts';

/** A call that is about to start, with the people and the place that limits count for. */
export interface LimitedCall {
  readonly entry: Pick<ToolEntry, 'limits' | 'tool'>;
  readonly input: JsonValue;
  readonly requesters: readonly string[];
  readonly threadId: string;
  /** The ref of the call, unique in its thread. */
  readonly ref: string;
}

/**
 * Names a call in the counters: the same for every attempt, in a turn and after an approval, so that a call counts once although it paused
 * while it ran, or is tried again after a person has looked at its outcome.
 */
function actionOf({ threadId, ref }: LimitedCall): string {
  return `${threadId}/${ref}`;
}

/** Counts a call against its limits before it starts; returns the limit that it would exceed. */
export async function reserveLimits(
  { store, toolbox }: { readonly store: LimitStore; readonly toolbox: Pick<Toolbox, 'policy'> },
  call: LimitedCall,
  attempt: string,
  approvedUnder?: string,
): Promise<Limit | undefined> {
  const { limits } = call.entry;
  const policyOf = (name: string) => toolbox.policy(name);
  // Those who approve what is over a limit have approved this call, so it only counts.
  const isAllowedOver = (limit: Limit) => mayExceed(limit, approvedUnder, { limits, policyOf });
  const uses = callUses(call);
  const untold = uses.find(({ amount, limit }) => amount === undefined && !isAllowedOver(limit));
  if (untold !== undefined) return untold.limit;
  const result = await store.reserve(
    actionOf(call),
    attempt,
    uses.map(({ key, amount = 0, limit }) => ({
      ...{ key, amount },
      max: isAllowedOver(limit) ? undefined : limit.max,
      windowMs: limit.windowMs,
    })),
  );
  return result.outcome === 'over' ? uses[result.index]?.limit : undefined;
}

/** Gives back what a call counted: for one attempt that did not start, or for a call that had no effect. */
export async function giveBackLimits(store: LimitStore, call: LimitedCall, attempt?: string): Promise<void> {
  const keys = callUses(call).map(({ key }) => key);
  await store.giveBack(actionOf(call), keys, attempt);
}

function callUses({ entry, input, requesters, threadId }: LimitedCall) {
  const { channel } = parseThreadId(threadId);
  return usesOf(entry.limits, { tool: entry.tool.name, input, requesters, contextAuthors: [], channel });
}
