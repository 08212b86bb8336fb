import { type ReactNode, useRef } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { useWorkspace } from '../client/store.ts';
import { Icon } from '../icon.tsx';
import { Message } from '../message/message.tsx';
import { useRoute } from '../navigation/routes.ts';
import { firstNewTs, type Row, toRows } from './message-rows.ts';
import { useReadPosition } from './use-read-position.ts';
import { useScroll } from './use-scroll.ts';

interface MessageListProps {
  label: string;
  channel: string;
  threadTs?: string;
  messages: readonly MessageEntity[];
  lastRead: string;
  unread: number;
  /** Rendered above the first message. */
  intro?: ReactNode;
  /** Rendered below the last message. */
  children?: ReactNode;
}

/** The messages of a main timeline or a thread; scrolls to the end while it grows. */
export function MessageList({
  label,
  channel,
  threadTs,
  messages,
  lastRead,
  unread,
  intro,
  children,
}: MessageListProps) {
  const { screen } = useRoute();
  const { me } = useWorkspace();
  const box = useRef<HTMLDivElement>(null);
  const pointedAt = usePointedAt(messages);
  const lastOwn = messages.findLast(({ user }) => user === me)?.ts;
  const { isAtBottom, toBottom } = useScroll(box, { pointedAt, lastOwn, screen });
  const latest = messages.at(-1)?.ts;
  const newFrom = useReadPosition({
    channel,
    ...(threadTs !== undefined && { threadTs }),
    latest,
    lastRead,
    unread,
    isAtBottom,
  });
  const rows = toRows(messages, { newTs: firstNewTs(messages, { lastRead: newFrom, me }), now: new Date() });
  return (
    <div className="message-list">
      <div
        className="message-list-scroll"
        ref={box}
        role="log"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard.
        tabIndex={0}
      >
        <div className="message-list-content">
          {intro}
          <ol>
            {rows.map((row) => (
              <ListRow key={row.key} row={row} isInThread={threadTs !== undefined} pointedAt={pointedAt} />
            ))}
          </ol>
          {children}
        </div>
      </div>
      {!isAtBottom && (
        <button type="button" className="message-list-down" onClick={toBottom}>
          <Icon name="down" size={16} />
          {unread > 0 ? 'New messages' : 'Latest messages'}
        </button>
      )}
    </div>
  );
}

function ListRow({
  row,
  isInThread,
  pointedAt,
}: {
  row: Row;
  isInThread: boolean;
  pointedAt: string | undefined;
}) {
  if (row.kind === 'day') {
    return (
      <li className="day-divider">
        <span>{row.label}</span>
      </li>
    );
  }
  if (row.kind === 'new') return <li className="new-divider">New</li>;
  return (
    <Message
      message={row.message}
      isCompact={row.isCompact}
      isInThread={isInThread}
      isPointedAt={row.message.ts === pointedAt}
    />
  );
}

function usePointedAt(messages: readonly MessageEntity[]): string | undefined {
  const { screen } = useRoute();
  const wanted = screen.kind === 'channel' ? screen.messageTs : undefined;
  return wanted !== undefined && messages.some(({ ts }) => ts === wanted) ? wanted : undefined;
}
