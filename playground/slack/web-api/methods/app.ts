import { z } from 'zod';
import { LIMITS } from '../../limits.ts';
import { json, word } from '../arguments.ts';
import { visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';

export const authTest = defineMethod(
  z.object({}),
  (_given, { state, token }) => {
    const { app, team } = state;
    if (token === 'app') return { app_name: app.name, app_id: app.id };
    return {
      url: `https://${team.domain}.slack.com/`,
      team: team.name,
      user: state.users.get(app.botUserId)?.name,
      team_id: team.id,
      user_id: app.botUserId,
      bot_id: app.botId,
      is_enterprise_install: false,
    };
  },
  ['bot', 'app'],
);

export const connectionsOpen = defineMethod(
  z.object({}),
  (_given, { openSocketUrl }) => ({ url: openSocketUrl() }),
  ['app'],
);

export const setThreadStatus = defineMethod(
  z.object({
    channel_id: word,
    thread_ts: word,
    status: z.string(),
    loading_messages: json('invalid_arguments'),
  }),
  (given, { state }) => {
    const channel = visibleChannel(state, given.channel_id);
    if (state.findMessage(channel.id, given.thread_ts) === undefined) throw new Refusal('invalid_thread_ts');
    const messages = given.loading_messages;
    if (
      messages !== undefined &&
      (!Array.isArray(messages) || messages.length > LIMITS.statusLoadingMessages)
    ) {
      throw new Refusal('invalid_arguments');
    }
    const key = `${channel.id}:${given.thread_ts}`;
    if (given.status === '') state.threadStatus.delete(key);
    else state.threadStatus.set(key, given.status);
    state.changed();
    return {};
  },
);
