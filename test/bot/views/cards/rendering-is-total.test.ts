import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDeeperThan, isJsonObject, type JsonValue } from '../../../../src/agent/json.ts';
import { limits } from '../../../../src/bot/slack/limits.ts';
import { APPROVE, DETAILS } from '../../../../src/bot/views/cards/action-ids.ts';
import { buildCard } from '../../../../src/bot/views/cards/build-card.ts';
import { isOpaque } from '../../../../src/bot/views/cards/call-body.ts';
import { buildDetailsModal } from '../../../../src/bot/views/modals/details-modal.ts';
import { RequestKind, RequestState } from '../../../../src/store/port/request-record.ts';
import { countFor } from '../../../support/count-for.ts';
import { actionsIn, liveParts, nodesIn, problemsOf, problemsOfModal, textIn } from './payloads.ts';
import { readRendered } from './read-rendered.ts';
import { ASKED_AT, detailsFor, recordOf, THREAD_LINK } from './records.ts';
import { anyInput, anyText } from './values.ts';

const RUNS = countFor('RENDER_RUNS', { quick: 150, full: 1_000 });

const UNSEEN = '[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--[\\n]]';
const ANY_UNSEEN = new RegExp(`${UNSEEN}`, 'v');
const UNSEEN_OR_EMOJI = new RegExp(`\\p{RGI_Emoji}|(${UNSEEN})`, 'gv');
/** Invisible characters that are not part of an emoji. */
function hiddenIn(text: string): string[] {
  if (!ANY_UNSEEN.test(text)) return [];
  return [...text.matchAll(UNSEEN_OR_EMOJI)].flatMap(([, unseen]) => unseen ?? []);
}
const LEFT_OUT =
  /^(?:([\d,]+) of [\d,]+ arguments?(?: and [\d,]+ characters?)?|[\d,]+ characters?) not shown\.$|^Nested more than/;
const OPAQUE = /^Can't be inspected: (.*) \(encoded text or a script\)\.$/;
const COUNTED = /^([\d,]+) (?:other )?arguments?$/;

/** The text of the arguments, and the card without all that may depend on them. */
function takeApart(input: JsonValue) {
  const card = buildCard(recordOf({ details: detailsFor(input) }), {
    view: 'direct',
    threadLink: THREAD_LINK,
  });
  const isArguments = (block: unknown) =>
    nodesIn(block).some(({ type }) => type === 'rich_text_preformatted');
  const notices = card.blocks.filter((block) => LEFT_OUT.test(textIn(block)));
  const marks = card.blocks.filter((block) => OPAQUE.test(textIn(block)));
  const isFromInput = (block: (typeof card.blocks)[number]) =>
    isArguments(block) || notices.includes(block) || marks.includes(block);
  const rest = card.blocks.filter((block) => !isFromInput(block) && block.type !== 'actions');
  const shown = textIn(card.blocks.filter(isArguments));
  return { card, shown, notice: textIn(notices), mark: textIn(marks), rest };
}

/** As text, so that the order of keys counts as well. */
function expectSame(value: unknown, input: unknown): void {
  expect(JSON.stringify(value)).toBe(JSON.stringify(input));
}

function expectShown(input: JsonValue, shown: string, notice: string): void {
  const read = notice.startsWith('Nested') ? undefined : readRendered(shown);
  if (notice === '') {
    const value = read !== undefined && 'whole' in read ? read.whole : Object.fromEntries(read?.shown ?? []);
    expectSame(value, input);
    return;
  }
  if (notice.startsWith('Nested')) {
    expect(isDeeperThan(limits.depth, input)).toBe(true);
    return;
  }
  if (!isJsonObject(input)) {
    expect(shown).toMatch(/^\(not shown: [\d,]+ characters\)$/);
    return;
  }
  const entries = [...(read !== undefined && 'shown' in read ? read.shown : [])].filter(
    ([, value]) => value !== undefined,
  );
  for (const [name, value] of entries) expectSame(value, input[name]);
  const said = Number((/^([\d,]+) of/.exec(notice)?.[1] ?? '').replaceAll(',', ''));
  expect(Object.keys(input).length - entries.filter(([name]) => Object.hasOwn(input, name)).length).toBe(
    said,
  );
}

/** Everything that nobody can judge by reading is counted, and named only by plain words. */
function expectMarked(input: JsonValue, mark: string): void {
  const [, list = ''] = OPAQUE.exec(mark) ?? [];
  const parts = list === '' ? [] : list.split(', ');
  const names = parts.filter((part) => !COUNTED.test(part));
  for (const name of names) expect(name).toMatch(/^[A-Za-z_][\w.]*$/);
  const others = parts.flatMap((part) => COUNTED.exec(part)?.[1] ?? []);
  expect(others.reduce((sum, count) => sum + Number(count.replaceAll(',', '')), names.length)).toBe(
    textsIn(input).filter(isOpaque).length,
  );
}

function nested(depth: number, inner: JsonValue): JsonValue {
  return Array.from({ length: depth }).reduce<JsonValue>((value) => [value], inner);
}

function textsIn(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

test('any arguments make a card that Slack takes, that shows them exactly or says what is missing, and that nothing in them can liven up', () => {
  const plain = takeApart({});
  fc.assert(
    fc.property(anyInput, (input) => {
      const { card, shown, notice, mark, rest } = takeApart(input);
      expect(problemsOf(card)).toEqual([]);
      expectShown(input, shown, notice);
      if (!isDeeperThan(limits.depth, input)) expectMarked(input, mark);
      expect(hiddenIn(textIn(card.blocks))).toEqual([]);
      expect(rest).toEqual(plain.rest);
      expect(card.text).toBe(plain.card.text);
      expect(liveParts(card.blocks)).toEqual(liveParts(plain.card.blocks));
      const isSignable = actionsIn(card.blocks).includes(APPROVE);
      expect(isSignable).toBe(notice === '');
      expect(actionsIn(card.blocks)).toContain(DETAILS);
    }),
    { numRuns: RUNS, examples: [[{ '': '0'.repeat(80) }], [nested(limits.depth, '0'.repeat(80))]] },
  );
});

test('the full view shows any arguments whole over its pages, and Approve only on the last', () => {
  fc.assert(
    fc.property(anyInput, (input) => {
      const request = recordOf({ details: detailsFor(input) });
      const texts: string[] = [];
      for (let page = 0, isLast = false; !isLast; page += 1) {
        const view = buildDetailsModal(request, { page });
        expect(problemsOfModal(view)).toEqual([]);
        expect(hiddenIn(textIn(view.blocks))).toEqual([]);
        texts.push(
          ...nodesIn(view.blocks)
            .filter(({ type }) => type === 'rich_text_preformatted')
            .map(textIn),
        );
        isLast = !actionsIn(view.blocks).includes('next-page');
        const canBeSeen = !isDeeperThan(limits.depth, input);
        expect(actionsIn(view.blocks).includes(APPROVE)).toBe(isLast && canBeSeen);
      }
      if (isDeeperThan(limits.depth, input)) return;
      const read = readRendered(texts.join(''));
      expectSame('whole' in read ? read.whole : Object.fromEntries(read.shown), input);
    }),
    { numRuns: Math.ceil(RUNS / 10) },
  );
});

test('any words of a model, a person or a tool, in any kind and state, make a card that Slack takes and stay dead', () => {
  const slots = fc.record({
    kind: fc.constantFrom(...RequestKind.options),
    state: fc.constantFrom(...RequestState.options),
    view: fc.constantFrom('thread' as const, 'announcement' as const, 'direct' as const),
    words: fc.array(anyText, { minLength: 6, maxLength: 6 }),
    choices: fc.array(anyText, { maxLength: 130 }),
    payload: fc.oneof(
      anyText,
      anyInput.map((value) => JSON.stringify(value)),
    ),
    flags: fc.tuple(fc.boolean(), fc.boolean()),
  });
  fc.assert(
    fc.property(slots, ({ kind, state, view, words, choices, payload, flags }) => {
      const [question = '', why = '', description = '', rule = '', purpose = '', progress = ''] = words;
      const [several, allowOther] = flags;
      const input = { question, choices, several, allowOther };
      const details = detailsFor(input, {
        facets: { why, description, reason: { rule } },
        purpose,
        policy: { name: rule, risk: 'high', own: false },
      });
      const request = recordOf({
        kind,
        state,
        details,
        payload,
        progress,
        by: 'U0BRUNO',
        settledAt: ASKED_AT,
      });
      const card = buildCard(request, { view, threadLink: THREAD_LINK });
      expect(problemsOf(card)).toEqual([]);
      expect(hiddenIn(textIn(card.blocks))).toEqual([]);
      const known = ['U0ASKER', 'U0ALICE', 'U0BRUNO', 'U0RITA', 'S0FINANCE', THREAD_LINK];
      expect(known).toEqual(expect.arrayContaining(liveParts(card.blocks)));
      expect(card.text).not.toMatch(/[<>]/);
    }),
    { numRuns: Math.ceil(RUNS / 5) },
  );
});
