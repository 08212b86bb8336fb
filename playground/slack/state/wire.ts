import { attachedFileOnWire } from '../files/file-on-wire.ts';
import { blocksAsKept } from '../shortcomings.ts';
import { isStreaming } from './streams.ts';
import type { Channel, JsonObject, Message, MessageContent, User, UserGroup, View } from './types.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** A message as the Web API and the events show it. */
export function messageOnWire(
  state: WorkspaceState,
  message: Message,
  content: MessageContent = message,
  options: { metadata: boolean } = { metadata: false },
): JsonObject {
  const { app, team } = state;
  const isTombstone = message.subtype === 'tombstone' && content === message;
  const isBot = message.bot_id !== undefined && !isTombstone;
  const replies = state.log.repliesTo(message.channel, message.ts);
  const root =
    message.thread_ts === undefined ? undefined : state.findMessage(message.channel, message.thread_ts);
  return {
    type: 'message',
    ...((isTombstone || message.subtype !== 'tombstone') &&
      message.subtype !== undefined && { subtype: message.subtype }),
    user: isTombstone ? 'USLACKBOT' : message.user,
    ...(isTombstone && { hidden: true }),
    ts: message.ts,
    ...(message.client_msg_id !== undefined && { client_msg_id: message.client_msg_id }),
    ...(isBot && { bot_id: message.bot_id, app_id: message.app_id }),
    text: content.text,
    // Slack leaves the team out of a message with files.
    ...(message.files === undefined && { team: message.team }),
    ...(isBot && {
      bot_profile: {
        id: message.bot_id,
        app_id: message.app_id,
        name: message.bot_id === app.botId ? app.name : (state.users.get(message.user)?.real_name ?? 'bot'),
        deleted: false,
        updated: 0,
        team_id: team.id,
      },
    }),
    ...(message.files !== undefined &&
      !isTombstone && {
        files: message.files.flatMap((id) => {
          const file = state.files.find(id);
          return file === undefined ? [] : [attachedFileOnWire(state, file)];
        }),
        upload: true,
        display_as_bot: false,
      }),
    ...(content.blocks.length > 0 && { blocks: blocksAsKept(state.shortcomings, content.blocks) }),
    ...(content.attachments.length > 0 && { attachments: structuredClone(content.attachments) }),
    ...(options.metadata &&
      !state.shortcomings.has('metadata-lost') &&
      content.metadata !== undefined && { metadata: structuredClone(content.metadata) }),
    ...(message.edited !== undefined && content === message && { edited: message.edited }),
    ...(message.thread_ts !== undefined && { thread_ts: message.thread_ts }),
    ...(root !== undefined && { parent_user_id: root.user }),
    ...(message.stream !== undefined && {
      streaming_state: isStreaming(message) ? 'in_progress' : 'completed',
    }),
    ...(replies.length > 0 && {
      thread_ts: message.ts,
      reply_count: replies.length,
      reply_users: [...new Set(replies.map((reply) => reply.user))],
      reply_users_count: new Set(replies.map((reply) => reply.user)).size,
      latest_reply: replies.at(-1)?.ts,
    }),
    ...(message.reactions.length > 0 && {
      reactions: message.reactions.map(({ name, users }) => ({
        name,
        users: [...users],
        count: users.length,
      })),
    }),
  };
}

/** A channel as `conversations.info` shows it to the bot. */
export function channelOnWire(state: WorkspaceState, channel: Channel): JsonObject {
  const base = {
    id: channel.id,
    created: channel.created,
    is_archived: channel.is_archived,
    is_im: channel.kind === 'im',
    is_org_shared: false,
    context_team_id: state.team.id,
  };
  if (channel.kind === 'im') {
    const user = [...channel.members].find((member) => member !== state.app.botUserId);
    return { ...base, user, is_user_deleted: state.users.get(user ?? '')?.deleted ?? true };
  }
  return {
    ...base,
    name: channel.name,
    name_normalized: channel.name,
    is_channel: channel.kind === 'public',
    is_group: channel.kind === 'private',
    is_mpim: channel.kind === 'mpim',
    is_private: channel.kind !== 'public',
    is_general: false,
    is_member: channel.members.has(state.app.botUserId),
    num_members: channel.members.size,
    ...sharingOf(state, channel),
    topic: { value: channel.topic?.value ?? '', creator: channel.topic?.creator ?? '', last_set: 0 },
  };
}

/** Tells with which other organisations a channel is shared. */
function sharingOf({ team, users }: WorkspaceState, { members }: Channel): JsonObject {
  const others = [...members].flatMap((id) => users.get(id)?.team_id ?? []).filter((id) => id !== team.id);
  const isShared = others.length > 0;
  return {
    is_shared: isShared,
    is_ext_shared: isShared,
    is_pending_ext_shared: false,
    ...(isShared && { shared_team_ids: [team.id, ...new Set(others)] }),
  };
}

/** A user as `users.info` shows it to the bot. */
export function userOnWire(state: WorkspaceState, { status, ...user }: User): JsonObject {
  const isOwnBot = user.id === state.app.botUserId;
  const hasEmail = state.app.scopes.includes('users:read.email') && !user.is_bot;
  return {
    ...user,
    is_owner: false,
    is_primary_owner: false,
    is_app_user: false,
    updated: 0,
    profile: {
      real_name: user.real_name,
      display_name: user.name,
      team: user.team_id,
      ...(hasEmail && { email: `${user.name}@${state.team.domain}.example` }),
      status_text: status?.text ?? '',
      status_emoji: status?.emoji ?? '',
      status_expiration: status?.expiration ?? 0,
      ...(isOwnBot && { bot_id: state.app.botId, api_app_id: state.app.id }),
    },
  };
}

/** A user group as `usergroups.list` shows it. */
export function userGroupOnWire(state: WorkspaceState, group: UserGroup, includeUsers: boolean): JsonObject {
  return {
    id: group.id,
    team_id: state.team.id,
    is_usergroup: true,
    is_subteam: true,
    is_external: false,
    name: group.name,
    handle: group.handle,
    description: '',
    date_delete: group.disabled ? 1 : 0,
    user_count: group.users.length,
    ...(includeUsers && { users: [...group.users] }),
  };
}

/** A view as the Web API and the interactions show it. */
export function viewOnWire(state: WorkspaceState, view: View, values: JsonObject = {}): JsonObject {
  return {
    id: view.id,
    team_id: view.team_id,
    type: view.type,
    blocks: structuredClone(view.blocks),
    private_metadata: view.private_metadata,
    callback_id: view.callback_id,
    state: { values },
    hash: view.hash,
    title: view.title ?? null,
    clear_on_close: view.clear_on_close,
    notify_on_close: view.notify_on_close,
    close: view.close ?? null,
    submit: view.submit ?? null,
    previous_view_id: view.previous_view_id,
    root_view_id: view.root_view_id,
    app_id: state.app.id,
    external_id: view.external_id,
    app_installed_team_id: state.team.id,
    bot_id: state.app.botId,
  };
}
