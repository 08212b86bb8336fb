import type { InboxItem, Settlement } from '../store/port.ts';

/** Whether an item of the inbox has had its effect, so that the model need not read it as well. */
export function isSpent({ body }: InboxItem, settled: readonly Settlement[]): boolean {
  if (body.stops === true) return true;
  return settled.some(
    ({ requestId, state, by }) => requestId === body.answers && state === 'answered' && by === body.user,
  );
}
