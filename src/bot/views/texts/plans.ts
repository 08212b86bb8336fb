import type { StepState } from '../../../store/port/request-record.ts';
import { HELD_ICON, STATE_ICON } from './cards.ts';
import { plural } from './format.ts';

/** The icon of each state of a step. */
export const STEP_ICON: Readonly<Record<StepState, string>> = {
  ...STATE_ICON,
  pending: '⬜',
  superseded: '⏸️',
  resolved: STATE_ICON.succeeded,
  ran: STATE_ICON.succeeded,
  'did-not-run': STATE_ICON.rejected,
  skipped: '➖',
};
export const HELD_STEP_ICON = HELD_ICON;

/** Every sentence about plans. */
export const planTexts = {
  title: (steps: number) => `Run ${plural(steps, 'step')} as planned`,
  moreSteps: (steps: number) => plural(steps, 'more step'),
  times: (act: string, count: number) => `${act} ${count} times`,
  listed: (parts: readonly string[]) =>
    parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`,
  /** Says how many steps the approval covers, and which are asked by themselves. */
  covers: (covered: number, all: number, alone: readonly number[], left: readonly number[]) =>
    [
      covered === all ? plural(covered, 'planned step') : `${covered} of ${plural(all, 'planned step')}`,
      ...(alone.length === 0
        ? []
        : [
            `step${alone.length === 1 ? '' : 's'} ${planTexts.listed(alone.map(String))} ${alone.length === 1 ? 'has its own card' : 'have their own cards'}`,
          ]),
      ...(left.length === 0 ? [] : [`not chosen: ${left.join(', ')}`]),
    ].join('; '),
  ownCard: 'own card',
  leftOut: 'not chosen',
  canBeUndone: 'can be undone',
  what: 'What',
  note: 'Note',
  done: (steps: number) => `Ran ${plural(steps, 'step')} as planned`,
  goal: "Agent's goal (unverified)",
  callerGoal: (caller: string) => `Goal of ${caller} (unverified)`,
  approveChosen: (steps: number) => `Approve ${plural(steps, 'step')}`,
  choose: 'Choose…',
  chooseTitle: 'Choose steps',
  chooseIntro: 'Only the steps that you choose run, in this order. Others who have approved are asked again.',
  chooseLabel: 'Steps to approve',
  chooseMore: 'More steps',
  chooseSubmit: 'Approve chosen steps',
  chooseFirst: 'Choose at least one step, or reject the plan.',
  narrowed: 'The steps of this plan have changed since you looked. Please look again.',
  editStep: 'Edit a step…',
  undoStep: 'Undo a step…',
  notOpen: 'This plan is not waiting for approval any more.',
  asked: ' · needs its own approval first',
  both: (first: number, last: number) => `Steps ${first} to ${last}:`,
  rules: 'Each step starts after the one before it. The first that does not run stops the rest.',
  fits: (fitting: number, steps: number, limit: string) =>
    `Only ${fitting} of ${plural(steps, 'step')} fit the limit of ${limit}. The plan stops there.`,
  before: 'Before this:',
  number: 'Step',
  open: '…',
  progress: (done: number, steps: number) => `${done} of ${plural(steps, 'step')} done`,
  held: (done: number, steps: number) =>
    `Stopped after ${done} of ${plural(steps, 'step')}. What is left needs a new approval.`,

  broken: 'Not every step of the plan could be asked for. Call the tools one by one instead.',
  paused:
    'A step before these has begun and waits for people. They did not run. Propose them again after it.',
  problem: (number: number, problem: string) => `Step ${number}: ${problem}`,
  tooLong: 'The plan does not fit on one card. Propose fewer steps, or call the tools one by one.',
  oneAtATime: 'Propose one plan at a time.',
  singly: 'What is left of the plan is asked by itself.',
};
