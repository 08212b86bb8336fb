import type { RecordedRequest, ThreadRecord } from '../../../record-protocol.ts';
import { formatDuration } from './format-time.ts';

/** Describes the thread's state in one line. */
export function describeThread(record: ThreadRecord, now: number): string {
  const { state, lease, unread, reason } = record;
  if (state === 'quarantined') return `Quarantined: ${reason ?? 'its record cannot be read.'}`;
  if (state === 'waiting') return describeWait(record.requests);
  if (lease !== undefined && lease.until > now)
    return `A turn is running (token ${lease.token}). Its lease ends in ${formatDuration(lease.until - now)} unless renewed.`;
  if (lease !== undefined)
    return `The turn with token ${lease.token} stopped. Its lease ended ${formatDuration(now - lease.until)} ago, and the next worker takes over.`;
  if (unread > 0) return `${countOf(unread, 'message is', 'messages are')} waiting for a worker.`;
  return 'Idle: all messages are read and answered.';
}

/** Describes the queued messages; empty when there are none or the state already says it. */
export function describeQueue({ state, lease, unread }: ThreadRecord): string {
  if (unread === 0 || (state === 'idle' && lease === undefined)) return '';
  if (state === 'working')
    return `${countOf(unread, 'message is', 'messages are')} being read by this turn or queued after it.`;
  return `${countOf(unread, 'message is', 'messages are')} queued and will be read later.`;
}

function describeWait(requests: readonly RecordedRequest[]): string {
  const parts = [
    missingApprovals(requests),
    countIn(requests, isUnanswered, 'an answer', 'answers'),
    countIn(requests, ({ state }) => state === 'unknown', 'a confirmed outcome', 'confirmed outcomes'),
    countIn(requests, isUnderWay, 'an approved action to finish', 'approved actions to finish'),
  ].filter((part) => part !== '');
  return parts.length === 0 ? 'Waiting.' : `Waiting for ${parts.join(', and for ')}.`;
}

function missingApprovals(requests: readonly RecordedRequest[]): string {
  const missing = requests
    .filter(({ kind, state }) => kind === 'approval' && state === 'pending')
    .reduce((sum, { quorum, votes }) => sum + quorum - approvalsOf(votes), 0);
  return missing === 0 ? '' : countOf(missing, 'approval', 'approvals');
}

/** Counts the approvals among the votes. */
export function approvalsOf(votes: RecordedRequest['votes']): number {
  return votes.filter(({ decision }) => decision === 'approve').length;
}

function isUnanswered({ kind, state }: RecordedRequest): boolean {
  return kind !== 'approval' && state === 'pending';
}

function isUnderWay({ state }: RecordedRequest): boolean {
  return state === 'approved' || state === 'started';
}

function countIn(
  requests: readonly RecordedRequest[],
  counts: (request: RecordedRequest) => boolean,
  one: string,
  many: string,
): string {
  const count = requests.filter(counts).length;
  if (count === 0) return '';
  return count === 1 ? one : `${count} ${many}`;
}

function countOf(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
