import { readDetails } from '../../src/bot/requests/request-details.ts';
import type { RequestRecord } from '../../src/store/record/request-record.ts';
import type { RecordedRequest } from '../record-protocol.ts';

/** Turns a request into what the page is shown of it; a call that cannot be read leaves the rest as it is. */
export function toRecordedRequest(
  request: RequestRecord,
  timers: RecordedRequest['timers'],
): RecordedRequest {
  const call = readDetails(request)?.interrupt.toolRequest;
  const { id, kind, state, revision, requester, digest, principals, votes, createdAt, expiresAt } = request;
  const { settledAt, by, payload, progress } = request;
  return {
    id,
    kind,
    state,
    revision,
    tool: call?.name ?? 'unknown tool',
    input: call?.input ?? null,
    requester,
    digest,
    principals,
    quorum: request.policy.quorum,
    votes,
    createdAt,
    expiresAt,
    ...(settledAt !== undefined && { settledAt }),
    ...(by !== undefined && by !== '' && { by }),
    ...(payload !== undefined && { payload }),
    attempts: request.attempts,
    isIdempotent: request.execution.idempotent,
    ...(progress !== undefined && { progress }),
    timers,
    views: request.views.map((view) => ({ ...view })),
  };
}
