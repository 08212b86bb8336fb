import type { UndoStore } from '../../port/undo.ts';
import type { RunScript } from '../run-script.ts';
import { askAbout } from './request-verbs.ts';

/** The verbs about the undo of an action. */
export function undoVerbs(run: RunScript): UndoStore {
  return {
    async offerUndo(requestId, withinMs) {
      const reply = await askAbout(run, 'note-undo', requestId, ['offered', '{}', withinMs]);
      return reply.plain('noted', 'not-due');
    },

    async noteUndo(requestId, step, note = {}) {
      const reply = await askAbout(run, 'note-undo', requestId, [step, JSON.stringify(note), 0]);
      return reply.plain('noted', 'not-due');
    },
  };
}
