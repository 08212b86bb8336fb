import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import {
  ANSWER,
  APPROVE,
  ASK_AGAIN,
  CHOOSE_FROM_MENU,
  CHOOSE_SEVERAL,
  DETAILS,
  DID_NOT_RUN,
  FILL_IN,
  RAN,
  RUN_AGAIN,
  SHOW_ADDRESS,
  SUBMIT_CHOICES,
  WITHDRAW,
} from '../../../../src/bot/views/cards/action-ids.ts';
import type { RequestRecord } from '../../../../src/store/port/request-record.ts';
import { draw, signed } from './draw-card.ts';
import { liveParts, nodesIn, SCHEMA_COMMENT, textIn } from './payloads.ts';
import { ASKED_AT, detailsFor, EXPIRES_AT, recordOf } from './records.ts';

const question = (input: Readonly<Record<string, string | boolean | readonly string[]>>) => ({
  kind: 'question' as const,
  details: detailsFor(input, {}, 'ask_question'),
});
test('the schema of payloads was made from the types that are installed', () => {
  const { version } = createRequire(import.meta.url)('@slack/types/package.json');
  expect(SCHEMA_COMMENT).toBe(`@slack/types ${version}`);
});

test.each<[RequestRecord['kind'], string]>([
  ['approval', APPROVE],
  ['question', ANSWER],
  ['form', FILL_IN],
  ['callback', SHOW_ADDRESS],
])(
  'a pending %s past its time shows what the record says, and no clock but the record’s ends it',
  (kind, action) => {
    const details = detailsFor({ question: 'Which?', choices: [] });
    const times = { createdAt: ASKED_AT, expiresAt: ASKED_AT + 1 };
    const pending = draw({ kind, details, ...times });
    expect(pending.said).toContain('until ');
    expect(pending.actions).toContain(action);
    const expired = draw({ kind, details, ...times, state: 'expired', settledAt: EXPIRES_AT });
    expect(expired.actions).not.toContain(action);
  },
);

describe('an approval that was decided', () => {
  /** A step that was approved by itself, before its turn has come. */
  const IN_PLAN = { step: { plan: 'C1:1~plan', number: 2, alone: true } };
  /** One approval is enough. */
  const BY_ONE = { policy: { ...recordOf().policy, quorum: 1 } };
  const decided = { by: 'U0BRUNO', settledAt: ASKED_AT + 120_000, votes: signed, approvals: 1 };

  test.each<[RequestRecord['state'], Partial<RequestRecord>, RegExp, string[]]>([
    ['approved', {}, /Starting…/, [WITHDRAW]],
    ['approved', IN_PLAN, /It starts when the steps before it have run/, [WITHDRAW]],
    ['started', { progress: 'half-way <!here>' }, /Running\nhalf-way <!here>/, []],
    ['started', { attempts: 2 }, /Running \(attempt 2\)/, []],
    ['succeeded', { payload: '{"refunded":120}' }, /asked by \n · approved by \n · /, []],
    ['failed', { payload: '"card declined"' }, /failed \ncard declined/, []],
    ['failed', { payload: 'no JSON' }, /failed \nno JSON/, []],
    ['unknown', {}, /It may or may not have happened/, [RAN, DID_NOT_RUN]],
    ['unknown', BY_ONE, /It may or may not have happened/, [RAN, DID_NOT_RUN, RUN_AGAIN]],
    [
      'resolved',
      { payload: 'did-not-run\nno trace of it' },
      /Did not run · confirmed by [\s\S]*no trace of it/,
      [],
    ],
    ['resolved', { payload: 'constructor' }, /Outcome confirmed by /, []],
    ['resolved', { payload: '__proto__' }, /Outcome confirmed by /, []],
    ['rejected', { payload: 'too much' }, /approved by [\s\S]*rejected by [\s\S]*too much/, []],
    ['expired', {}, /expired [\s\S]* with no decision/, [ASK_AGAIN]],
    ['withdrawn', { payload: '' }, /withdrawn by /, []],
    ['superseded', { payload: 'quorum-lost' }, /approved by [\s\S]*are still approvers/, []],
    ['unknown', { progress: 'building (0 %)' }, /Last progress: building \(0 %\)/, [RAN, DID_NOT_RUN]],
    [
      'superseded',
      { payload: '{"code":"edited","input":{"amount":1},"by":"U0RITA"}' },
      /replaced by an edited request from /,
      [],
    ],
    ['superseded', { payload: 'constructor' }, /no longer valid\.\nconstructor/, []],
  ])('and is %s says so', (state, changes, said, actions) => {
    const card = draw({ ...decided, state, ...changes });
    expect(card.text).toMatch(/^[A-Z][a-z ]+: Refund order$/);
    expect(card.said).toMatch(said);
    expect(card.actions).toEqual([...actions, DETAILS]);
    expect(card.said).not.toContain('orderId');
    expect(card.said).not.toContain('{');
    expect(card.blocks.map(({ type }) => type)).toEqual(['rich_text', 'actions']);
  });

  test.each<[RequestRecord['state'], string, boolean]>([
    ['succeeded', '', false],
    ['started', '', false],
    ['unknown', '', false],
    ['resolved', 'ran', false],
    ['resolved', 'did-not-run', true],
    ['rejected', 'no', true],
    ['expired', '', true],
    ['withdrawn', '', true],
    ['superseded', 'quorum-lost', true],
    ['failed', '"no"', true],
  ])('and is %s %s is struck through only if it did not run: %s', (state, payload, isStruck) => {
    const [, title] = nodesIn(draw({ ...decided, state, payload }).blocks).filter(
      ({ type }) => type === 'text',
    );
    expect(title).toMatchObject({
      text: 'Refund order',
      style: isStruck ? { strike: true } : { bold: true },
    });
  });

  test('and too few of whose approvers are left says that people are asked again', () => {
    const card = draw({ ...decided, state: 'superseded', payload: 'quorum-lost' });
    expect(card.text).toBe('Replaced: Refund order');
    expect(card.said).toMatch(/are still approvers, so it needs a new approval\./);
  });

  test('names who decided and when', () => {
    const { blocks } = draw({ ...decided, state: 'rejected', payload: 'no' });
    expect(liveParts(blocks)).toContain('U0BRUNO');
    expect(nodesIn(blocks).map(({ timestamp }) => timestamp)).toContain((ASKED_AT + 120_000) / 1000);
  });

  test('and whose outcome is unknown names those who may resolve it', () => {
    expect(liveParts(draw({ state: 'unknown' }).blocks)).toContain('U0RITA');
  });
});

describe('a question', () => {
  test('offers a few short choices as buttons', () => {
    const card = draw(question({ question: 'Which one?', choices: ['Red', 'Blue'] }));
    expect(card.text).toBe('Which one?');
    expect(card.actions).toEqual(['choose:0', 'choose:1', WITHDRAW]);
  });

  test.each([
    ['six choices', ['a', 'b', 'c', 'd', 'e', 'f']],
    ['forty choices', Array.from({ length: 40 }, (_, index) => `Choice ${index}`)],
    ['a long choice', ['short', 'long '.repeat(20)]],
  ])('with %s has a menu, and its block leads to the request', (_, choices) => {
    const card = draw(question({ question: 'Which?', choices }));
    expect(card.actions).toEqual([CHOOSE_FROM_MENU, WITHDRAW]);
    const menu = card.blocks.find((block) => block.type === 'actions');
    expect(menu?.block_id).toBe(recordOf().id);
  });

  test('whose choices are cut in the menu lists them whole', () => {
    const long = `${'very '.repeat(30)}long`;
    expect(draw(question({ question: 'Which?', choices: ['short', long] })).said).toContain(
      `1. short\n2. ${long}`,
    );
  });

  test('with choices too long to list is answered in a modal', () => {
    const choices = Array.from({ length: 20 }, (_, index) => `${index} ${'long '.repeat(50)}`);
    expect(draw(question({ question: 'Which?', choices })).actions).toEqual([ANSWER, DETAILS, WITHDRAW]);
  });

  test('that takes other answers says so', () => {
    expect(draw(question({ question: 'Why?', choices: ['a'], allowOther: true })).actions).toContain(ANSWER);
    expect(draw(question({ question: 'Why?', choices: ['a'] })).actions).not.toContain(ANSWER);
  });

  test.each([
    ['checkboxes', 10],
    ['multi_static_select', 11],
  ])('that takes several answers has %s and a button to submit', (type, count) => {
    const choices = Array.from({ length: count }, (_, index) => `Choice ${index}`);
    const card = draw(question({ question: 'Which?', choices, several: true }));
    expect(card.actions).toEqual([CHOOSE_SEVERAL, SUBMIT_CHOICES, WITHDRAW]);
    expect(nodesIn(card.blocks).map((node) => node.type)).toContain(type);
  });

  test('that was answered shows the answer and who gave it', () => {
    const card = draw({
      ...question({ question: 'Which one?', choices: ['Red'] }),
      state: 'answered',
      by: 'U0ASKER',
      payload: '"Red"',
    });
    expect(card.text).toBe('Answered: Which one?');
    expect(card.said).toContain('Answer\nRed');
    expect(liveParts(card.blocks)).toEqual(['U0ASKER']);
  });

  test('keeps its fallback from being read as markup', () => {
    expect(draw(question({ question: 'Tell <!channel> & all?', choices: ['a'] })).text).toBe(
      'Tell &lt;!channel&gt; &amp; all?',
    );
  });
});

describe('a form and a call-back', () => {
  test.each([
    [
      'a question',
      question({ question: 'Which room should I book?', choices: ['Red'] }),
      'Which room should I book?',
      /Question for/,
    ],
    [
      'a form',
      { kind: 'form', details: detailsFor({}, { purpose: 'Report an incident' }) },
      'Report an incident',
      /To be filled in by .*asked by .*until/,
    ],
    [
      'a call-back',
      { kind: 'callback', details: detailsFor({}, { purpose: 'the build of checkout' }) },
      'Waiting for: the build of checkout',
      /since .*asked by .*until/,
    ],
  ] as const)(
    '%s is headed by what it is about; the next line says who asks whom',
    (_, request, title, line) => {
      const [head, next] = draw(request).blocks;
      expect(head).toMatchObject({ type: 'header', text: { text: title } });
      expect(next?.type).toBe('context');
      expect(textIn(next)).toMatch(line);
    },
  );

  test('a purpose with no room in a heading stands below ours, whole', () => {
    const purpose = 'Tell what happened.\n'.repeat(3);
    const [head, next] = draw({ kind: 'form', details: detailsFor({}, { purpose }) }).blocks;
    expect(textIn(head)).toBe('Please fill in a form');
    expect(textIn(next)).toContain(purpose.trim());
  });

  test('a form has a button that opens it, and afterwards shows what was filled in', () => {
    expect(draw({ kind: 'form' }).actions).toEqual([FILL_IN, DETAILS, WITHDRAW]);
    const card = draw({ kind: 'form', state: 'answered', by: 'U0ALICE', payload: '{"size":3}' });
    expect(card.said).toContain('Answer\nSize: 3');
    expect(card.actions).toEqual([DETAILS]);
  });

  test('a call-back says what is awaited and since when, and afterwards what came back', () => {
    const card = draw({
      kind: 'callback',
      details: detailsFor({ build: 7 }, { purpose: 'The build to end' }),
    });
    expect(card.said).toContain('The build to end');
    expect(card.said).toContain('since ');
    expect(card.actions).toEqual([SHOW_ADDRESS, DETAILS, WITHDRAW]);
    expect(draw({ kind: 'callback', state: 'answered', payload: '{"ok":true}' }).said).toContain('Ok: yes');
  });
});
