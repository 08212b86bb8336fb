import { toJson } from '../../../agent/json.ts';
import type { Details, InnerCall } from '../../../engine/request-details.ts';
import type { Answer } from '../../../tools/mcp/server-pause.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import type { Presented } from '../../../tools/presentation/presentation.ts';
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
