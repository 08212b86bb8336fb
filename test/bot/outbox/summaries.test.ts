import { expect, test } from 'vitest';
import { buildMoved, buildSummary } from '../../../src/bot/outbox/summaries.ts';
import { actionsIn, expectValid, liveParts, textIn } from '../views/cards/payloads.ts';
import { detailsFor, recordOf, THREAD_LINK } from '../views/cards/records.ts';

const presented = (title: string) =>
  detailsFor({}, { presented: { title, fields: [], hasTitle: true, isComplete: true } });
const row = (title: string, changes: Parameters<typeof recordOf>[0] = {}) => ({
  request: recordOf({ details: presented(title), ...changes }),
  threadLink: THREAD_LINK,
  pageLink: undefined,
  askedFor: undefined,
});

test('a digest of many long requests is within the limits of a message, and says how many it leaves out', () => {
  const requesters = [...Array(30).keys()].map((number) => `U0PERSON${number}`);
  const rows = [...Array(40).keys()].map((number) =>
    row(`${number} ${'very '.repeat(60)}long`, { requesters, id: `C1:1~${'x'.repeat(60)}${number}` }),
  );
  const digest = buildSummary(rows);
  expectValid(digest);
  expect(actionsIn(digest.blocks)).toHaveLength(15);
  expect(textIn(digest.blocks)).toContain('and 25 more requests. The Home tab lists all of them.');
});

test('a title is text, never a mention or a link', () => {
  const digest = buildSummary([row('<!channel> <https://evil.example|click> *now*')]);
  expectValid(digest);
  expect(liveParts(digest.blocks)).toEqual(['U0ASKER', THREAD_LINK]);
  expect(digest.text).not.toMatch(/<[!h]/);
});

test('a row says for whom a stand-in is asked, and that an outcome is unknown', () => {
  const asked = buildSummary([{ ...row('Refund A1'), askedFor: 'U0ALICE' }]);
  expect(liveParts(asked.blocks)).toEqual(['U0ASKER', 'U0ALICE', THREAD_LINK]);
  const unknown = buildSummary([row('Refund A1', { state: 'unknown' })]);
  expectValid(unknown);
  expect(textIn(unknown.blocks)).toContain('Outcome unknown');
});

test('without anything to decide it says so, and an earlier message says where the list is', () => {
  expectValid(buildSummary([]));
  expect(buildSummary([]).text).toBe(
    'Nothing left on this list. Everything that was listed here is decided or has ended.',
  );
  expectValid(buildMoved());
});
