import type { KnownBlock } from '@slack/types';
import type { KeptNote } from '../../store/port/memory.ts';
import { MAX_NOTES } from '../../tools/memory.ts';
import { line, plain, words } from '../cards/card.ts';
import { showLabel } from '../cards/values/show-text.ts';
import type { BotContext } from '../context.ts';
import { limits } from '../slack/limits.ts';
import { memoryTexts } from '../texts/memory.ts';

/** Removes a note. Its value is the channel and the id of the note. */
export const FORGET_NOTE = 'forget-note';

/** Lists the notes that a person finds in App Home: those that were written for them, and for an admin all. */
export async function notesFor(
  { store, agent }: Pick<BotContext, 'store' | 'agent'>,
  userId: string,
): Promise<readonly KeptNote[] | undefined> {
  const { memory, admins } = agent();
  if (memory === 'off') return undefined;
  const all = await store.listNotes();
  return admins.includes(userId) ? all : all.filter(({ people }) => people.includes(userId));
}

/** Builds the list of notes, each with a button that removes it. The words of a note are quoted as plain text. */
export function buildNotes(
  notes: readonly KeptNote[],
  title: string,
  { most = MAX_NOTES, withChannel = false } = {},
): KnownBlock[] {
  const shown = notes.slice(-Math.min(most, MAX_NOTES));
  return [
    { type: 'header', text: plain(title) },
    ...(shown.length === 0 ? [line(words(memoryTexts.none))] : []),
    ...shown.map((note) => noteBlock(note, withChannel)),
    ...(notes.length > shown.length ? [line(words(memoryTexts.more(notes.length - shown.length)))] : []),
  ];
}

function noteBlock({ channel, id, text, at }: KeptNote, withChannel: boolean): KnownBlock {
  const day = new Date(at).toISOString().slice(0, 10);
  return {
    type: 'section',
    text: plain(`${showLabel(text, limits.description)} (${day})`),
    ...(withChannel && { fields: [{ type: 'mrkdwn' as const, text: memoryTexts.about(channel) }] }),
    accessory: {
      type: 'button',
      action_id: FORGET_NOTE,
      value: `${channel} ${id}`,
      text: plain(memoryTexts.remove),
      accessibility_label: showLabel(memoryTexts.removeNote(text), limits.accessibilityLabel),
    },
  };
}

/**
 * Removes a note for a person who may: everybody in its channel, where the list was shown to them, the people it was written for, and
 * admins. Returns a sentence if it is not done.
 */
export async function forgetNote(
  { store, agent }: Pick<BotContext, 'store' | 'agent'>,
  {
    value,
    user,
    shownIn,
  }: { readonly value: string; readonly user: string; readonly shownIn: string | undefined },
): Promise<string | undefined> {
  const [channel = '', id = ''] = value.split(' ');
  const note = (await store.recall(channel)).find((each) => each.id === id);
  if (note === undefined) return memoryTexts.gone;
  const mayRemove = shownIn === channel || note.people.includes(user) || agent().admins.includes(user);
  if (!mayRemove) return memoryTexts.notYours;
  await store.forget(channel, [id]);
  await store.note(`forgot ${id}`, 'note-removed', channel, { by: user, note: id });
  return undefined;
}
