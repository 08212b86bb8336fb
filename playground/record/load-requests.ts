import type { ChainableCommander } from 'ioredis';
import { z } from 'zod';
import type { Keys } from '../../src/store/port/keys.ts';
import {
  parseRequestRecord,
  type RequestRecord,
  type StoredRequest,
} from '../../src/store/port/request-record.ts';
import type { TimerKind } from '../../src/store/port/work.ts';
import type { RedisClient } from '../../src/store/redis/run-script.ts';
import type { RecordedRequest } from '../record-protocol.ts';

const TIMERS = ['remind', 'escalate', 'expire', 'recover', 'purge'] satisfies TimerKind[];
const Hash = z.record(z.string(), z.string());
const Fixed = z.string().nullable();
const Due = z.coerce.number().nullable();

/**
 * Loads the requests that still exist and can be read, oldest first. The store's own `load` quarantines a thread with an
 * unreadable request; a viewer must not.
 */
export async function loadRequests(
  client: RedisClient,
  keys: Keys,
  requestIds: readonly string[],
): Promise<RecordedRequest[]> {
  if (requestIds.length === 0) return [];
  const transaction = client.multi();
  for (const id of requestIds) {
    transaction.hgetall(keys.ask(id)).hgetall(keys.run(id)).get(keys.record(id));
    const timers = keys.shared('timers');
    for (const kind of TIMERS) transaction.zscore(timers, `${kind}|${id}`);
  }
  const replies = await execCommands(transaction);
  const width = 3 + TIMERS.length;
  return requestIds
    .flatMap((id, index) => {
      const [ask, run, fixed, ...due] = replies.slice(index * width, (index + 1) * width);
      const record = readRecord(id, { ask: Hash.parse(ask), run: Hash.parse(run) }, Fixed.parse(fixed));
      return record === undefined ? [] : [toRecordedRequest(record, timersFrom(due))];
    })
    .sort(byAge);
}

/** Orders requests from the oldest to the newest; those of one turn stay in the order they have. */
export function byAge(left: RecordedRequest, right: RecordedRequest): number {
  return left.createdAt - right.createdAt;
}

function readRecord(id: string, stored: StoredRequest, fixed: string | null): RequestRecord | undefined {
  try {
    return parseRequestRecord(id, stored, fixed);
  } catch {
    return undefined;
  }
}

function timersFrom(due: readonly unknown[]): RecordedRequest['timers'] {
  return TIMERS.flatMap((kind, index) => {
    const at = Due.parse(due[index]);
    return at === null ? [] : [{ kind, at }];
  }).sort((left, right) => left.at - right.at);
}

const Call = z.object({
  interrupt: z.object({ toolRequest: z.object({ name: z.string(), input: z.unknown() }) }),
});

/** Turns a request into what the page is shown of it; a call that cannot be read leaves the rest as it is. */
function toRecordedRequest(request: RequestRecord, timers: RecordedRequest['timers']): RecordedRequest {
  const call = Call.safeParse(request.details).data?.interrupt.toolRequest;
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

/** Sends the commands and gives their replies in order; of a transaction, nothing changes between two of them. */
export async function execCommands(commands: ChainableCommander): Promise<unknown[]> {
  const replies = (await commands.exec()) ?? [];
  return replies.map(([error, reply]) => {
    if (error !== null) throw error;
    return reply;
  });
}
