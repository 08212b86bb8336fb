import { useId, useRef, useState } from 'react';
import type { ChannelEntity } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { nameOf, useEntities, usePerson } from '../client/store.ts';
import { Icon } from '../icon.tsx';
import { channelName, otherMember } from '../navigation/screen-name.ts';
import { Avatar } from '../people/avatar.tsx';
import { RoleBadge } from '../people/role-badge.tsx';
import { useDismiss } from '../use-dismiss.ts';

/** A channel's name and who is in it. */
export function ChannelTitle({ channel }: { channel: ChannelEntity }) {
  const entities = useEntities();
  if (channel.type === 'im') {
    const other = otherMember(entities, channel);
    return (
      <>
        <Avatar userId={other} size={26} />
        <h2>{nameOf(entities, other)}</h2>
      </>
    );
  }
  return (
    <>
      <h2>
        {channel.type === 'private' && (
          <>
            <Icon name="lock" size={16} />
            <span className="visually-hidden">Private channel </span>
          </>
        )}
        {channel.type === 'private' ? channel.name : channelName(entities, channel)}
      </h2>
      <Members channel={channel} />
    </>
  );
}

function Members({ channel }: { channel: ChannelEntity }) {
  const [isOpen, setOpen] = useState(false);
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  useDismiss(box, isOpen, () => setOpen(false));
  const count = channel.members.length;
  return (
    <div className="members" ref={box}>
      <button
        type="button"
        className="members-button"
        aria-expanded={isOpen}
        aria-controls={listId}
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="people" size={16} />
        {count} {count === 1 ? 'member' : 'members'}
      </button>
      {isOpen && (
        <div className="members-list" id={listId}>
          <ul>
            {channel.members.map((member) => (
              <li key={member}>
                <Member userId={member} />
              </li>
            ))}
          </ul>
          {channel.isMember && !channel.isArchived && (
            <button
              type="button"
              className="text-button"
              onClick={() => void act('leave', { channel: channel.id })}
            >
              Leave channel
            </button>
          )}
        </div>
      )}
    </div>
  );
}

function Member({ userId }: { userId: string }) {
  const person = usePerson(userId);
  return (
    <>
      <Avatar userId={userId} size={22} />
      {person?.realName ?? userId} {person !== undefined && <RoleBadge person={person} />}
    </>
  );
}
