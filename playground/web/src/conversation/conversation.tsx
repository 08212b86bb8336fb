import { Composer } from '../composer/composer.tsx';
import { AppTabs } from '../home/app-tabs.tsx';
import { Prompts } from '../home/prompts.tsx';
import { useOpenedTab } from '../home/use-opened-tab.ts';
import { channelName, otherMember } from '../place-name.ts';
import { messagesOf, useEntities, useEntity, useWorkspace } from '../store.ts';
import { ChannelIntro } from './channel-intro.tsx';
import { ChannelTitle } from './channel-title.tsx';
import { MessageList } from './message-list.tsx';
import { PlaceHeader } from './place-header.tsx';
import './conversation.css';

/** A channel's or a direct message's main line, with its composer. */
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
      <PlaceHeader>
        <ChannelTitle channel={channel} />
      </PlaceHeader>
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
