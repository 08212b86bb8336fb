import type { UndoNote, UndoStep } from '../../../src/store/port/request-record.ts';
import { settled, UNKNOWN, type Verbs, type World } from './world.ts';

type UndoVerbs = Pick<Verbs, 'noteUndo'>;

const STEPS: readonly UndoStep[] = ['offered', 'over', 'asked', 'linked', 'ended'];

/** The undo of an action goes forward only, and its offer ends in time. */
export function undoModel(world: World): UndoVerbs {
  function reach(requestId: string, step: UndoStep, note: UndoNote, withinMs = 0) {
    const request = world.request(requestId);
    // A plan is no action: each of its steps is undone by itself.
    if (request === undefined || request.asked.steps !== undefined) return UNKNOWN;
    if (request.state !== 'succeeded') return settled(request);
    const { undo } = request;
    if (undo !== undefined && STEPS.indexOf(undo.step) >= STEPS.indexOf(step)) return NOTED;
    if (step === 'over' && (undo?.until === undefined || world.now < undo.until))
      return { outcome: 'not-due' } as const;
    const until = step === 'offered' ? request.since + withinMs : undefined;
    request.undo = { step, note: { ...undo?.note, ...note }, until };
    if (step !== 'offered') world.redraw(request);
    return NOTED;
  }

  return {
    noteUndo: (requestId, step, note = {}, withinMs = 0) => reach(requestId, step, note, withinMs),
  };
}

const NOTED = { outcome: 'noted' } as const;
