import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../../agent/json.ts';
import type { Details, InnerCall } from '../../../engine/request-details.ts';
import type { InputWords } from '../../../policy/condition.ts';
import type { Answer } from '../../../tools/mcp/server-pause.ts';
import { applyFormat, readableName } from '../../../tools/presentation/formats.ts';
import type { Presentation, Presented } from '../../../tools/presentation/presentation.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { Directory } from '../../slack/directory.ts';
import { cardTexts } from '../../views/texts/cards.ts';

/** Puts a call into words, with the names of the people in it where Slack knows them. */
export async function presentCall(
  directory: Directory,
  { presentation }: ToolEntry,
  input: unknown,
): Promise<NonNullable<Details['presented']>> {
  const relaxed = directory.relaxed();
  const people = [...new Set(presentation.peopleIn(input))];
  const names = await Promise.all(
    people.map((id) =>
      relaxed.member(id).then(
        ({ name }) => [[id, name] as const],
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

/** Lists the arguments that differ between two inputs, each as the card writes it. */
export function changesOf(
  presentation: Presentation,
  before: JsonValue,
  after: JsonValue,
): NonNullable<NonNullable<Details['presented']>['changes']> {
  if (!isJsonObject(before) || !isJsonObject(after)) return [];
  const { label, write } = inputWords(presentation);
  const told = (input: JsonObject, name: string): string => {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined) return cardTexts.none;
    return write([name], value) ?? (typeof value === 'string' ? value : JSON.stringify(value));
  };
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
    .map((name) => ({
      label: label([name]) ?? name,
      before: told(before, name),
      after: told(after, name),
    }));
}

/** Puts the part of a call that waits into words; its arguments are shown, since nobody has written a title for it. */
export function presentPart(
  { title, target }: NonNullable<Details['presented']>,
  inner: readonly InnerCall[] = [],
  answer?: Answer,
): NonNullable<Details['presented']> {
  const shown = { fields: [], hasTitle: true, isComplete: false };
  if (answer !== undefined)
    return {
      title: cardTexts.answerTo(answer.pause.server, title),
      ...(target !== undefined && { target }),
      ...shown,
    };
  const names = inner.map(({ tool }) => readableName(tool)).join(', ');
  return { title: cardTexts.inside(names, title), ...shown };
}
