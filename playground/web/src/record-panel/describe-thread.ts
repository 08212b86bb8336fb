import type { RecordedRequest, ThreadRecord } from '../../../record-protocol.ts';
import { formatDuration } from './format-time.ts';

/** Describes the thread's state in one line. */
export function describeThread(record: ThreadRecord, now: number): string {
  const { state, lease, unread, reason } = record;
  if (state === 'quarantined') return `Set aside: ${reason ?? 'its record cannot be read.'}`;
  if (state === 'waiting') return describeWait(record.requests);
  if (lease !== undefined && lease.until > now)
    return `A turn is running (token ${lease.token}); its lease holds for ${formatDuration(lease.until - now)} unless it is renewed.`;
  if (lease !== undefined)
    return `The turn with token ${lease.token} fell silent; its lease ran out ${formatDuration(now - lease.until)} ago, and the next worker takes over.`;
  if (unread > 0) return `${countOf(unread, 'message waits', 'messages wait')} for a worker.`;
  return 'Idle: everything that was said is read and answered.';
}

/** Describes the queued messages; empty when there are none or the state already says it. */
export function describeQueue({ state, lease, unread }: ThreadRecord): string {
  if (unread === 0 || (state === 'idle' && lease === undefined)) return '';
  if (state === 'working')
    return `${countOf(unread, 'message is', 'messages are')} read by this turn or queued behind it.`;
  return `${countOf(unread, 'message is', 'messages are')} queued and will be read afterwards.`;
}

function describeWait(requests: readonly RecordedRequest[]): string {
  const words = [
    missingApprovals(requests),
    countIn(requests, isUnanswered, 'an answer', 'answers'),
    countIn(
      requests,
      ({ state }) => state === 'unknown',
      'a word on an unknown outcome',
      'words on unknown outcomes',
    ),
    countIn(requests, isUnderWay, 'an approved action to end', 'approved actions to end'),
  ].filter((part) => part !== '');
  return words.length === 0 ? 'Waits.' : `Waits for ${words.join(', and for ')}.`;
}

function missingApprovals(requests: readonly RecordedRequest[]): string {
  const missing = requests
    .filter(({ kind, state }) => kind === 'approval' && state === 'pending')
    .reduce((sum, { quorum, votes }) => sum + quorum - approvalsOf(votes), 0);
  return missing === 0 ? '' : countOf(missing, 'signature', 'signatures');
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
