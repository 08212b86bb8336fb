import { toJson } from '../../../agent/json.ts';
import type { AskedCall } from '../../../engine/facets/facet.ts';
import type { InnerCall } from '../../../engine/inner-calls.ts';
import type { PresentedCall } from '../../../engine/presented.ts';
import { approverOf } from '../../../tools/gate.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import type { Presented } from '../../../tools/presentation/presentation.ts';
import type { ToolEntry } from '../../../tools/toolbox/toolbox.ts';
import type { WaitingAnswer } from '../../../tools/waiting-answer.ts';
import type { Directory } from '../../slack/directory.ts';
import { cardTexts } from '../../views/texts/cards.ts';

/** Puts a call into words, with the names of the people in it where Slack knows them. */
export async function presentCall(
  directory: Directory,
  { presentation }: ToolEntry,
  input: unknown,
): Promise<PresentedCall> {
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

/** Puts what people approve into words: a call, the part of it that waits, the question of its tool, or a plan. */
export async function presentAsked(directory: Directory, asked: AskedCall): Promise<PresentedCall> {
  const { inner, answer, approval, isWhole, interrupt } = asked;
  const { pause, part } = approval ?? {};
  if (part?.plan !== undefined) return part.plan.presented;
  const whole = await presentWhole(directory, asked);
  if (!isWhole) return presentPart(whole, inner, answer);
  return pause?.own === true && approverOf(interrupt) !== null ? presentQuestion(whole) : whole;
}

/** Puts a call into words; of one whose tool is gone only the name is known. */
export async function presentWhole(
  directory: Directory,
  { entry, input, interrupt }: AskedCall,
): Promise<PresentedCall> {
  const title = readableName(interrupt.toolRequest.name);
  if (entry === undefined) return { title, fields: [], hasTitle: false, isComplete: false };
  return presentCall(directory, entry, input);
}

/** Names the question of a tool in a call that is approved already, so that nobody takes it for another call. */
function presentQuestion({ done: _done, title, ...rest }: PresentedCall): PresentedCall {
  return { ...rest, title: cardTexts.confirmationIn(title) };
}

/** Puts the part of a call that waits into words; its arguments are shown, since nobody has written a title for it. */
function presentPart(
  { title, target }: PresentedCall,
  inner: readonly InnerCall[] = [],
  answer?: WaitingAnswer,
): PresentedCall {
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
