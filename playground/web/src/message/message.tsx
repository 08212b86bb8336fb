import { memo, useRef, useState } from 'react';
import type { MessageEntity } from '../../../protocol.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { MessageText } from '../blocks/text/prose.tsx';
import { act } from '../client/act.ts';
import { usePerson, useWorkspace } from '../client/store.ts';
import { RouteLink } from '../navigation/route-link.tsx';
import { Avatar } from '../people/avatar.tsx';
import { RoleBadge } from '../people/role-badge.tsx';
import { useKeptFocus } from '../use-kept-focus.ts';
import { EditMessage } from './edit-message.tsx';
import { formatFull, formatTime, momentOf } from './format-moment.ts';
import { screenOfMessage } from './message-links.ts';
import { MessageToolbar } from './message-toolbar.tsx';
import { Reactions } from './reactions.tsx';
import { RepliesLink } from './replies-link.tsx';
import './message.css';

interface MessageProps {
  message: MessageEntity;
  /** Rendered below the previous message, without author and avatar. */
  isCompact: boolean;
  isInThread: boolean;
  isPointedAt: boolean;
}

/** One message as this person sees it, with what they can do with it. */
export const Message = memo(function Message({ message, isCompact, isInThread, isPointedAt }: MessageProps) {
  const [isEdited, setEdited] = useState(false);
  const item = useRef<HTMLLIElement>(null);
  const keptFocus = useKeptFocus(item);
  const { me } = useWorkspace();
  const mentionsMe = message.user !== me && message.text.includes(`<@${me}>`);
  const classes = [
    'message',
    isCompact && 'message-compact',
    message.isEphemeral && 'message-ephemeral',
    mentionsMe && 'message-for-me',
    isPointedAt && 'message-pointed-at',
  ];
  return (
    <li
      ref={item}
      className={classes.filter((name) => name !== false).join(' ')}
      data-ts={message.ts}
      tabIndex={-1}
      {...keptFocus}
    >
      <div className="message-side">
        {isCompact ? <MessageTime message={message} isShort /> : <Avatar userId={message.user} />}
      </div>
      <div className="message-main">
        {message.isEphemeral && <EphemeralNote message={message} />}
        <Author message={message} isHidden={isCompact} />
        {isEdited ? (
          <EditMessage message={message} onDone={() => setEdited(false)} />
        ) : (
          <Body message={message} />
        )}
        {message.files.length > 0 && <AttachedFiles files={message.files} />}
        {message.reactions.length > 0 && <Reactions message={message} />}
        {!isInThread && <RepliesLink channel={message.channel} ts={message.ts} />}
      </div>
      {!isEdited && !message.isEphemeral && (
        <MessageToolbar message={message} isInThread={isInThread} onEdit={() => setEdited(true)} />
      )}
    </li>
  );
});

function Author({ message, isHidden }: { message: MessageEntity; isHidden: boolean }) {
  const person = usePerson(message.user);
  const name = person?.realName ?? message.user;
  if (isHidden) return <span className="visually-hidden">{name}: </span>;
  return (
    <div className="message-author">
      <span className="message-name">{name}</span>
      {person !== undefined && <RoleBadge person={person} />}
      <MessageTime message={message} />
    </div>
  );
}

function Body({ message }: { message: MessageEntity }) {
  const { channel, ts, blocks, text, isEdited, isStreaming } = message;
  return (
    <div
      className={isStreaming ? 'message-body message-body-streaming' : 'message-body'}
      aria-busy={isStreaming}
    >
      {blocks.length > 0 ? <Blocks blocks={blocks} target={{ channel, ts }} /> : <MessageText text={text} />}
      {isEdited && <span className="message-edited">(edited)</span>}
    </div>
  );
}

/** The files of a message; the page names them and loads nothing. */
function AttachedFiles({ files }: Pick<MessageEntity, 'files'>) {
  return (
    <ul className="message-files" aria-label="Files">
      {files.map(({ name, type, size }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the files of a message never change
        <li key={index}>
          <bdi>{name}</bdi>
          <span className="message-file-facts">
            {type}, {formatSize(size)}
          </span>
        </li>
      ))}
    </ul>
  );
}

function formatSize(bytes: number): string {
  return bytes < 1_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000)} KB`;
}

/** Marks an ephemeral message and dismisses it. */
function EphemeralNote({ message: { channel, ts } }: { message: MessageEntity }) {
  return (
    <p className="ephemeral-note">
      Only visible to you
      <button type="button" onClick={() => void act('dismiss', { channel, ts })}>
        Dismiss message
      </button>
    </p>
  );
}

/** The time of a message as a link to it; an ephemeral message has no link. */
function MessageTime({ message, isShort = false }: { message: MessageEntity; isShort?: boolean }) {
  const moment = momentOf(message.ts);
  const time = (
    <time dateTime={moment.toISOString()} title={formatFull(moment)}>
      {isShort ? formatTime(moment).split(' ')[0] : formatTime(moment)}
    </time>
  );
  if (message.isEphemeral) return <span className="message-time">{time}</span>;
  return (
    <RouteLink className="message-time" route={{ screen: screenOfMessage(message) }} tabIndex={-1}>
      {time}
    </RouteLink>
  );
}
