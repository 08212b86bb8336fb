import fc from 'fast-check';
import { expect, test } from 'vitest';
import { buildCard } from '../../../src/bot/views/cards/build-card.ts';
import { stateOf, stateWordOf } from '../../../src/bot/views/cards/card-details.ts';
import { buildEndedCopy } from '../../../src/bot/views/cards/outcome.ts';
import { titleWithView } from '../../../src/bot/views/home/build-home.ts';
import { buildDetailsModal } from '../../../src/bot/views/modals/details-modal.ts';
import { STATE_ICON } from '../../../src/bot/views/texts/cards.ts';
import { viewOf, waitingItemOf } from '../../../src/page/request-view.ts';
import type { RequestRecord } from '../../../src/store/port/request-record.ts';
import { RequestKind, RequestState } from '../../../src/store/port/request-record.ts';
import { countFor } from '../../support/count-for.ts';
import { textIn } from './cards/payloads.ts';
import { detailsFor, recordOf } from './cards/records.ts';

const RUNS = countFor('STATE_RUNS', { quick: 300, full: 3_000 });

/** What a request ends with: a result, a verdict, a declined answer, a pause elsewhere, or a result that does not fit. */
const PAYLOADS = [
  undefined,
  '{"ok":true}',
  'ran\nIt is there.',
  'did-not-run\nNothing is there.',
  '{"action":"decline"}',
  '{"code":"edited","by":"U0ALICE"}',
  '{"paused":"task","server":"ci"}',
  '{"unanswered":"declined","server":"bookings","result":{}}',
  '{"status":"ran","problem":"no id"}',
];

const anyRecord = fc
  .record({
    kind: fc.constantFrom(...RequestKind.options),
    state: fc.constantFrom(...RequestState.options),
    payload: fc.constantFrom(...PAYLOADS),
    isUndone: fc.constantFrom(undefined, true, false),
    attempts: fc.nat(3),
  })
  .map(({ isUndone, payload, ...rest }): RequestRecord => {
    const isSettled = !['pending', 'approved', 'started', 'unknown'].includes(rest.state);
    return recordOf({
      ...rest,
      details: detailsFor({ size: 3 }),
      ...(payload !== undefined && rest.state !== 'pending' && { payload }),
      ...(isSettled && { settledAt: 1_790_000_000_000, by: 'U0ALICE' }),
      ...(isUndone !== undefined &&
        rest.state === 'succeeded' && {
          undo: { step: 'asked', by: 'U0BOB', isDone: isUndone, at: 1_790_000_000_000 },
        }),
    });
  });

test('card, copy, Details, Home, page and commands say of a request that it is in the same state', () => {
  fc.assert(
    fc.property(anyRecord, (request) => {
      const { icon, word } = stateOf(request);
      const isPending = request.state === 'pending';
      const card = buildCard(request, { view: 'thread' });
      if (!isPending) {
        expect(card.text).toMatch(new RegExp(`^${word}: `));
        expect(textIn(card.blocks)).toMatch(new RegExp(`^${icon} `));
      }
      if (request.kind === 'approval' && request.settledAt !== undefined)
        expect(buildEndedCopy(request, { view: 'direct' }).text).toMatch(new RegExp(`^${word}: `));
      expect(textIn(buildDetailsModal(request, { page: 0 }).blocks)).toContain(` · ${word}`);
      expect(textIn(titleWithView(request, 'Title'))).toMatch(new RegExp(`^${icon} `));
      expect(viewOf(request).word).toBe(word);
      expect(waitingItemOf(request).word).toBe(word);
      expect(stateWordOf(request)).toBe(word.toLowerCase());
      // Nothing reads as done that is not.
      if (icon === STATE_ICON.succeeded) expect(word).not.toMatch(/Started|Undone|Declined|Ended|unusable/);
    }),
    { numRuns: RUNS },
  );
});
