import { z } from 'zod';
import { LIMITS } from '../../limits.ts';
import { isStreaming } from '../../state/streams.ts';
import { messageOnWire } from '../../state/wire.ts';
import { optionalString, requiredString } from '../arguments.ts';
import { postingChannel, visibleChannel } from '../channels.ts';
import { contentArguments, readContent } from '../message-content.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';
import { appearance, authorship, requireAppearance, requireThread } from '../threads.ts';

export const postMessage = defineMethod(
  z.object({ channel: requiredString, thread_ts: optionalString, ...contentArguments, ...appearance }),
  (given, { state }) => {
    requireAppearance(state, given);
    const channel = postingChannel(state, given.channel);
    const content = readContent(given);
    const thread =
      given.thread_ts === undefined ? {} : { thread_ts: requireThread(state, channel, given.thread_ts) };
    const message = state.post({ ...content, ...thread, ...authorship(state), channel: channel.id });
    const shown = messageOnWire(state, message, message, { metadata: true });
    return { channel: channel.id, ts: message.ts, message: shown };
  },
);

export const postEphemeral = defineMethod(
  z.object({ channel: requiredString, user: requiredString, thread_ts: optionalString, ...contentArguments }),
  (given, { state }) => {
    const channel = postingChannel(state, given.channel);
    if (!channel.members.has(given.user)) throw new Refusal('user_not_in_channel');
    const content = readContent(given);
    const thread =
      given.thread_ts === undefined ? {} : { thread_ts: requireThread(state, channel, given.thread_ts) };
    const message = state.postEphemeral({ ...content, ...thread, channel: channel.id, viewer: given.user });
    return { message_ts: message.ts };
  },
);

export const update = defineMethod(
  z.object({ channel: requiredString, ts: requiredString, ...contentArguments }),
  (given, { state }) => {
    const channel = visibleChannel(state, given.channel);
    const message = state.findMessage(channel.id, given.ts);
    if (message === undefined) throw new Refusal('message_not_found');
    if (message.bot_id !== state.app.botId) throw new Refusal('cant_update_message');
    if (isStreaming(message)) throw new Refusal('streaming_state_conflict');
    if (channel.is_archived) throw new Refusal('is_inactive');
    const content = readContent(given, { textLimit: LIMITS.updateText, previous: message });
    state.edit(message, content, state.app.botUserId);
    const shown = messageOnWire(state, message, message, { metadata: true });
    return { channel: channel.id, ts: message.ts, text: message.text, message: shown };
  },
);

export const remove = defineMethod(
  z.object({ channel: requiredString, ts: requiredString }),
  (given, { state }) => {
    const channel = visibleChannel(state, given.channel);
    const message = state.findMessage(channel.id, given.ts);
    if (message === undefined) throw new Refusal('message_not_found');
    if (message.bot_id !== state.app.botId || isStreaming(message)) throw new Refusal('cant_delete_message');
    if (channel.is_archived) throw new Refusal('is_inactive');
    state.remove(message);
    return { channel: channel.id, ts: message.ts };
  },
);

export const getPermalink = defineMethod(
  z.object({ channel: requiredString, message_ts: requiredString }),
  (given, { state }) => {
    const channel = visibleChannel(state, given.channel);
    const message = state.findMessage(channel.id, given.message_ts);
    if (message === undefined) throw new Refusal('message_not_found');
    const thread = message.thread_ts === undefined ? '' : `?thread_ts=${message.thread_ts}&cid=${channel.id}`;
    const place = `archives/${channel.id}/p${message.ts.replace('.', '')}`;
    return { channel: channel.id, permalink: `https://${state.team.domain}.slack.com/${place}${thread}` };
  },
);
