import type { KnownBlock, TableBlock } from '@slack/types';
import { readFacets } from '../../../engine/facets/facets.ts';
import type { PlannedSteps } from '../../../engine/planned-steps.ts';
import type { PlanStep, RequestRecord } from '../../../store/port/request-record.ts';
import { TABLE } from '../../../tools/presentation/table.ts';
import { limits } from '../../slack/limits.ts';
import { buildCallBody, fitsLine, TITLE_LENGTH } from '../cards/call-body.ts';
import { line, type Pair, pairRows, preformatted } from '../cards/card.ts';
import { coveredSteps } from '../cards/plan-title.ts';
import { STATE_ICON } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { planTexts } from '../texts/plans.ts';
import { showLabel, showLine } from '../texts/show-text.ts';
import { isWholeStep, stepLines } from './step-lines.ts';

type ShownStep = PlannedSteps['steps'][number];

/** Tells whether a card has room for all of a plan, so that nobody approves what they cannot see. */
export function isWholePlan(plan: PlannedSteps): boolean {
  const { blocks, isWhole } = stepBlocks(plan.steps, []);
  const all = [...beforeLines(plan), ...blocks];
  return isWhole && all.length <= PLAN_BLOCKS && JSON.stringify(all).length <= PLAN_CHARACTERS;
}

/** The part of Slack's room for a message that the rest of the card leaves. */
const PLAN_BLOCKS = limits.messageBlocks - 19;
const PLAN_CHARACTERS = limits.messageBlockCharacters - 5_500;

/** Says how many steps of a plan the approval covers. */
export function coverText(plan: PlannedSteps, { steps = [] }: Pick<RequestRecord, 'steps'>): string {
  const own = plan.steps.filter(({ alone }) => alone).map(({ number }) => number);
  const left = steps.filter(({ isChosen }) => !isChosen).map(({ number }) => number);
  return planTexts.covers(coveredSteps(plan, steps).length, plan.steps.length, own, left);
}

/** Lists the steps of a plan that stopped before this one. */
export function beforeLines({ before = [] }: Pick<PlannedSteps, 'before'>): KnownBlock[] {
  if (before.length === 0) return [];
  const lines = before.flatMap(({ title, outcome }) => [
    words(
      `\n${outcome === 'ok' ? STATE_ICON.succeeded : STATE_ICON.failed} ${showLabel(title, limits.label)}`,
    ),
  ]);
  return [line(words(planTexts.before, { bold: true }), ...lines)];
}

/** The steps of a pending plan, and whether each can be read whole. */
interface StepBlocks {
  readonly blocks: readonly KnownBlock[];
  readonly isWhole: boolean;
}

/** Shows the steps in order: as one table if each is told in a row, or each by itself; then steps that differ in few values are together. */
export function stepBlocks(shown: readonly ShownStep[], steps: readonly PlanStep[]): StepBlocks {
  const left = steps.filter(({ isChosen }) => !isChosen).map(({ number }) => number);
  const table = planTable(shown, left);
  if (table !== undefined) return table;
  const parts = runsOf(shown).map((run) => tableOf(run) ?? listOf(run, left));
  return {
    blocks: parts.flatMap(({ blocks }) => blocks),
    isWhole: parts.every(({ isWhole }) => isWhole),
  };
}

/** Builds one table of all steps, if a row tells each; `undefined` if one has more to read. */
function planTable(shown: readonly ShownStep[], left: readonly number[]): StepBlocks | undefined {
  const notes = commonNotes(shown);
  if (notes === undefined || !shown.every(isRow)) return undefined;
  // What is so of all steps the card says once, below.
  const isAlike = new Set(shown.filter(({ alone }) => !alone).map(isReversible)).size < 2;
  const rows = shown.map((step): TableBlock['rows'][number] => {
    const { number, presented, alone } = step;
    const fields = alone ? [] : presented.fields.filter(({ isInTitle }) => isInTitle !== true);
    const facts = [
      ...fields.map(({ label, text }) => `${showLine(label)}: ${text === '' ? '""' : text}`),
      ...(alone ? [planTexts.ownCard] : []),
      ...(left.includes(number) ? [planTexts.leftOut] : []),
      ...(!alone && !isAlike && isReversible(step) ? [planTexts.canBeUndone] : []),
    ];
    return [`${number}`, presented.title, facts.join(' · ') || ' '].map((text) => ({
      type: 'raw_text',
      text,
    }));
  });
  const head = [planTexts.number, planTexts.what, planTexts.note].map((text) => ({
    type: 'raw_text' as const,
    text,
  }));
  const wrapped = { is_wrapped: true };
  return {
    blocks: [{ type: 'table', rows: [head, ...rows], column_settings: [{}, wrapped, wrapped] }, ...notes],
    isWhole: true,
  };
}

function isReversible(step: ShownStep): boolean {
  return (readFacets(step).undo?.reversible ?? 'no') !== 'no';
}

/** Tells whether a row of a table tells a step whole. */
function isRow(step: ShownStep): boolean {
  const { presented, alone, facets } = step;
  if (!fitsLine(presented.title, ROW_CHARACTERS)) return false;
  if (alone) return true;
  return (
    presented.isComplete &&
    facets.preview === undefined &&
    facets.edit === undefined &&
    presented.fields.length <= ROW_FIELDS &&
    presented.fields.every(
      ({ text, format }) =>
        !UNFIT.includes(format ?? '') && text.length <= CELL_CHARACTERS && showLine(text) === text,
    )
  );
}

/** What a row has room for, and the formats that it has none for. */
const ROW_CHARACTERS = 120;
const ROW_FIELDS = 4;
const UNFIT: readonly string[] = ['channel', 'code', TABLE];

/** Splits the steps into runs of the same tool. */
function runsOf(steps: readonly ShownStep[]): ShownStep[][] {
  const runs: ShownStep[][] = [];
  for (const step of steps) {
    const last = runs.at(-1);
    const isSame = last?.[0] !== undefined && last[0].tool === step.tool && last[0].alone === step.alone;
    if (last !== undefined && isSame && !step.alone) last.push(step);
    else runs.push([step]);
  }
  return runs;
}

function listOf(run: readonly ShownStep[], left: readonly number[]): StepBlocks {
  const bodies = run.map((step) => ({
    step,
    ...buildCallBody({ ...step, originalInput: undefined, facets: {} }),
  }));
  const common = commonNotes(run);
  const steps = bodies.flatMap(({ step, blocks }) => {
    const { number, presented, alone } = step;
    return [
      line(
        words(`${number}. `, { bold: true }),
        words(
          showLabel(presented.title, TITLE_LENGTH),
          left.includes(number) ? { strike: true } : { bold: true },
        ),
        ...(alone ? [words(planTexts.asked)] : []),
      ),
      ...(alone
        ? []
        : [...(common === undefined ? notesOf(step) : []), ...blocks, ...stepLines(step, 'change')]),
    ];
  });
  return {
    blocks: [...steps, ...ofAll(run, common ?? [])],
    isWhole: bodies.every(({ step, isWhole }) => step.alone || (isWhole && isWholeStep(step))),
  };
}

/** Says what is to know beside a step. */
function notesOf(step: ShownStep): KnownBlock[] {
  return stepLines(step, 'notes');
}

/** Heads what is said once for several steps with their numbers. */
function ofAll(run: readonly ShownStep[], notes: readonly KnownBlock[]): readonly KnownBlock[] {
  const [first, last] = [run.at(0), run.at(-1)];
  if (notes.length === 0 || first === undefined || last === undefined || first === last) return notes;
  return [line(words(planTexts.both(first.number, last.number), { bold: true })), ...notes];
}

/** Returns the notes that all steps of a run have, to say them once below; `undefined` if they differ. */
function commonNotes(run: readonly ShownStep[]): readonly KnownBlock[] | undefined {
  const [first = [], ...others] = run.map((step) => (step.alone ? [] : notesOf(step)));
  return others.every((notes) => JSON.stringify(notes) === JSON.stringify(first)) ? first : undefined;
}

const TABLE_ROWS = 3;
const CELL_CHARACTERS = 40;

/** Shows steps that differ in few values as a table of these, below what they have in common; `undefined` if they do not fit one. */
function tableOf(run: readonly ShownStep[]): StepBlocks | undefined {
  const [first] = run;
  if (first === undefined || run.length < TABLE_ROWS || first.alone) return undefined;
  const labels = first.presented.fields.map(({ label }) => label);
  const isAlike = run.every(
    ({ presented: { fields, isComplete, title }, facets: { preview, edit } }) =>
      isComplete &&
      preview === undefined &&
      edit === undefined &&
      fitsLine(title, TITLE_LENGTH) &&
      fields.length === labels.length &&
      fields.every(
        ({ label, text, format }, index) =>
          label === labels[index] &&
          format !== 'channel' &&
          text.length <= CELL_CHARACTERS &&
          showLine(text) === text,
      ),
  );
  const titles = isAlike ? commonTitle(run.map(({ presented }) => presented.title)) : undefined;
  const notes = commonNotes(run);
  if (titles === undefined || notes === undefined) return undefined;
  const columns = labels.map((label, index) => ({
    label: showLabel(label, CELL_CHARACTERS),
    values: run.map(({ presented }) => presented.fields[index]?.text ?? ''),
  }));
  const differing = columns.filter(({ values }) => new Set(values).size > 1);
  const isInFields = differing.some(({ values }) => values.every((value, at) => value === titles.values[at]));
  const shown = [
    { label: planTexts.number, values: run.map(({ number }) => `${number}`) },
    ...(titles.values.length === 0 || isInFields ? [] : [{ label: planTexts.open, values: titles.values }]),
    ...differing,
  ];
  const constant: Pair[] = columns
    .filter((column) => !differing.includes(column))
    .map(({ label, values }) => ({ label, value: values[0] ?? '' }));
  return {
    blocks: [
      line(
        words(`${run.length} × `, { bold: true }),
        words(showLabel(titles.title, TITLE_LENGTH), { bold: true }),
      ),
      preformatted(tableText(shown)),
      ...pairRows(constant),
      ...notes,
    ],
    isWhole: true,
  };
}

/** Finds the words that titles have in common, and the one word in which they differ; `undefined` if they differ in more. */
function commonTitle(
  titles: readonly string[],
): { readonly title: string; readonly values: readonly string[] } | undefined {
  const split = titles.map((title) => title.split(' '));
  const [first = []] = split;
  if (split.some(({ length }) => length !== first.length)) return undefined;
  const differing = first.flatMap((word, at) => (split.every((each) => each[at] === word) ? [] : [at]));
  const [only] = differing;
  if (only === undefined) return { title: first.join(' '), values: [] };
  if (differing.length > 1) return undefined;
  return {
    title: first.with(only, planTexts.open).join(' '),
    values: split.map((each) => each[only] ?? ''),
  };
}

interface Column {
  readonly label: string;
  readonly values: readonly string[];
}

function tableText(columns: readonly Column[]): string {
  const cells = columns.map(({ label, values }) => [
    label,
    ...values.map((value) => (value === '' ? '""' : value)),
  ]);
  const widths = cells.map((column) => Math.max(...column.map(({ length }) => length)));
  const rows = cells[0]?.map((_, row) =>
    cells
      .map((column, at) => (column[row] ?? '').padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return (rows ?? []).join('\n');
}
