import { describe, expect, test } from 'vitest';
import { APPROVE, NEXT_PAGE, PREVIOUS_PAGE, REJECT } from '../../../../src/bot/views/cards/action-ids.ts';
import {
  buildAnswerModal,
  buildRejectModal,
  buildResolveModal,
  CHOICE,
  OWN_WORDS,
  parseAnswer,
  parseReason,
  parseResolution,
  REASON,
  VERDICT,
} from '../../../../src/bot/views/modals/decision-modals.ts';
import { buildDetailsModal } from '../../../../src/bot/views/modals/details-modal.ts';
import { parseMetadata } from '../../../../src/bot/views/modals/modal.ts';
import { actionsIn, expectValidModal, nodesIn, textIn } from '../cards/payloads.ts';
import { ASKED_AT, detailsFor, recordOf } from '../cards/records.ts';
import { stateOf } from './submit.ts';

describe('the full view', () => {
  const long = recordOf({
    details: detailsFor({ body: 'word '.repeat(4_000), amount: 7 }, { facets: { why: 'because' } }),
  });
  const open = (page: number, request = long) => {
    const view = buildDetailsModal(request, { page });
    expectValidModal(view);
    return view;
  };

  test('goes on over pages, and Approve stands after the last thing there is to see', () => {
    expect([0, 1, 2].map((page) => actionsIn(open(page)))).toEqual([
      [NEXT_PAGE, REJECT],
      [PREVIOUS_PAGE, NEXT_PAGE, REJECT],
      [PREVIOUS_PAGE, APPROVE, REJECT],
    ]);
    expect([0, 1, 2].map((page) => open(page).blocks.at(-1)?.type)).toEqual([
      'actions',
      'actions',
      'actions',
    ]);
    expect(textIn(open(2))).toContain('because');
    expect(parseMetadata(open(1).private_metadata ?? '')).toEqual({ requestId: long.id, page: 1 });
  });

  test('stays on the last page when asked for one beyond', () => {
    expect(parseMetadata(open(99).private_metadata ?? '')?.page).toBe(2);
  });

  test('shows the arguments as the model gave them beside those that wait', () => {
    const request = recordOf({ details: detailsFor({ amount: 1 }, { originalInput: { amount: 1_000 } }) });
    expect(textIn(open(0, request))).toMatch(/amount: 1\n[\s\S]*before the edit\namount: 1000/);
  });

  test.each([
    ['this tool: when input.amount > 100', 'Why: "amount" is more than 100'],
    [
      'get_*: when now.hour < 8 (it could not be evaluated: no such key)',
      'Why: could not check whether the hour is less than 8',
    ],
  ])('says the condition of the rule in words: %s', (rule, words) => {
    const shown = textIn(
      open(0, recordOf({ details: detailsFor({ amount: 120 }, { facets: { reason: { rule } } }) })),
    );
    expect(shown).toContain(words);
  });

  test('says that a rule without a condition always asks', () => {
    const shown = textIn(
      open(0, recordOf({ details: detailsFor({}, { facets: { reason: { rule: 'this tool: always' } } }) })),
    );
    expect(shown).toContain('Why: every “Refund order” needs approval');
  });

  test.each([
    ['settled', recordOf({ state: 'rejected', payload: 'no' })],
    ['expired', recordOf({ state: 'expired' })],
    [
      'a question',
      recordOf({ kind: 'question', details: detailsFor({ question: 'Which?', choices: ['a'] }) }),
    ],
    ['unreadable', recordOf({ details: {} })],
  ])('of what is %s has nothing to decide', (_, request) => {
    expect(actionsIn(open(0, request))).toEqual([]);
  });

  test('of what is pending past its time has what the record allows', () => {
    expect(actionsIn(open(0, recordOf({ expiresAt: ASKED_AT })))).toEqual([APPROVE, REJECT]);
  });

  test('asks once more before a risky approval', () => {
    const [approve] = nodesIn(
      open(0, recordOf({ details: detailsFor({}, { policy: { risk: 'high', own: false } }) })),
    ).filter(({ action_id }) => action_id === APPROVE);
    expect(approve?.confirm).toBeDefined();
  });
});

test.each(['', 'null', '{"requestId":"","page":0}', '{"requestId":"a","page":-1}'])(
  '%s is no metadata',
  (text) => {
    expect(parseMetadata(text)).toBeUndefined();
  },
);

describe('a rejection', () => {
  test('needs a reason that is more than blanks', () => {
    const view = buildRejectModal(recordOf());
    expectValidModal(view);
    expect(parseReason(stateOf(view))).toEqual({ ok: false, errors: { [REASON]: 'Please give a reason.' } });
    expect(parseReason(stateOf(view, { [REASON]: { value: ' \n ' } }))).toMatchObject({ ok: false });
    expect(parseReason(stateOf(view, { [REASON]: { value: ' too much ' } }))).toEqual({
      ok: true,
      value: 'too much',
    });
  });
});

describe('an unknown outcome', () => {
  test('is resolved with a verdict, chosen by the button, and a reason', () => {
    const view = buildResolveModal(recordOf({ state: 'unknown' }), 'did-not-run');
    expectValidModal(view);
    expect(parseResolution(stateOf(view, { [REASON]: { value: 'no trace' } }))).toEqual({
      ok: true,
      value: { verdict: 'did-not-run', reason: 'no trace' },
    });
    const wrong = stateOf(view, { [VERDICT]: { selected_option: { value: 'maybe' } } });
    expect(parseResolution(wrong)).toEqual({
      ok: false,
      errors: { [VERDICT]: 'Please choose one.', [REASON]: 'Please give a reason.' },
    });
  });
});

describe('an answer', () => {
  const asking = (input: Readonly<Record<string, string | boolean | readonly string[]>>) =>
    recordOf({ kind: 'question', details: detailsFor({ question: 'Which?', ...input }, {}, 'ask_question') });
  const answer = (request: ReturnType<typeof asking>, changes: Readonly<Record<string, object>>) => {
    const view = buildAnswerModal(request);
    expectValidModal(view);
    return parseAnswer(request, stateOf(view, changes));
  };

  test('is written in where that is allowed', () => {
    const request = asking({ choices: ['a', 'b'], allowOther: true });
    expect(answer(request, { [OWN_WORDS]: { value: 'c' } })).toEqual({ ok: true, value: 'c' });
    expect(answer(request, { [CHOICE]: { selected_option: { value: '1' } } })).toEqual({
      ok: true,
      value: 'b',
    });
    expect(answer(request, {})).toMatchObject({ ok: false, errors: { [CHOICE]: 'Please give an answer.' } });
    expect(
      answer(request, { [OWN_WORDS]: { value: 'c' }, [CHOICE]: { selected_option: { value: '1' } } }),
    ).toMatchObject({ ok: false, errors: { [OWN_WORDS]: expect.any(String) } });
  });

  test('that was not asked for is not taken', () => {
    const request = asking({ choices: ['a', 'b'] });
    const forged = { [OWN_WORDS]: { [OWN_WORDS]: { type: 'plain_text_input', value: 'c' } } };
    expect(parseAnswer(request, forged)).toMatchObject({ ok: false });
    expect(answer(request, { [CHOICE]: { selected_option: { value: '2' } } })).toMatchObject({ ok: false });
  });

  test('of several is a list, in the order of the question', () => {
    const request = asking({
      choices: Array.from({ length: 100 }, (_, index) => `c${index}`),
      several: true,
      allowOther: true,
    });
    const chosen = { selected_options: [{ value: '99' }, { value: '1' }] };
    expect(answer(request, { [CHOICE]: chosen, [OWN_WORDS]: { value: 'x' } })).toEqual({
      ok: true,
      value: ['c1', 'c99', 'x'],
    });
  });
});
