import type { PlannedSteps } from '../../../engine/planned-steps.ts';
import type { PlanStep } from '../../../store/port/request-record.ts';
import { readableName } from '../../../tools/presentation/formats.ts';
import { plural } from '../texts/format.ts';
import { planTexts } from '../texts/plans.ts';
import { showLine } from '../texts/show-text.ts';

type ShownStep = PlannedSteps['steps'][number];

/** Lists the steps that the approval of a plan covers: those that were chosen and are not asked by themselves. */
export function coveredSteps(
  { steps: shown }: Pick<PlannedSteps, 'steps'>,
  steps: readonly PlanStep[] = [],
): readonly ShownStep[] {
  return shown.filter(({ number, alone }) => !alone && steps[number - 1]?.isChosen !== false);
}

/** Says what a plan does, made from its steps: several calls of one tool are counted, any other has its title. */
export function planTitle(covered: readonly ShownStep[], length: number): string {
  const groups = [...new Set(covered.map(({ tool }) => tool))].map((tool) =>
    covered.filter((step) => step.tool === tool),
  );
  const shown = groups.map(groupTitle).map((part, index) => (index === 0 ? part : lowered(part)));
  for (let kept = shown.length; kept > 0; kept -= 1) {
    const left = groups.slice(kept).flat().length;
    const named = [...shown.slice(0, kept), ...(left === 0 ? [] : [planTexts.moreSteps(left)])];
    const title = planTexts.listed(named);
    if (title.length <= length) return title;
  }
  return planTexts.title(covered.length);
}

function groupTitle(group: readonly ShownStep[]): string {
  const [first] = group;
  if (first === undefined) return '';
  if (group.length === 1) return showLine(first.presented.title);
  const name = readableName(first.tool);
  const [verb = '', ...noun] = name.split(' ');
  return areDifferent(group, noun.join(' '))
    ? `${verb} ${plural(group.length, noun.join(' '))}`
    : planTexts.times(name, group.length);
}

/** Tells whether each step is about another one of what the tool's name says, so that they can be counted. */
function areDifferent(group: readonly ShownStep[], noun: string): boolean {
  // "Branch", "boss", "box" and "query" have other plurals.
  if (!/^[a-z ]*[a-gi-rt-wz]$/.test(noun)) return false;
  const named = group.map(
    ({ presented: { fields } }) => fields.find(({ label }) => label.toLowerCase() === noun)?.text,
  );
  const values = named.includes(undefined) ? group.map(({ presented }) => presented.target) : named;
  return !values.includes(undefined) && new Set(values).size === group.length;
}

function lowered(title: string): string {
  return title.replace(/^[A-Z](?=[a-z]* )/, (letter) => letter.toLowerCase());
}
