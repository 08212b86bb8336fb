import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { tryParseJson } from '../../agent/json.ts';
import type { DocumentStore } from '../port/documents.ts';

const Verdict = z.enum(['good', 'bad']);

/** The word of a person about one answer of the agent. */
export interface Feedback {
  readonly threadId: string;
  /** The id of the answer, unique in its thread. */
  readonly answer: string;
  readonly person: string;
  readonly verdict: z.infer<typeof Verdict>;
}

const Note = z.object({ id: z.string(), text: z.string(), people: z.array(z.string()), at: z.number() });
/** Notes that cannot be read are as if they were not there. */
const Notes = z.array(Note).catch([]);

/** A short note about a channel, which the agent has written down for later tasks for these people; its id is the same for every copy. */
export type ChannelNote = Readonly<Omit<z.infer<typeof Note>, 'at'>>;
export type KeptNote = Readonly<z.infer<typeof Note>> & { readonly channel: string };

/** The feedback of people on answers, and the notes about channels. */
export interface Memory {
  /** Records what a person thinks of an answer; a later word replaces the earlier one. */
  giveFeedback(feedback: Feedback): Promise<void>;
  listFeedback(): Promise<readonly Feedback[]>;
  /** Removes what a person thinks of answers; returns the number of answers. */
  eraseFeedback(person: string): Promise<number>;
  /** Keeps a note, once, unless the channel has `most` already. */
  remember(channel: string, note: ChannelNote, most: number): Promise<'remembered' | 'full'>;
  /** Lists the notes about a channel, oldest first. */
  recall(channel: string): Promise<readonly KeptNote[]>;
  forget(channel: string, id: string): Promise<void>;
  /** Lists the notes of all channels. */
  listNotes(): Promise<readonly KeptNote[]>;
}

const NOTES = 'notes';
const FEEDBACK = 'feedback';
/** Notes leave when nobody has written or read them for as long as idle threads are kept; feedback that long after it was given. */
const KEPT = { forMs: 'as-threads' } as const;

/** Keeps feedback and notes as documents: one for each answer and person, one for each channel. */
export function memoryIn(store: DocumentStore): Memory {
  const notesOf = (value = '[]') => Notes.parse(tryParseJson(value));

  /** Changes the notes of a channel; what another process writes meanwhile is looked at first. */
  async function change(channel: string, next: (notes: z.infer<typeof Notes>) => z.infer<typeof Notes>) {
    for (;;) {
      const { version = '', value } = (await store.readDocument(NOTES, channel)) ?? {};
      const [before, after] = [notesOf(value), next(notesOf(value))];
      if (after.length === before.length) return before;
      const document =
        after.length === 0 ? undefined : { version: randomUUID(), value: JSON.stringify(after) };
      const options = { ...KEPT, replaces: version };
      if ((await store.writeDocument(NOTES, channel, document, options)) === 'written') return after;
    }
  }

  async function listFeedback(): Promise<Feedback[]> {
    const found = await store.listDocuments(`${FEEDBACK}|`);
    return found.flatMap(({ id, value }) => {
      const [threadId = '', answer = '', person = ''] = id.split(' ');
      const verdict = Verdict.safeParse(value).data;
      return verdict === undefined ? [] : [{ threadId, answer, person, verdict }];
    });
  }

  const feedbackId = ({ threadId, answer, person }: Feedback) => `${threadId} ${answer} ${person}`;

  return {
    async giveFeedback(feedback) {
      const document = { version: randomUUID(), value: feedback.verdict };
      await store.writeDocument(FEEDBACK, feedbackId(feedback), document, KEPT);
    },

    listFeedback,

    async eraseFeedback(person) {
      const found = (await listFeedback()).filter((each) => each.person === person);
      for (const feedback of found) await store.writeDocument(FEEDBACK, feedbackId(feedback), undefined);
      return found.length;
    },

    async remember(channel, note, most) {
      const notes = await change(channel, (before) =>
        before.length >= most || before.some(({ id }) => id === note.id)
          ? before
          : [...before, { ...note, at: Date.now() }],
      );
      return notes.some(({ id }) => id === note.id) ? 'remembered' : 'full';
    },

    async recall(channel) {
      const found = await store.readDocument(NOTES, channel, KEPT);
      return notesOf(found?.value).map((note) => ({ ...note, channel }));
    },

    async forget(channel, id) {
      await change(channel, (before) => before.filter((note) => note.id !== id));
    },

    async listNotes() {
      const found = await store.listDocuments(`${NOTES}|`);
      return found.flatMap(({ id: channel, value }) => notesOf(value).map((note) => ({ ...note, channel })));
    },
  };
}
