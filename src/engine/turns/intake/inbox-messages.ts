import type { JsonObject } from '../../../agent/json.ts';
import { type Message, type UserMessage, userMessage } from '../../../agent/messages.ts';
import type { InboxItem } from '../../../store/port/values.ts';
import type { Directory } from '../../ports.ts';
import { type Revision, RevisionBody, readRevision } from '../../revisions.ts';
import { instructingSince, writtenAt } from '../../task-people.ts';
import { type TurnContext, tell } from '../turn-context.ts';
import { nameIn } from './name-in.ts';
import { oneLine, quoteContext } from './quote.ts';

/**
 * Converts inbox items to messages with their final roles. Words to the bot are an instruction. So are those of a person who had
 * instructed it in this thread when they were written, unless that person may not ask. The item `threadReadTo` is marked as the one
 * up to which the thread was read.
 */
export async function toUserMessages(
  directory: Pick<Directory, 'member'>,
  history: readonly Message[],
  items: readonly InboxItem[],
  threadReadTo?: string,
): Promise<readonly UserMessage[]> {
  const since = new Map(instructingSince(history));
  const roles = items.map(({ id, body }) => {
    const user = String(body.user);
    const at = writtenAt(id);
    const joined = since.get(user) ?? Number.POSITIVE_INFINITY;
    const isContext = body.role === 'context' && (body.mayAsk === false || at === undefined || at <= joined);
    if (!isContext && at !== undefined) since.set(user, Math.min(joined, at));
    return isContext ? 'context' : 'requester';
  });
  return Promise.all(
    items.map((item, index) => {
      const marks = item.id === threadReadTo ? { threadRead: true } : {};
      return toUserMessage(directory, item, roles[index] ?? 'context', marks);
    }),
  );
}

async function toUserMessage(
  directory: Pick<Directory, 'member'>,
  { id: ts, body }: InboxItem,
  role: 'requester' | 'context',
  marks: JsonObject,
): Promise<UserMessage> {
  const user = String(body.user);
  const name = await nameIn(directory, user);
  const { requesters, undoes } = body;
  const words =
    body.text === '' && body.files !== undefined ? '(a message without words)' : String(body.text);
  const text = role === 'context' ? quoteContext(name, words) : `${oneLine(name)}: ${words}`;
  return userMessage(text, {
    user,
    role,
    ts,
    ...marks,
    ...(requesters !== undefined && { requesters }),
    ...(undoes !== undefined && { undoes }),
  });
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
      const name = await nameIn(directory, user);
      const words = text ?? 'I deleted this message.';
      const at = Number.parseFloat(revises);
      const quoted = quoteContext(`${name} on their earlier message`, words, at);
      const revision = { revises, ...(text !== undefined && { text }) };
      return userMessage(quoted, { user, role: 'context', ts: id, ...revision });
    }),
  );
}

/** Finds the message on record that a revision is about. */
function revisedIn(
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

/**
 * Offers the authors of instructions that were read before they were edited to redo the task, once for each edit. If one was deleted while
 * its thread is at work, its author is told how to stop.
 */
export async function tellOfRevisions(
  context: Pick<TurnContext, 'store' | 'toolbox' | 'messages'>,
  threadId: string,
  messages: readonly Message[],
  late: readonly Revision[],
  isAtWork = false,
): Promise<void> {
  for (const revision of late) {
    if (revisedIn(messages, revision)?.metadata?.role !== 'requester') continue;
    if (revision.text === undefined && !isAtWork) continue;
    const hasActed = await hasActedOn(context, threadId, messages, revision.revises);
    const how = revision.text === undefined ? 'deleted' : hasActed ? 'edited-too-late' : 'edited';
    await tell(context, threadId, { code: 'revised', id: revision.id, how });
  }
}

/** Tells whether anything with an effect has run, or may have, since a message was read. */
export async function hasActedOn(
  { store, toolbox }: Pick<TurnContext, 'store' | 'toolbox'>,
  threadId: string,
  messages: readonly Message[],
  ts: string,
): Promise<boolean> {
  const since = messages.slice(
    messages.findIndex((message) => message.role === 'user' && message.metadata?.ts === ts) + 1,
  );
  const waiting = new Set<string>();
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome === 'found' && loaded.request.state !== 'pending') return true;
  }
  const ends = new Map<string, string>();
  for (const message of since) {
    if (message.role !== 'tool') continue;
    for (const part of message.content) {
      if ('interrupt' in part) waiting.add(part.interrupt.toolRequest.ref);
      else ends.set(part.toolResponse.ref, part.status);
    }
  }
  const calls = since.flatMap((message) =>
    message.role === 'model'
      ? message.content.flatMap((part) => ('toolRequest' in part ? [part.toolRequest] : []))
      : [],
  );
  return calls.some(({ name, ref }) => {
    const tool = toolbox.find(name)?.tool;
    if (tool?.kind === 'interrupt' || (tool?.kind === 'tool' && tool.effect === 'none')) return false;
    const end = ends.get(ref);
    // A call without a result that does not wait is running.
    return end === undefined ? !waiting.has(ref) : end !== 'denied' && end !== 'closed';
  });
}
