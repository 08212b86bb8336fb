import { randomUUID } from 'node:crypto';
import type { StartedCall } from '../../agent/calls/journal.ts';
import { toJson } from '../../agent/json.ts';
import type { ToolPart } from '../../agent/messages.ts';
import type { BotContext } from '../context.ts';
import { returnUse } from '../grants/tell-of-use.ts';
import { effectEvidence, limitedEffect, overLimit } from './limited-effect.ts';
import { reserveLimits } from './reserve-limits.ts';

/** Counts a call without effects against the limits of its tool; returns its end if it would exceed one. */
export async function countCall(
  context: Pick<BotContext, 'store' | 'toolbox'>,
  threadId: string,
  { call, input, messages, evidence: admitted }: StartedCall,
): Promise<ToolPart | undefined> {
  const evidence = effectEvidence(call, { ran: toJson(input), original: null }, messages);
  const limited = limitedEffect(context.toolbox, threadId, evidence);
  const limit = limited && (await reserveLimits(context, limited, randomUUID()));
  if (limit === undefined) return undefined;
  await returnUse(context.store, admitted);
  return overLimit(call, limit);
}
