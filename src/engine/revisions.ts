import { z } from 'zod';
import type { InboxItem } from '../store/port/values.ts';

/** The item of a message that its author edited or deleted; it is stored beside the message, which stays as it was. */
export const RevisionBody = z.object({
  user: z.string(),
  /** The id of the message. */
  revises: z.string(),
  /** The new text; a deleted message has none. */
  text: z.string().optional(),
});

/** A change of a message. */
export interface Revision extends Readonly<z.infer<typeof RevisionBody>> {
  readonly id: string;
}

/** Builds the inbox item of a revision; its id is the same for every copy of the event. */
export function revisionItem({ id, user, revises, text }: Revision): InboxItem {
  const body = { user, revises, role: 'context', ...(text !== undefined && { text }) };
  return { id, body };
}

/** Reads an inbox: messages as their authors left them, without deleted ones, and the revisions of messages that were read before. */
export function applyRevisions(inbox: readonly InboxItem[]): {
  readonly messages: readonly InboxItem[];
  readonly late: readonly Revision[];
} {
  const revisions = inbox.flatMap(readRevision);
  const written = inbox.filter((item) => readRevision(item).length === 0);
  const messages = written.flatMap((item): InboxItem[] => {
    const last = revisions.findLast(({ revises, user }) => revises === item.id && user === item.body.user);
    if (last === undefined) return [item];
    return last.text === undefined ? [] : [{ ...item, body: { ...item.body, text: last.text } }];
  });
  const isLate = ({ revises }: Revision) => written.every(({ id }) => id !== revises);
  return { messages, late: revisions.filter(isLate) };
}

/** Reads an item as a revision; none if it is a message. */
export function readRevision({ id, body }: InboxItem): Revision[] {
  const { data } = RevisionBody.safeParse(body);
  return data === undefined ? [] : [{ id, ...data }];
}
