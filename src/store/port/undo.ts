import type { UndoNote, UndoStep } from '../record/request-record.ts';
import type { Malformed, Settled, Unknown } from './results.ts';

export type NoteUndoResult = { readonly outcome: 'noted' | 'not-due' } | Settled | Unknown | Malformed;

/** The undo of actions. The request that undoes is one of its own; here is what the card of the action shows of it. */
export interface UndoStore {
  /** Offers to undo an action for so long after its success. */
  offerUndo(requestId: string, withinMs: number): Promise<NoteUndoResult>;
  /** Records a step and redraws the cards of the action; a step that is behind changes nothing. */
  noteUndo(requestId: string, step: Exclude<UndoStep, 'offered'>, note?: UndoNote): Promise<NoteUndoResult>;
}
