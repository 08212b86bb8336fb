import type { RequestRecord } from '../../store/port/request-record.ts';
import { classifyInterrupt } from '../classify-interrupt.ts';
import { afterEnd, readReason } from '../reasons.ts';
import { readDetails } from '../request-details.ts';

/** Tells whether people are asked again in place of a request that no longer holds. */
export function isAskedAgain({ payload, execution }: Pick<RequestRecord, 'payload' | 'execution'>): boolean {
  const reason = readReason(payload);
  // A caller that comes too late asks again by itself.
  if (execution.elsewhere === true && reason?.code === 'stale-approval') return false;
  return afterEnd(reason) === 'asked-again';
}

/**
 * Tells whether one person may have an action run again whose outcome is unknown: not if it took more than a click to approve it, if its
 * caller ran it, which an approval allows once, or if it was refused because it is no longer what people approved.
 */
export function mayRunOnceMore(
  request: Pick<RequestRecord, 'details' | 'payload' | 'execution' | 'policy'>,
): boolean {
  const { payload, execution, policy } = request;
  const interrupt = readDetails(request)?.interrupt;
  const wasApproved = interrupt !== undefined && classifyInterrupt(interrupt).kind !== 'unknown';
  if (wasApproved && (policy.quorum > 1 || policy.passkey === true)) return false;
  const code = readReason(payload)?.code;
  return execution.elsewhere !== true && code !== 'changed' && code !== 'no-tool';
}
