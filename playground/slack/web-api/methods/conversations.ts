import { z } from 'zod';
import { LIMITS } from '../../limits.ts';
import { channelOnWire, messageOnWire } from '../../state/wire.ts';
import { flag, optionalString, pageSize, paginate, requiredString } from '../arguments.ts';
import { readableChannel, requireScope, visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

export const info = defineMethod(z.object({ channel: requiredString }), (given, { state }) => ({
  channel: channelOnWire(state, readableChannel(state, given.channel, 'read')),
}));

export const open = defineMethod(
  z.object({ channel: optionalString, users: optionalString, return_im: flag, prevent_creation: flag }),
  (given, { state }) => {
    if (given.channel !== undefined) {
      const channel = visibleChannel(state, given.channel);
      if (channel.kind !== 'im') throw new Refusal('method_not_supported_for_channel_type');
      return { no_op: true, already_open: true, channel: { id: channel.id } };
    }
    if (given.users === undefined) throw new Refusal('users_list_not_supplied');
    const ids = given.users.split(',').map((id) => id.trim());
    if (ids.length > LIMITS.directMessageUsers) throw new Refusal('too_many_users');
    const users = ids.map((id) => state.users.get(id));
    if (users.some((user) => user === undefined || user.is_stranger)) throw new Refusal('user_not_found');
    if (users.some((user) => user?.deleted)) throw new Refusal('user_disabled');
    if (users.some((user) => user?.is_bot)) throw new Refusal('cannot_dm_bot');
    const [only] = ids;
    if (only === undefined || ids.length > 1) {
      requireScope(state, 'mpim:write');
      throw new Refusal('method_not_supported_for_channel_type');
    }
    if (given.prevent_creation && !state.hasDirectMessage(only)) throw new Refusal('channel_not_found');
    const before = state.channels.size;
    const channel = state.openDirectMessage(only);
    const isOld = state.channels.size === before;
    return {
      ...(isOld && { no_op: true, already_open: true }),
      channel: given.return_im ? channelOnWire(state, channel) : { id: channel.id },
    };
  },
);

export const members = defineMethod(
  z.object({ channel: requiredString, cursor: optionalString, limit: pageSize(100) }),
  (given, { state }) => {
    const channel = readableChannel(state, given.channel, 'read');
    const { page, nextCursor } = paginate([...channel.members], given.limit, given.cursor);
    return { members: page, response_metadata: { next_cursor: nextCursor } };
  },
);

const range = {
  channel: requiredString,
  cursor: optionalString,
  latest: optionalString,
  oldest: optionalString,
  inclusive: flag,
  include_all_metadata: flag,
};

export const history = defineMethod(z.object({ ...range, limit: pageSize(100) }), (given, { state }) => {
  const channel = readableChannel(state, given.channel, 'history');
  if (!channel.members.has(state.app.botUserId)) throw new Refusal('not_in_channel');
  const newestFirst = state.messagesIn(channel.id).filter(within(given)).reverse();
  const { page, hasMore, nextCursor } = paginate(newestFirst, given.limit, given.cursor);
  const metadata = given.include_all_metadata;
  return {
    messages: page.map((message) => messageOnWire(state, message, message, { metadata })),
    has_more: hasMore,
    pin_count: 0,
    ...(hasMore && { response_metadata: { next_cursor: nextCursor } }),
  };
});

export const replies = defineMethod(
  z.object({ ...range, ts: requiredString, limit: pageSize(1_000) }),
  (given, { state }) => {
    const channel = readableChannel(state, given.channel, 'history');
    if (!channel.members.has(state.app.botUserId)) throw new Refusal('not_in_channel');
    if (state.findMessage(channel.id, given.ts) === undefined) throw new Refusal('thread_not_found');
    const isRoot = (message: { ts: string }) => message.ts === given.ts;
    const inRange = within(given);
    const thread = state
      .messagesIn(channel.id, given.ts)
      .filter((message) => isRoot(message) || inRange(message));
    const { page, hasMore, nextCursor } = paginate(thread, given.limit, given.cursor);
    const metadata = given.include_all_metadata;
    return {
      messages: page.map((message) => messageOnWire(state, message, message, { metadata })),
      has_more: hasMore,
      ...(hasMore && { response_metadata: { next_cursor: nextCursor } }),
    };
  },
);

function within(given: { latest?: string | undefined; oldest?: string | undefined; inclusive: boolean }) {
  const oldest = given.oldest === undefined ? 0 : Number(given.oldest);
  const latest = given.latest === undefined ? Number.POSITIVE_INFINITY : Number(given.latest);
  return ({ ts }: { ts: string }) => {
    const at = Number(ts);
    return given.inclusive ? at >= oldest && at <= latest : at > oldest && at < latest;
  };
}
