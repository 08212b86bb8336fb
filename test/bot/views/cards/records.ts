import type { JsonObject, JsonValue } from '../../../../src/agent/json.ts';
import type { RequestRecord } from '../../../../src/store/port/request-record.ts';
import { readableName } from '../../../../src/tools/presentation/formats.ts';
import { pauseMetadata } from '../../../support/pause-metadata.ts';
import { presentedAs } from '../../../support/presented-as.ts';

export const ASKED_AT = Date.UTC(2026, 2, 1, 9, 0);
export const EXPIRES_AT = ASKED_AT + 4 * 3_600_000;
export const THREAD_LINK = 'https://example.slack.com/archives/C1/p1';

/** Details as a request keeps them, around one call. */
export function detailsFor(input: JsonValue, extra: JsonObject = {}, name = 'refund_order'): JsonObject {
  const metadata = pauseMetadata(name, input);
  return {
    interrupt: {
      id: 'pause-1',
      toolRequest: { name, ref: 'call-1', input },
      ...(metadata !== undefined && { metadata }),
    },
    idempotencyKey: 'key-1',
    presented: presentedAs(readableName(name)),
    ...extra,
  };
}

/** A pending approval by two of three, with some parts changed. */
export function recordOf(changes: Partial<RequestRecord> = {}): RequestRecord {
  return {
    id: 'C1:1700000000.000100~pause-1',
    threadId: 'C1:1700000000.000100',
    state: 'pending',
    revision: 1,
    kind: 'approval',
    requester: 'U0ASKER',
    requesters: [changes.requester ?? 'U0ASKER'],
    barred: [],
    digest: 'd1',
    details: detailsFor({ orderId: 'A1', amount: 120 }),
    policy: {
      principals: ['U0ALICE', 'U0BRUNO', 'S0FINANCE'],
      resolvers: ['U0RITA'],
      quorum: 2,
      vetoes: 1,
      selfApproval: false,
      expiresInMs: EXPIRES_AT - ASKED_AT,
    },
    execution: { idempotent: false, maxAttempts: 1, retryForMs: 0 },
    principals: ['U0ALICE', 'U0BRUNO', 'S0FINANCE'],
    createdAt: ASKED_AT,
    expiresAt: EXPIRES_AT,
    decidedAt: undefined,
    settledAt: undefined,
    undo: undefined,
    trace: undefined,
    by: undefined,
    payload: undefined,
    approvals: 0,
    rejections: 0,
    granted: false,
    votes: [],
    attempts: 0,
    attempt: undefined,
    progress: undefined,
    views: [],
    ...changes,
  };
}
