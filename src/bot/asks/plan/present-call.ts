import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../../agent/json.ts';
import type { Details, InnerCall } from '../../../engine/request-details.ts';
import { conditionInWords, type InputWords } from '../../../policy/condition.ts';
import type { FirstFacts, FirstTimes } from '../../../policy/first-times.ts';
import { applyFormat, readableName } from '../../../tools/presentation/formats.ts';
import type { Presentation, Presented } from '../../../tools/presentation/presentation.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { WaitingAnswer } from '../../../tools/waiting-answer.ts';
import type { Directory } from '../../slack/directory.ts';
import { cardTexts } from '../../views/texts/cards.ts';
import { grantTexts } from '../../views/texts/grants.ts';

/** Puts a call into words, with the names of the people in it where Slack knows them. */
export async function presentCall(
  directory: Directory,
  { presentation }: ToolEntry,
  input: unknown,
): Promise<Details['presented']> {
  const relaxed = directory.relaxed();
  const people = [...new Set(presentation.peopleIn(input))];
  const names = await Promise.all(
    people.map((id) =>
      relaxed.nameOf(id).then(
        (name) => (name === undefined ? [] : [[id, name] as const]),
        () => [],
      ),
    ),
  );
  const { fields, ...presented }: Presented = presentation.present(toJson(input), new Map(names.flat()));
  return { ...presented, fields: [...fields] };
}

/** Returns the words that the card of a tool has for its inputs. */
export function inputWords({ labelOf, formatOf }: Presentation): InputWords {
  return {
    label: labelOf,
    write(path, value) {
      const format = formatOf(path);
      return format && applyFormat(value, format)?.text;
    },
  };
}

const MAX_OPEN = 3;
const NAMED_INPUT = /\binput\.([A-Za-z_]\w*)/g;

/** Says which calls a condition covers: the inputs that it leaves open, and the condition in the words of the card. */
export function coverageOf(presentation: Presentation, when: string, input: JsonValue): string {
  const words = inputWords(presentation);
  const named = new Set([...when.matchAll(NAMED_INPUT)].map(([, name]) => name));
  // Which inputs a condition is about can only be told if it names each of them.
  const isClear = !/\binput\b/.test(when.replaceAll(NAMED_INPUT, '')) && isJsonObject(input);
  const open = isClear ? Object.keys(input).filter((name) => !named.has(name)) : [];
  const labels = open.map((name) => grantTexts.any(inSentence(words.label([name]) ?? name)));
  // A name that is no plain word may be anybody's sentence.
  const isShort = labels.length <= MAX_OPEN && open.every((name) => /^[A-Za-z]\w{0,40}$/.test(name));
  const left = isShort ? labels : [grantTexts.anyOther];
  return [...left, inSentence(conditionInWords(when, words))].join(', ');
}

/** Writes the first letter small, unless it begins an abbreviation. */
function inSentence(text: string): string {
  return /^\p{Lu}\p{Ll}/u.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Lists the arguments that differ between two inputs, each as the card writes it. */
export function changesOf(
  presentation: Presentation,
  before: JsonValue,
  after: JsonValue,
): NonNullable<Details['presented']['changes']> {
  if (!isJsonObject(before) || !isJsonObject(after)) return [];
  const { label, write } = inputWords(presentation);
  const valueIn = (input: JsonObject, name: string) => (Object.hasOwn(input, name) ? input[name] : undefined);
  const told = (name: string, value: JsonValue | undefined): string => {
    if (value === undefined) return cardTexts.none;
    return write([name], value) ?? (typeof value === 'string' ? value : JSON.stringify(value));
  };
  /** Values that read the same, such as a number and its digits, are told apart by their quotes. */
  const sides = (name: string) => {
    const values = [valueIn(before, name), valueIn(after, name)];
    const [first = '', second = ''] = values.map((value) => told(name, value));
    if (first !== second) return { before: first, after: second };
    const [left = cardTexts.none, right = cardTexts.none] = values.map((value) =>
      value === undefined ? undefined : JSON.stringify(value),
    );
    return { before: left, after: right };
  };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({ label: label([name]) ?? name, ...sides(name) }));
}

/** Returns what a card says about first times; `undefined` if this is none. */
export function firstInWords(
  { presentation: { act }, firstDays = 0 }: ToolEntry,
  facts: FirstFacts | undefined,
  requesters: readonly string[],
): Details['presented']['first'] {
  const isFirst = (what: keyof FirstTimes) =>
    requesters.filter((person) => facts !== undefined && facts[person]?.[what] === true);
  const [tool, target, pair] = [isFirst('tool'), isFirst('target'), isFirst('pair')];
  if (pair.length + tool.length + target.length === 0) return undefined;
  const of = act.target === undefined ? undefined : inSentence(act.target);
  return {
    ...{ act: inSentence(act.verb), days: firstDays },
    ...(of !== undefined && { of }),
    ...(target.length > 0 && { isTarget: true as const }),
    ...{ byTool: tool, byPair: target.length > 0 ? [] : pair },
  };
}

/** Names the question of a tool in a call that is approved already, so that nobody takes it for another call. */
export function presentQuestion({ done: _done, title, ...rest }: Details['presented']): Details['presented'] {
  return { ...rest, title: cardTexts.confirmationIn(title) };
}

/** Puts the part of a call that waits into words; its arguments are shown, since nobody has written a title for it. */
export function presentPart(
  { title, target }: Details['presented'],
  inner: readonly InnerCall[] = [],
  answer?: WaitingAnswer,
): Details['presented'] {
  const shown = { fields: [], hasTitle: true, isComplete: false };
  if (answer !== undefined)
    return {
      title:
        answer.server === undefined ? cardTexts.answerIn(title) : cardTexts.answerTo(answer.server, title),
      ...(target !== undefined && { target }),
      ...shown,
    };
  const names = inner.map(({ tool }) => readableName(tool)).join(', ');
  return { title: cardTexts.inside(names, title), ...shown };
}
