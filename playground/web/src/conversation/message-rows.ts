import type { MessageEntity } from '../../../protocol.ts';
import { formatDay, isSameDay, momentOf } from '../message/format-moment.ts';

/** One line of a message list. */
export type Row =
  | { readonly kind: 'day'; readonly key: string; readonly label: string }
  | { readonly kind: 'new'; readonly key: string }
  | {
      readonly kind: 'message';
      readonly key: string;
      readonly message: MessageEntity;
      readonly isCompact: boolean;
    };

const GROUP_WINDOW_MS = 5 * 60_000;

/**
 * Builds rows, oldest first, with a divider before each day and before the first new message; messages of one author
 * within minutes are compact.
 */
export function toRows(
  messages: readonly MessageEntity[],
  { newTs, now }: { newTs: string | undefined; now: Date },
): readonly Row[] {
  const rows: Row[] = [];
  let before: MessageEntity | undefined;
  for (const message of messages) {
    const moment = momentOf(message.ts);
    const isNewDay = before === undefined || !isSameDay(momentOf(before.ts), moment);
    const isFirstNew = message.ts === newTs;
    if (isNewDay) rows.push({ kind: 'day', key: `day-${message.ts}`, label: formatDay(moment, now) });
    if (isFirstNew) rows.push({ kind: 'new', key: 'new' });
    const isCompact = !isNewDay && !isFirstNew && before !== undefined && areGrouped(before, message);
    rows.push({ kind: 'message', key: message.key, message, isCompact });
    before = message;
  }
  return rows;
}

/** Returns the first unread message of another person; undefined when there is none. */
export function firstNewTs(
  messages: readonly MessageEntity[],
  { lastRead, me }: { lastRead: string | undefined; me: string },
): string | undefined {
  if (lastRead === undefined) return undefined;
  return messages.find(({ ts, user }) => ts > lastRead && user !== me)?.ts;
}

function areGrouped(one: MessageEntity, other: MessageEntity): boolean {
  return (
    one.user === other.user &&
    one.isEphemeral === other.isEphemeral &&
    momentOf(other.ts).getTime() - momentOf(one.ts).getTime() < GROUP_WINDOW_MS
  );
}
