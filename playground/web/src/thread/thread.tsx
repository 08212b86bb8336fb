import { act } from '../client/act.ts';
import { messagesOf, useEntities, useEntity } from '../client/store.ts';
import { Composer } from '../composer/composer.tsx';
import { MessageList } from '../conversation/message-list.tsx';
import { Icon } from '../icon.tsx';
import { channelName } from '../navigation/screen-name.ts';
import { PanelToggles } from '../side-panel/panel-toggles.tsx';
import { closeThread } from './close-thread.ts';
import { StatusLine } from './status-line.tsx';
import './thread.css';

/** A thread beside its channel: the root, the replies, the app's status and a composer. */
export function Thread({ channelId, threadTs }: { channelId: string; threadTs: string }) {
  const entities = useEntities();
  const channel = useEntity(`channel:${channelId}`);
  const thread = useEntity(`thread:${channelId}:${threadTs}`);
  if (channel === undefined) return null;
  const messages = messagesOf(entities, channelId, threadTs);
  return (
    <section className="thread" id="thread" tabIndex={-1} aria-label="Thread">
      <ThreadHeader channel={channelId} threadTs={threadTs} channelLabel={channelName(entities, channel)} />
      {messages.length === 0 ? (
        <p className="thread-missing">
          This thread doesn't exist: its first message was deleted, or the link is wrong.
        </p>
      ) : (
        <>
          <MessageList
            label={`Replies in the thread in ${channelName(entities, channel)}`}
            channel={channelId}
            threadTs={threadTs}
            messages={messages}
            lastRead={thread?.lastRead ?? threadTs}
            unread={thread?.unread ?? 0}
          />
          <AgentStatus channel={channelId} threadTs={threadTs} />
          <Composer channel={channel} threadTs={threadTs} />
        </>
      )}
    </section>
  );
}

function ThreadHeader({
  channel,
  threadTs,
  channelLabel,
}: {
  channel: string;
  threadTs: string;
  channelLabel: string;
}) {
  const title = useEntity(`status:${channel}:${threadTs}`)?.session?.title;
  return (
    <header className="pane-header">
      <button
        type="button"
        className="icon-button thread-back"
        aria-label="Back to the channel"
        onClick={closeThread}
      >
        <Icon name="back" />
      </button>
      <div className="pane-header-title thread-title">
        <h2>{title ?? 'Thread'}</h2>
        <span className="thread-channel">{channelLabel}</span>
      </div>
      <span className="thread-toggles">
        <PanelToggles />
      </span>
      <button
        type="button"
        className="icon-button thread-close"
        aria-label="Close the thread"
        onClick={closeThread}
      >
        <Icon name="close" />
      </button>
    </header>
  );
}

function AgentStatus({ channel, threadTs }: { channel: string; threadTs: string }) {
  const status = useEntity(`status:${channel}:${threadTs}`);
  return (
    <div className="thread-doing">
      <div role="status">
        <StatusLine channel={channel} threadTs={threadTs} />
      </div>
      {status?.canStop === true && (
        <button type="button" className="text-button" onClick={() => void act('stop', { channel, threadTs })}>
          <Icon name="stop" size={14} /> Stop
        </button>
      )}
    </div>
  );
}
