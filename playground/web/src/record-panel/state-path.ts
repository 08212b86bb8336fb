import type { RecordedRequest, RecordedRow } from '../../../record-protocol.ts';

/** One state of a request; a future one has no time. */
export interface PathStep {
  readonly state: string;
  readonly isReached: boolean;
  readonly at?: number;
}

const STATE_AFTER: Readonly<Record<string, string>> = {
  asked: 'pending',
  approved: 'approved',
  started: 'started',
  retried: 'approved',
  succeeded: 'succeeded',
  failed: 'failed',
  abandoned: 'failed',
  unknown: 'unknown',
  answered: 'answered',
  rejected: 'rejected',
  expired: 'expired',
  withdrawn: 'withdrawn',
  superseded: 'superseded',
  paused: 'paused',
};

/** Returns a request's past states from its audit rows, and the expected next ones. */
export function statePath(request: RecordedRequest, rows: readonly RecordedRow[]): readonly PathStep[] {
  const reached = rows
    .filter(({ subject }) => subject === request.id)
    .flatMap((row): PathStep[] => {
      const state = row.event === 'resolved' ? stateAfterVerdict(row.detail) : STATE_AFTER[row.event];
      return state === undefined ? [] : [{ state, isReached: true, at: row.at }];
    });
  // Rows can have been trimmed, and the record may be a moment ahead of the rows that were read with it.
  if (reached.at(-1)?.state !== request.state) reached.push({ state: request.state, isReached: true });
  return [...reached, ...statesAhead(request).map((state) => ({ state, isReached: false }))];
}

function stateAfterVerdict(detail: string): string {
  return detail.startsWith('run-again') ? 'approved' : 'resolved';
}

function statesAhead({ kind, state }: RecordedRequest): readonly string[] {
  if (state === 'pending' && kind !== 'approval') return ['answered'];
  if (state === 'unknown') return ['resolved'];
  if (state === 'paused') return ['succeeded'];
  const way = ['pending', 'approved', 'started', 'succeeded'];
  const index = way.indexOf(state);
  return index === -1 ? [] : way.slice(index + 1);
}
