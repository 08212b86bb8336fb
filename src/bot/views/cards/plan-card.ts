import type { KnownBlock, RichTextElement, StaticSelect } from '@slack/types';
import type { PlannedSteps } from '../../../engine/planned-steps.ts';
import type { PlanStep, RequestRecord } from '../../../store/port/request-record.ts';
import { limits } from '../../slack/limits.ts';
import { cardTexts, STATE_ICON, UNDONE_ICON } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { HELD_STEP_ICON, planTexts, STEP_ICON } from '../texts/plans.ts';
import { escapeMarkup, showLabel } from '../texts/show-text.ts';
import {
  APPROVE_CHOSEN,
  CHOOSE_STEPS,
  DETAILS,
  EDIT_STEP,
  REJECT,
  UNDO_STEP,
  WITHDRAW,
} from './action-ids.ts';
import { actionsElsewhere, approveButton, pendingLines } from './approval-card.ts';
import { TITLE_LENGTH } from './call-body.ts';
import { button, type Card, type CardOptions, line, moreMenu, plain, threadLine } from './card.ts';
import type { CardDetails } from './card-details.ts';
import { buildSettled } from './outcome.ts';
import { coveredSteps, planTitle } from './plan-title.ts';

type ShownStep = PlannedSteps['steps'][number];

/** Builds the card of a plan: all of its steps while it waits, and how far each is afterwards. */
export function buildPlanCard(
  request: RequestRecord,
  details: CardDetails,
  plan: PlannedSteps,
  options: CardOptions,
): Card {
  const steps = request.steps ?? [];
  const isPending = request.state === 'pending';
  const covered = coveredSteps(plan, steps);
  const written =
    request.state === 'succeeded'
      ? planTexts.done(steps.filter((step) => isApproved(step) && isDone(step)).length)
      : planTitle(covered, TITLE_LENGTH);
  if (isPending)
    return {
      text: escapeMarkup(cardTexts.approvalNeeded(written)),
      blocks: [
        { type: 'header', text: plain(`${written}?`) },
        ...pendingLines({ request, details, options }, []),
        actions(request, details, plan.steps, options),
        ...threadLine(options),
      ],
    };
  const icon = request.state === 'superseded' ? STEP_ICON.superseded : STATE_ICON[request.state];
  const [head, ...rest] = buildSettled(request, { icon, title: written, end: endOf(request) }, options);
  return {
    text: escapeMarkup(`${written}: ${progressOf(request)}`),
    blocks: [
      ...(head === undefined ? [] : [head]),
      progressList(plan.steps, request, options),
      ...undoMenu(plan.steps, options),
      ...rest,
      ...threadLine(options),
    ],
  };
}

function isApproved({ alone, isChosen }: PlanStep): boolean {
  return isChosen && !alone;
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

/** Builds the list of steps with the state of each. */
function progressList(
  shown: readonly ShownStep[],
  { steps = [], state }: RequestRecord,
  { shown: { freeze, plan: undo } = {} }: CardOptions,
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
function undoMenu(shown: readonly ShownStep[], { shown: { plan: undo } = {} }: CardOptions): KnownBlock[] {
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

function actions(
  request: RequestRecord,
  details: CardDetails,
  shown: readonly ShownStep[],
  { view, hasButtons }: CardOptions,
): KnownBlock {
  const { id, steps = [], digest } = request;
  if (hasButtons === false) return actionsElsewhere(id);
  const isNarrowed = steps.some(({ isChosen }) => !isChosen);
  const approve = approveButton(request, details);
  return {
    type: 'actions',
    block_id: id,
    elements: [
      {
        ...approve,
        // Who saw another list does not approve this one.
        ...(isNarrowed && { action_id: `${APPROVE_CHOSEN}:${digest.slice(0, SHOWN_DIGEST)}` }),
        text: plain(planTexts.approveChosen(steps.filter(isApproved).length)),
      },
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
