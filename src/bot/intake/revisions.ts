import { z } from 'zod';
import { type Message, type UserMessage, userMessage } from '../../agent/messages.ts';
import type { InboxItem } from '../../store/port/store.ts';
import type { Directory } from '../slack/directory.ts';
import { quoteContext } from './quote.ts';

/** The item of a message that its author edited or deleted; it is stored beside the message, which stays as it was. */
const RevisionBody = z.object({
  user: z.string(),
  /** The id of the message. */
  revises: z.string(),
  /** The new text; a deleted message has none. */
  text: z.string().optional(),
});

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

function readRevision({ id, body }: InboxItem): Revision[] {
  const { data } = RevisionBody.safeParse(body);
  return data === undefined ? [] : [{ id, ...data }];
}

/** Quotes late revisions for the model; a message that is not on record has none. */
export async function quoteRevisions(
  directory: Pick<Directory, 'member'>,
  history: readonly Message[],
  late: readonly Revision[],
): Promise<readonly UserMessage[]> {
  const known = late.filter((revision) => revisedIn(history, revision) !== undefined);
  return Promise.all(
    known.map(async ({ id, user, revises, text }) => {
      const name = await directory.member(user).then(
        (member) => member.name,
        () => user,
      );
      const words = text ?? 'I deleted this message.';
      const at = Number.parseFloat(revises);
      const quoted = quoteContext(`${name} on their earlier message`, words, at);
      const revision = { revises, ...(text !== undefined && { text }) };
      return userMessage(quoted, { user, role: 'context', ts: id, ...revision });
    }),
  );
}

/** Finds the message on record that a revision is about. */
export function revisedIn(
  history: readonly Message[],
  { revises, user }: Pick<Revision, 'revises' | 'user'>,
): UserMessage | undefined {
  return history.find(
    (message): message is UserMessage =>
      message.role === 'user' && message.metadata?.ts === revises && message.metadata.user === user,
  );
}

/** Finds the last revision of a message, in the inbox or on record. */
export function latestRevision(
  { messages, inbox }: { readonly messages: readonly Message[]; readonly inbox: readonly InboxItem[] },
  revises: string,
): Revision | undefined {
  const recorded = messages.flatMap((message): Revision[] => {
    if (message.role !== 'user') return [];
    const { data } = RevisionBody.safeParse(message.metadata);
    const ts = message.metadata?.ts;
    return data === undefined || typeof ts !== 'string' ? [] : [{ id: ts, ...data }];
  });
  return [...recorded, ...inbox.flatMap(readRevision)].findLast((each) => each.revises === revises);
}
