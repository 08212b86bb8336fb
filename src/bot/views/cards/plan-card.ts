import type { KnownBlock, RichTextElement, StaticSelect } from '@slack/types';
import type { PlannedSteps } from '../../../engine/request-details.ts';
import { limitSizeInWords } from '../../../policy/limits.ts';
import { REVERSIBLE } from '../../../policy/reversible.ts';
import { ALONE, type PlanStep, type RequestRecord } from '../../../store/port/store.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts, STATE_ICON, UNDONE_ICON } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { HELD_STEP_ICON, planTexts, STEP_ICON } from '../texts/plans.ts';
import { escapeMarkup, showLabel, showLine } from '../texts/show-text.ts';
import {
  APPROVE_CHOSEN,
  CHOOSE_STEPS,
  DETAILS,
  EDIT_STEP,
  REJECT,
  UNDO_STEP,
  WITHDRAW,
} from './action-ids.ts';
import {
  actionsElsewhere,
  answerLines,
  approvalLines,
  approveButton,
  askedForLine,
  callerLink,
  contextLine,
  decidedLine,
  firstLine,
  freezeLine,
  identityLine,
  isWholePreview,
  passkeyLine,
  previewBlocks,
  quietLine,
  reviewLine,
  sinceLine,
  whyApproval,
} from './approval-card.ts';
import { buildCallBody, fitsLine, TITLE_LENGTH } from './call-body.ts';
import {
  button,
  type Card,
  type CardOptions,
  callersIn,
  context,
  line,
  moreMenu,
  type Pair,
  pairRows,
  plain,
  preformatted,
  quoted,
  threadLine,
} from './card.ts';
import type { CardDetails } from './card-details.ts';
import { buildSettled } from './outcome.ts';

type ShownStep = PlannedSteps['steps'][number];

/** Builds the card of a plan: all of its steps while it waits, and how far each is afterwards. */
export function buildPlanCard(
  request: RequestRecord,
  details: CardDetails & { readonly plan: PlannedSteps },
  options: CardOptions,
): Card {
  const steps = request.steps ?? [];
  const isPending = request.state === 'pending';
  const chosen = steps.filter(isApproved);
  const written =
    request.state === 'succeeded'
      ? planTexts.done(chosen.filter(isDone).length)
      : planTexts.title(chosen.length);
  if (isPending)
    return {
      text: escapeMarkup(cardTexts.approvalNeeded(written)),
      blocks: [
        { type: 'header', text: plain(`${written}?`) },
        contextLine(request, details, options),
        ...reviewLine(options),
        ...sinceLine(options),
        ...askedForLine(options),
        ...passkeyLine(request),
        ...freezeLine(options),
        ...quietLine(options),
        ...goalLines(request, details),
        ...beforeLines(details.plan),
        ...stepBlocks(details.plan.steps, steps).blocks,
        ...limitLine(details.plan),
        ...pairRows([{ label: cardTexts.whyApproval, value: whyApproval(details) }]),
        context(words(planTexts.rules)),
        ...approvalLines(request, { ...details, ...undoOf(details.plan) }),
        ...decidedLine(options),
        actions(request, details, details.plan.steps, options),
        ...threadLine(options),
      ],
    };
  const icon = request.state === 'superseded' ? STEP_ICON.superseded : STATE_ICON[request.state];
  const [head, ...rest] = buildSettled(request, { icon, title: written, end: endOf(request) }, options);
  return {
    text: escapeMarkup(`${written}: ${progressOf(request)}`),
    blocks: [
      ...(head === undefined ? [] : [head]),
      progressList(details.plan.steps, request, options),
      ...undoMenu(details.plan.steps, options),
      ...rest,
      ...threadLine(options),
    ],
  };
}

/** Quotes what the plan is for, and links to the job of a caller. */
function goalLines(
  request: RequestRecord,
  details: CardDetails & { readonly plan: PlannedSteps },
): KnownBlock[] {
  const [caller] = callersIn(request.requesters);
  const label = caller === undefined ? planTexts.goal : planTexts.callerGoal(caller);
  return [
    quoted(label, details.plan.goal, { characters: limits.quoteCharacters, lines: 3 }),
    ...callerLink(request, details),
  ];
}

/** Says how many steps fit a limit, where not all do. */
function limitLine({ fits, steps }: PlannedSteps): KnownBlock[] {
  if (fits === undefined) return [];
  const covered = steps.filter(({ alone }) => !alone).length;
  const limit = limitSizeInWords({ ...fits.limit, sum: fits.limit.sum });
  return [line(words(planTexts.fits(fits.steps, covered, limit), { bold: true }))];
}

/** Tells whether a card has room for all of a plan, so that nobody approves what they cannot see. */
export function isWholePlan(plan: Omit<PlannedSteps, 'shown'>): boolean {
  const { blocks, isWhole } = stepBlocks(plan.steps, []);
  const all = [...beforeLines(plan), ...blocks];
  return isWhole && all.length <= PLAN_BLOCKS && JSON.stringify(all).length <= PLAN_CHARACTERS;
}

/** The part of Slack's room for a message that the rest of the card leaves. */
const PLAN_BLOCKS = limits.messageBlocks - 19;
const PLAN_CHARACTERS = limits.messageBlockCharacters - 5_500;

/** Tells whether a plan can be taken back, and for how long: the worst of the steps that it covers counts. */
function undoOf({ steps }: PlannedSteps): Pick<CardDetails, 'undoMs' | 'reversible'> {
  const covered = steps.filter(({ alone }) => !alone);
  const reversible = REVERSIBLE.findLast((each) =>
    covered.some((step) => (step.reversible ?? 'no') === each),
  );
  const times = covered.flatMap((step) => (step.reversible === 'undo' ? (step.undoMs ?? []) : []));
  return { reversible, undoMs: times.length === 0 ? undefined : Math.min(...times) };
}

function isApproved({ digest, isChosen }: PlanStep): boolean {
  return isChosen && digest !== ALONE;
}

function isDone({ state }: PlanStep): boolean {
  return state === 'succeeded' || state === 'ran';
}

function progressOf({ steps = [] }: RequestRecord): string {
  const meant = steps.filter(({ isChosen }) => isChosen);
  return planTexts.progress(meant.filter(isDone).length, meant.length);
}

/** Says how far a plan is, or where it stopped; nothing for an end that every request has. */
function endOf({ state, steps = [] }: RequestRecord): RichTextElement[] | undefined {
  const meant = steps.filter(({ isChosen }) => isChosen);
  const done = meant.filter(isDone).length;
  if (state === 'approved' || state === 'succeeded') return [words(planTexts.progress(done, meant.length))];
  if (state === 'superseded') return [words(planTexts.held(done, meant.length))];
  return undefined;
}

/** Lists the steps of a plan that stopped before this one. */
function beforeLines({ before = [] }: Pick<PlannedSteps, 'before'>): KnownBlock[] {
  if (before.length === 0) return [];
  const lines = before.flatMap(({ title, outcome }) => [
    words(
      `\n${outcome === 'ok' ? STATE_ICON.succeeded : STATE_ICON.failed} ${showLabel(title, limits.label)}`,
    ),
  ]);
  return [line(words(planTexts.before, { bold: true }), ...lines)];
}

/** Builds the list of steps with the state of each. */
function progressList(
  shown: readonly ShownStep[],
  { steps = [], state }: RequestRecord,
  { freeze, undo }: CardOptions,
): KnownBlock {
  const rows = shown.map(({ id, number, presented, alone }, index) => {
    const step = steps[index];
    const isOver = state !== 'approved' && state !== 'succeeded';
    const how = step?.state ?? 'pending';
    const isHeld = how === 'approved' && freeze !== undefined;
    const icon = undo?.undone.includes(id)
      ? UNDONE_ICON
      : isHeld
        ? HELD_STEP_ICON
        : step?.isChosen === false
          ? STEP_ICON.skipped
          : how === 'pending' && isOver
            ? STEP_ICON.superseded
            : STEP_ICON[how];
    const done = step !== undefined && isDone(step) ? presented.done : undefined;
    const text = showLabel(done ?? presented.title, limits.label);
    const note = alone && how === 'pending' ? [words(planTexts.asked)] : [];
    return [words(`${index === 0 ? '' : '\n'}${icon} ${number}. ${text}`), ...note];
  });
  return line(...rows.flat());
}

/** Builds the menu of the steps that can be undone; each is undone by a request of its own. */
function undoMenu(shown: readonly ShownStep[], { undo }: CardOptions): KnownBlock[] {
  const offered = shown.filter(({ id }) => undo?.offered.includes(id));
  return offered.length === 0
    ? []
    : [{ type: 'actions', elements: [stepMenu(UNDO_STEP, planTexts.undoStep, offered)] }];
}

function stepMenu(actionId: string, label: string, steps: readonly ShownStep[]): StaticSelect {
  return {
    type: 'static_select',
    action_id: actionId,
    placeholder: plain(label),
    options: steps.map(({ id, number, presented }) => ({
      text: plain(showLabel(`${number}. ${presented.title}`, limits.optionText)),
      value: id,
    })),
  };
}

/** The steps of a pending plan, and whether each can be read whole. */
interface StepBlocks {
  readonly blocks: readonly KnownBlock[];
  readonly isWhole: boolean;
}

/** Shows the steps in order; a run of steps that differ in few values is a table. */
function stepBlocks(shown: readonly ShownStep[], steps: readonly PlanStep[]): StepBlocks {
  const left = steps.filter(({ isChosen }) => !isChosen).map(({ number }) => number);
  const parts = runsOf(shown).map((run) => tableOf(run) ?? listOf(run, left));
  return {
    blocks: [
      ...parts.flatMap(({ blocks }) => blocks),
      ...(left.length === 0 ? [] : [line(words(`${planTexts.notChosen}${left.join(', ')}`, { bold: true }))]),
    ],
    isWhole: parts.every(({ isWhole }) => isWhole),
  };
}

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
    ...buildCallBody({ ...step, originalInput: undefined }),
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
      ...(alone ? [] : [...(common === undefined ? notesOf(step) : []), ...blocks]),
      ...(alone ? [] : previewBlocks({ presented })),
    ];
  });
  return {
    blocks: [...steps, ...ofAll(run, common ?? [])],
    isWhole: bodies.every(({ step, isWhole }) => step.alone || (isWhole && isWholePreview(step))),
  };
}

/** Says in whose name a step runs, whether answers in it are approved, and what is a first time. */
function notesOf(step: ShownStep): KnownBlock[] {
  return [
    ...identityLine({ runsAs: step.runsAs }),
    ...answerLines({ answer: undefined, answers: step.answers }),
    ...firstLine(step),
  ];
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
    ({ presented: { fields, isComplete, preview, changes, title } }) =>
      isComplete &&
      preview === undefined &&
      changes === undefined &&
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

function actions(
  request: RequestRecord,
  details: CardDetails,
  shown: readonly ShownStep[],
  { view, hasButtons }: CardOptions,
): KnownBlock {
  const { id, steps = [], digest } = request;
  if (hasButtons === false) return actionsElsewhere(id);
  const isNarrowed = steps.some(({ isChosen }) => !isChosen);
  const approve = approveButton(id, details);
  return {
    type: 'actions',
    block_id: id,
    elements: [
      isNarrowed
        ? {
            ...approve,
            // Who saw another list does not approve this one.
            action_id: `${APPROVE_CHOSEN}:${digest.slice(0, SHOWN_DIGEST)}`,
            text: plain(planTexts.approveChosen(steps.filter(isApproved).length)),
          }
        : { ...approve, text: plain(planTexts.approveAll) },
      button(id, CHOOSE_STEPS, planTexts.choose),
      button(id, REJECT, cardTexts.reject),
      stepMenu(
        EDIT_STEP,
        planTexts.editStep,
        shown.filter(({ alone }) => !alone),
      ),
      ...moreMenu([
        [DETAILS, cardTexts.details],
        ...(view === 'thread' ? ([[WITHDRAW, cardTexts.withdraw]] as const) : []),
      ]),
    ],
  };
}

/** The length of the digest that a button names. */
const SHOWN_DIGEST = 16;
