import type { JsonObject } from '../../agent/json.ts';
import type { Message } from '../../agent/messages.ts';
import { type UserMessage, userMessage } from '../../agent/messages.ts';
import type { InboxItem } from '../../store/port/store.ts';
import { latestRequestersOf } from '../requests/task-people.ts';
import type { Directory } from '../slack/directory.ts';
import { oneLine, quoteContext } from './quote.ts';

/**
 * Converts inbox items to messages with their final roles. The words of an author who is a requester of the task already are an
 * instruction, whatever the thread was doing when they arrived; those of a person who may not ask never are. The item `threadReadTo`
 * is marked as the one up to which the thread was read.
 */
export async function toUserMessages(
  directory: Pick<Directory, 'member'>,
  history: readonly Message[],
  items: readonly InboxItem[],
  threadReadTo?: string,
): Promise<readonly UserMessage[]> {
  const requesters = new Set(latestRequestersOf(history));
  const roles = items.map(({ body }) => {
    const user = String(body.user);
    const isContext = body.role === 'context' && (body.mayAsk === false || !requesters.has(user));
    if (!isContext) requesters.add(user);
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
  const name = await directory.member(user).then(
    (member) => member.name,
    () => user,
  );
  const { requesters, undoes } = body;
  const words =
    body.text === '' && body.files !== undefined ? '(a message without words)' : String(body.text);
  const text = role === 'context' ? quoteContext(name, words) : `${oneLine(name)}: ${words}`;
  return userMessage(text, {
    ...{ user, role, ts, ...marks },
    ...(requesters !== undefined && { requesters }),
    ...(undoes !== undefined && { undoes }),
  });
}
