import type { ChannelEntity } from '../../../protocol.ts';
import { channelName } from '../place-name.ts';
import { nameOf, useEntities, useWorkspace } from '../store.ts';

/** What stands above the first message: what this conversation is, and how one talks to the app in it. */
export function ChannelIntro({ channel }: { channel: ChannelEntity }) {
  const entities = useEntities();
  const { app } = useWorkspace();
  const name = channelName(entities, channel);
  const bot = nameOf(entities, app.botUserId);
  const hasBot = channel.members.includes(app.botUserId);
  if (channel.type === 'im') {
    return (
      <div className="channel-intro">
        <p className="channel-intro-name">{name}</p>
        <p>This is between you and {name}. Just say what you need; each message starts a thread.</p>
      </div>
    );
  }
  return (
    <div className="channel-intro">
      <p className="channel-intro-name">{name}</p>
      <p>
        {hasBot
          ? `The very beginning of ${name}. Write @${bot} and what you need; it answers in a thread.`
          : `The very beginning of ${name}. ${bot} is not in this channel and hears nothing here.`}
      </p>
    </div>
  );
}
