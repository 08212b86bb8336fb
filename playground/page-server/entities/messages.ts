import type { MessageEntity } from '../../protocol.ts';
import { isStreaming } from '../../slack/state/streams.ts';
import type { EphemeralMessage, Message } from '../../slack/state/types.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import type { Viewpoint } from './viewpoint.ts';

/** Every message of the conversations a person can see, threads included, and those that only they see. */
export function messageEntities({ state, user, channels, timelines }: Viewpoint): MessageEntity[] {
  const own = state.ephemeralsFor(user.id).filter(({ channel }) => channels.has(channel));
  return [
    ...[...timelines.values()].flat().map((message) => messageEntity(state, message)),
    ...own.map((ephemeral) => ephemeralEntity(ephemeral, state.app.botUserId)),
  ];
}

function messageEntity({ files }: WorkspaceState, message: Message): MessageEntity {
  return {
    ...identityOf(message),
    user: message.user,
    text: message.text,
    blocks: message.blocks,
    isEdited: isMarkedAsEdited(message),
    isEphemeral: false,
    isStreaming: isStreaming(message),
    reactions: message.reactions,
    files: (message.files ?? []).flatMap((id) => {
      const file = files.find(id);
      return file === undefined ? [] : [{ name: file.name, type: file.mimetype, size: file.size }];
    }),
  };
}

function ephemeralEntity(message: EphemeralMessage, botUserId: string): MessageEntity {
  return {
    ...identityOf(message),
    user: botUserId,
    text: message.text,
    blocks: message.blocks,
    isEdited: false,
    isEphemeral: true,
    isStreaming: false,
    reactions: [],
    files: [],
  };
}

function identityOf({ channel, ts, thread_ts }: Message | EphemeralMessage) {
  return {
    key: `message:${channel}:${ts}`,
    kind: 'message',
    channel,
    ts,
    ...(thread_ts !== undefined && { threadTs: thread_ts }),
  } as const;
}

/** True when Slack shows "(edited)"; an app's message with blocks is never marked. */
function isMarkedAsEdited({ edited, bot_id, blocks }: Message): boolean {
  return edited !== undefined && (bot_id === undefined || blocks.length === 0);
}
