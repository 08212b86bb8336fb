import { randomUUID } from 'node:crypto';
import { z } from 'zod';
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

/** The feedback of people on answers. */
export interface FeedbackRecord {
  /** Records what a person thinks of an answer; a later word replaces the earlier one. */
  give(feedback: Feedback): Promise<void>;
  list(): Promise<readonly Feedback[]>;
  /** Removes what a person thinks of answers; returns the number of answers. */
  erase(person: string): Promise<number>;
}

const FEEDBACK = 'feedback';

/** Keeps feedback as documents, one for each answer and person, for as long as idle threads are kept. */
export function feedbackIn(store: DocumentStore): FeedbackRecord {
  async function list(): Promise<Feedback[]> {
    const found = await store.listDocuments(`${FEEDBACK}|`);
    return found.flatMap(({ id, value }) => {
      const [threadId = '', answer = '', person = ''] = id.split(' ');
      const verdict = Verdict.safeParse(value).data;
      return verdict === undefined ? [] : [{ threadId, answer, person, verdict }];
    });
  }

  const idOf = ({ threadId, answer, person }: Feedback) => `${threadId} ${answer} ${person}`;

  return {
    async give(feedback) {
      const document = { version: randomUUID(), value: feedback.verdict };
      await store.writeDocument(FEEDBACK, idOf(feedback), document, { forMs: 'as-threads' });
    },

    list,

    async erase(person) {
      const found = (await list()).filter((each) => each.person === person);
      for (const feedback of found) await store.writeDocument(FEEDBACK, idOf(feedback), undefined);
      return found.length;
    },
  };
}
