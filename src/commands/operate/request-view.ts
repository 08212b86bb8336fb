import { countedApprovals } from '../../bot/requests/approver-groups.ts';
import { readDetails } from '../../bot/requests/request-details.ts';
import type { RequestRecord, Store } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { Failure } from '../shared/command.ts';

/** Describes a request for machines: what would run, for whom, who decides, and how far it is. */
export function describeRequest(request: RequestRecord) {
  const { id, kind, state, threadId, requester, requesters, principals, policy } = request;
  const call = readDetails(request)?.interrupt.toolRequest;
  return {
    id,
    kind,
    state,
    title: titleOf(request),
    tool: call?.name ?? null,
    input: call?.input ?? null,
    threadId,
    requester,
    requesters,
    waitsFor: state === 'unknown' ? policy.resolvers : principals,
    approvals: countedApprovals(request),
    quorum: policy.quorum,
    createdAt: timeOf(request.createdAt),
    expiresAt: state === 'unknown' ? null : timeOf(request.expiresAt),
  };
}

/** Returns the title of a request as its card has it, else the name of its tool in plain words. */
export function titleOf(request: RequestRecord): string {
  const details = readDetails(request);
  return details?.presented?.title ?? readableName(details?.interrupt.toolRequest.name ?? 'unknown tool');
}

/** Says in which phase a request is: the votes it has, or that its outcome is unknown. */
export function phaseOf(request: RequestRecord): string {
  const { kind, state, policy } = request;
  if (state === 'unknown') return 'unknown outcome';
  if (state !== 'pending') return state;
  return kind === 'approval' ? `approval (${countedApprovals(request)} of ${policy.quorum})` : kind;
}

export function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Loads a request that must be there; one that cannot be read or does not exist is a `Failure`. */
export async function requireRequest(store: Store, requestId: string): Promise<RequestRecord> {
  const loaded = await store.load(requestId);
  switch (loaded.outcome) {
    case 'found':
      return loaded.request;
    case 'malformed':
      throw new Failure(`${requestId} cannot be read: ${loaded.problem}`);
    case 'unknown':
      throw new Failure(`there is no request ${requestId}; "countersign pending" lists what waits`);
  }
}
