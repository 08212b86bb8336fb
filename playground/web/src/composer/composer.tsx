import type { ChannelEntity } from '../../../protocol.ts';
import { act } from '../client/act.ts';
import { nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { channelName } from '../navigation/screen-name.ts';
import { ComposerField } from './composer-field.tsx';
import './composer.css';

/** The composer, or the reason why the person cannot write. */
export function Composer({ channel, threadTs }: { channel: ChannelEntity; threadTs?: string }) {
  const entities = useEntities();
  const { me } = useWorkspace();
  const name = channelName(entities, channel);
  if (channel.isArchived)
    return <p className="composer-notice">{name} is archived. You can't send messages here.</p>;
  if (!channel.isMember) {
    return (
      <div className="composer-notice">
        <p>You're viewing {name} but haven't joined it.</p>
        <button
          type="button"
          className="text-button text-button-good"
          onClick={() => void act('join', { channel: channel.id })}
        >
          Join channel
        </button>
      </div>
    );
  }
  const label = threadTs === undefined ? `Message ${name}` : 'Reply';
  return (
    <ComposerField
      key={`${me}:${channel.id}:${threadTs}`}
      channel={channel}
      {...(threadTs !== undefined && { threadTs })}
      label={label}
      placeholder={`${label} as ${nameOf(entities, me)}`}
    />
  );
}
