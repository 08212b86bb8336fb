import type { Verbs, World } from './world.ts';

/** A person has one word about an answer, the last one; a channel has each note once, and no more than so many. */
export function memoryModel(world: World): Pick<Verbs, 'giveFeedback' | 'remember' | 'recall' | 'forget'> {
  return {
    giveFeedback({ threadId, answer, person, verdict }) {
      const thread = world.thread(threadId);
      if (thread === undefined) return { outcome: 'unknown-thread' };
      thread.feedback ??= new Map();
      thread.feedback.set(`${answer} ${person}`, verdict);
      return { outcome: 'recorded' };
    },

    remember(channel, note, most) {
      const notes = world.notes.get(channel) ?? new Map();
      if (notes.has(note.id)) return { outcome: 'remembered' };
      if (notes.size >= most) return { outcome: 'full' };
      world.notes.set(channel, notes.set(note.id, { ...note, channel, at: world.now }));
      return { outcome: 'remembered' };
    },

    recall(channel) {
      const notes = [...(world.notes.get(channel)?.values() ?? [])];
      return notes.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
    },

    forget(channel, ids) {
      for (const id of ids) world.notes.get(channel)?.delete(id);
    },
  };
}
