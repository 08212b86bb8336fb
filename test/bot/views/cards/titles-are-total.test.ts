import fc from 'fast-check';
import { expect, test } from 'vitest';
import { defineTool } from '../../../../src/agent/define-tool.ts';
import {
  canonicalJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toJson,
} from '../../../../src/agent/json.ts';
import { APPROVE, DETAILS } from '../../../../src/bot/views/cards/action-ids.ts';
import { buildCard } from '../../../../src/bot/views/cards/build-card.ts';
import { titleOf } from '../../../../src/bot/views/cards/card-details.ts';
import { buildHome } from '../../../../src/bot/views/home/build-home.ts';
import { showLine, showText } from '../../../../src/bot/views/texts/show-text.ts';
import { FORMAT_NAMES, formatValue } from '../../../../src/tools/presentation/formats.ts';
import { createPresentation } from '../../../../src/tools/presentation/presentation.ts';
import { countFor } from '../../../support/count-for.ts';
import { actionsIn, liveParts, nodesIn, problemsOf, textIn } from './payloads.ts';
import { readRendered } from './read-rendered.ts';
import { readTable } from './read-table.ts';
import { detailsFor, recordOf } from './records.ts';
import { anyInput, anyText } from './values.ts';

const RUNS = countFor('TITLE_RUNS', { quick: 75, full: 1_000 });

const tool = defineTool(
  { name: 'do_it', description: 'Does it.', inputSchema: { type: 'object', additionalProperties: true } },
  () => 'ok',
);

/** The boxes without a label of their own, which show all arguments. */
function argumentBoxes(blocks: readonly unknown[]): unknown[] {
  return blocks.filter((block) =>
    nodesIn(block).every(
      ({ type }, index) => index === 0 || type === 'rich_text_preformatted' || type === 'text',
    ),
  );
}

/** A tool that says which arguments it takes, and has no title. */
const named = defineTool(
  {
    name: 'do_it',
    description: 'Does it.',
    inputSchema: {
      type: 'object',
      properties: { a0: { type: 'string' }, a1: {}, a2: { type: 'number' }, a3: { type: 'array' } },
      required: ['a1'],
    },
  },
  () => 'ok',
);

const UNSEEN = '[[\\p{C}\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}]--[\\n]]';
const UNSEEN_OR_EMOJI = new RegExp(`\\p{RGI_Emoji}|(${UNSEEN})`, 'gv');
function hiddenIn(text: string): string[] {
  return [...text.matchAll(UNSEEN_OR_EMOJI)].flatMap(([, unseen]) => unseen ?? []);
}

const formats = fc.option(
  fc.constantFrom(...FORMAT_NAMES.map((name) => (name === 'money' ? "money('USD', 'cents')" : name))),
  { nil: undefined },
);

interface Named {
  readonly name: string;
  readonly format: string | undefined;
}

const placeholder = ({ name, format }: Named) =>
  `{{input.${name}${format === undefined ? '' : ` | ${format}`}}}`;

/** An input whose arguments can be named, and templates that name some of them. */
const call = anyInput
  .filter((input): input is JsonObject => isJsonObject(input))
  .chain((given) => {
    const input: JsonObject = Object.fromEntries(
      Object.values(given)
        .slice(0, 5)
        .map((value, index) => [`a${index}`, value]),
    );
    const names = Object.keys(input);
    const named = fc.record({ name: fc.constantFrom('a9', ...names), format: formats });
    return fc.record({
      input: fc.constant(input),
      title: fc.array(named, { maxLength: 3 }),
      fields: fc.array(named, { maxLength: 4 }),
      words: anyText.map((text) => text.replaceAll('{{', '')),
    });
  });

function formatCall(format: string | undefined) {
  if (format === undefined) return undefined;
  return format.startsWith('money') ? { name: 'money', args: ['USD', 'cents'] } : { name: format, args: [] };
}

function isLeaf(value: JsonValue): boolean {
  return typeof value !== 'object' || value === null;
}

test('for any values and titles, everything that runs can be read on the card or is named as not shown, and nothing in it is live', () => {
  fc.assert(
    fc.property(call, ({ input, title, fields, words }) => {
      const templates = Object.fromEntries(
        fields.map((each, index) => [`Field ${index}`, placeholder(each)]),
      );
      const declared = { title: `Do ${title.map(placeholder).join(' and ')} ${words}`, fields: templates };
      const presented = createPresentation(tool, declared).present(input);
      const details = detailsFor(input, { presented: toJson(presented) }, 'do_it');
      const request = recordOf({ details });
      const card = buildCard(request, { view: 'thread' });
      const shown = textIn(card.blocks);

      expect(problemsOf(card)).toEqual([]);
      expect(hiddenIn(shown)).toEqual([]);
      expect(hiddenIn(card.text)).toEqual([]);
      expect(card.text).not.toMatch(/[<>]/);
      const plain = buildCard(recordOf({ details: detailsFor({}, {}, 'do_it') }), { view: 'thread' });
      expect(liveParts(card.blocks).filter((part) => part !== 'channel')).toEqual(liveParts(plain.blocks));
      expect(hiddenIn(titleOf(request))).toEqual([]);
      expect(
        liveParts(
          buildHome([{ name: 'waiting', requests: [request], next: undefined, isFirst: true }], { asOf: 0 })
            .blocks,
        ),
      ).toEqual(['U0ASKER', 'C1']);

      const [header = ''] = nodesIn(card.blocks)
        .filter(({ type }) => type === 'header')
        .map(textIn);
      const whole = showLine(presented.title);
      if (!header.includes(whole) && whole.trim() !== '') expect(header.endsWith('…')).toBe(true);

      const boxes = argumentBoxes(card.blocks);
      const canApprove = actionsIn(card.blocks).includes(APPROVE);
      expect(actionsIn(card.blocks)).toContain(canApprove ? APPROVE : DETAILS);
      if (!canApprove) {
        expect(shown).toMatch(/not shown|more characters?|Nested more than/);
        return;
      }
      if (boxes.length > 0) {
        const read = readRendered(textIn(boxes));
        const value = 'whole' in read ? read.whole : Object.fromEntries(read.shown);
        expect(JSON.stringify(value)).toBe(JSON.stringify(input));
        return;
      }
      // Without the arguments, each of them stands in the title or in a field, as its format writes it.
      for (const [name, value] of Object.entries(input)) {
        const places = [...title, ...fields].filter((each) => each.name === name);
        expect(places).not.toEqual([]);
        if (!isLeaf(value)) continue;
        const written = places.flatMap(({ format }) => [
          formatValue(value, formatCall(format)),
          JSON.stringify(value),
        ]);
        const isSeen = written.some(
          (text) => shown.includes(showLine(text)) || shown.includes(showText(text)),
        );
        const isChannel = liveParts(card.blocks).includes('channel');
        expect(isSeen || isChannel).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});

test('for any values, a title by default is one visible line that hides nothing and is not live', () => {
  fc.assert(
    fc.property(call, ({ input }) => {
      const presented = createPresentation(named, {}).present(input);
      const request = recordOf({ details: detailsFor(input, { presented: toJson(presented) }, 'do_it') });
      const card = buildCard(request, { view: 'thread' });
      const shown = textIn(card.blocks);
      expect(problemsOf(card)).toEqual([]);
      expect(hiddenIn(shown)).toEqual([]);
      expect(hiddenIn(titleOf(request))).toEqual([]);
      expect(presented.title.startsWith('Do it')).toBe(true);
      expect(presented.title.length).toBeLessThan(300);
      expect(card.text).not.toMatch(/[<>]/);
      const plain = buildCard(recordOf({ details: detailsFor({}, {}, 'do_it') }), { view: 'thread' });
      expect(liveParts(card.blocks)).toEqual(liveParts(plain.blocks));
      if (!actionsIn(card.blocks).includes(APPROVE)) {
        expect(shown).toMatch(/not shown|more characters?|Nested more than/);
        return;
      }
      const boxes = argumentBoxes(card.blocks);
      if (boxes.length > 0) {
        const read = readRendered(textIn(boxes));
        const value = 'whole' in read ? read.whole : Object.fromEntries(read.shown);
        expect(JSON.stringify(value)).toBe(JSON.stringify(input));
        return;
      }
      const tables = nodesIn(card.blocks)
        .filter(({ type }) => type === 'rich_text_preformatted')
        .map((box) => canonicalJson(readTable(textIn(box))));
      for (const value of Object.values(input)) {
        const written = [JSON.stringify(value), ...(typeof value === 'string' ? [value] : [])];
        const isTable = tables.includes(canonicalJson(value));
        expect(isTable || written.some((text) => shown.includes(showText(text)))).toBe(true);
      }
    }),
    { numRuns: RUNS },
  );
});
