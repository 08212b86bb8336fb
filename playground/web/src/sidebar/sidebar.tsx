import type { ChannelEntity } from '../../../protocol.ts';
import { nameOf, useChannels, useEntities, useWorkspace } from '../client/store.ts';
import { Icon } from '../icon.tsx';
import { useRoute } from '../navigation/routes.ts';
import { Avatar } from '../people/avatar.tsx';
import { PeopleSwitch } from '../people/people-switch.tsx';
import { ThemeToggle } from '../theme/theme-toggle.tsx';
import { BotState } from './bot-state.tsx';
import { ConversationLink } from './conversation-link.tsx';
import { unreadOf } from './unread.ts';
import './sidebar.css';

/** The sidebar: the current person, their conversations, and the bot's state. */
export function Sidebar() {
  const { team } = useWorkspace();
  const channels = useChannels();
  return (
    <nav className="sidebar" aria-label="Channels and direct messages">
      <div className="sidebar-head">
        <span className="sidebar-team">{team.name}</span>
        <ThemeToggle />
      </div>
      <PeopleSwitch />
      <div className="sidebar-conversations">
        <Section title="Channels" channels={channels.filter((channel) => !isDirect(channel))} />
        <DirectMessages channels={channels.filter(isDirect)} />
      </div>
      <BotState />
    </nav>
  );
}

function Section({ title, channels }: { title: string; channels: readonly ChannelEntity[] }) {
  return (
    <section aria-label={title}>
      <h2 className="sidebar-title">{title}</h2>
      <ul>
        {channels.map((channel) => (
          <li key={channel.id}>
            <ChannelLink channel={channel} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function ChannelLink({ channel }: { channel: ChannelEntity }) {
  const { screen } = useRoute();
  const unread = unreadOf(useEntities(), channel);
  return (
    <ConversationLink
      screen={{ kind: 'channel', channel: channel.id }}
      isOpen={screen.kind === 'channel' && screen.channel === channel.id}
      isQuiet={!channel.isMember || channel.isArchived}
      unread={unread}
      mentions={channel.mentions}
      icon={iconOf(channel)}
      name={channel.name}
      {...noteOf(channel)}
    />
  );
}

function DirectMessages({ channels }: { channels: readonly ChannelEntity[] }) {
  const entities = useEntities();
  const { app, me } = useWorkspace();
  const { screen } = useRoute();
  return (
    <section aria-label="Direct messages">
      <h2 className="sidebar-title">Direct messages</h2>
      <ul>
        {channels.map((channel) => {
          if (channel.type === 'mpim')
            return (
              <li key={channel.id}>
                <ChannelLink channel={channel} />
              </li>
            );
          const other = channel.members.find((member) => member !== me) ?? me;
          const isApp = other === app.botUserId;
          const isOpen = screen.kind === 'home' ? isApp : screen.channel === channel.id;
          return (
            <li key={channel.id}>
              <ConversationLink
                screen={{ kind: 'channel', channel: channel.id }}
                isOpen={isOpen}
                isQuiet={false}
                unread={unreadOf(entities, channel)}
                mentions={channel.mentions}
                icon={<Avatar userId={other} size={20} />}
                name={nameOf(entities, other)}
                {...(isApp && { note: 'App' })}
              />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** A conversation of two people, or of a group of them. */
function isDirect({ type }: ChannelEntity): boolean {
  return type === 'im' || type === 'mpim';
}

function iconOf({ isArchived, type }: ChannelEntity) {
  if (isArchived) return <Icon name="archive" />;
  if (type === 'mpim') return <Icon name="people" />;
  return type === 'private' ? <Icon name="lock" /> : '#';
}

function noteOf({ isArchived, isMember }: ChannelEntity): { note?: string } {
  if (isArchived) return { note: 'archived' };
  return isMember ? {} : { note: 'not joined' };
}
