import type { ChannelEntity } from '../../../protocol.ts';
import { messagesOf, nameOf, useEntities, useEntity, usePlayground, useWorkspace } from '../client/store.ts';
import { Composer } from '../composer/composer.tsx';
import { AppTabs, useOpenedTab } from '../home/app-tabs.tsx';
import { Prompts } from '../home/prompts.tsx';
import { channelName, otherMember } from '../navigation/screen-name.ts';
import { openPanel, usePanes } from '../panes/panes.ts';
import { focusTab } from '../side-panel/focus-tab.ts';
import { ChannelTitle } from './channel-title.tsx';
import { MessageList } from './message-list.tsx';
import { PaneHeader } from './pane-header.tsx';
import './conversation.css';

/** The main timeline of a channel or direct message, with its composer. */
export function Conversation({ channelId }: { channelId: string }) {
  const entities = useEntities();
  const { app } = useWorkspace();
  const channel = useEntity(`channel:${channelId}`);
  const isWithApp =
    channel !== undefined && channel.type === 'im' && otherMember(entities, channel) === app.botUserId;
  useOpenedTab(isWithApp ? 'messages' : undefined);
  if (channel === undefined) return null;
  const name = channelName(entities, channel);
  return (
    <section className="conversation" aria-label={name}>
      <PaneHeader>
        <ChannelTitle channel={channel} />
      </PaneHeader>
      {isWithApp && <AppTabs open="messages" channel={channel.id} />}
      <MessageList
        label={`Messages in ${name}`}
        channel={channel.id}
        messages={messagesOf(entities, channel.id)}
        lastRead={channel.lastRead}
        unread={channel.unread}
        intro={<ChannelIntro channel={channel} />}
      />
      {isWithApp && <Prompts channel={channel.id} />}
      <Composer channel={channel} />
    </section>
  );
}

/** The introduction above the first message. */
function ChannelIntro({ channel }: { channel: ChannelEntity }) {
  const entities = useEntities();
  const { app } = useWorkspace();
  const name = channelName(entities, channel);
  const bot = nameOf(entities, app.botUserId);
  const hasBot = channel.members.includes(app.botUserId);
  if (channel.type === 'im') {
    return (
      <div className="channel-intro">
        <p className="channel-intro-name">{name}</p>
        <p>This is a direct message with {name}. Write what you need; each message starts a thread.</p>
      </div>
    );
  }
  return (
    <div className="channel-intro">
      <p className="channel-intro-name">{name}</p>
      <p>
        {hasBot
          ? `This is the beginning of ${name}. Mention @${bot} with what you need; it replies in a thread.`
          : `This is the beginning of ${name}. ${bot} isn't in this channel and gets no messages from it.`}
      </p>
      {hasBot && <TourButton />}
    </div>
  );
}

/** Opens the tour where the side panel is closed, as on a phone, until the tour is finished. */
function TourButton() {
  const { panel } = usePanes();
  const { tour } = usePlayground();
  if (panel !== undefined || tour.every(({ isDone, isAct }) => isDone || !isAct)) return null;
  return (
    <button
      type="button"
      className="text-button text-button-good"
      onClick={() => {
        openPanel('tour');
        focusTab('tour');
      }}
    >
      {tour.some(({ isDone }) => isDone) ? 'Continue the tour' : 'Start the tour'}
    </button>
  );
}
