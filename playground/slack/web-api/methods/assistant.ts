import { z } from 'zod';
import { LIMITS } from '../../limits.ts';
import { findSession, setSessionStatus } from '../../state/sessions.ts';
import type { WorkspaceState } from '../../state/workspace-state.ts';
import { json, optionalString, requiredString } from '../arguments.ts';
import { visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';
import { appearance, requireAppearance } from '../threads.ts';

const promptList = z
  .array(z.strictObject({ title: z.string().min(1), message: z.string().min(1) }))
  .min(1)
  .max(LIMITS.suggestedPrompts);

export const setStatus = defineMethod(
  z.object({
    channel_id: requiredString,
    thread_ts: requiredString,
    status: z.string(),
    loading_messages: json('invalid_arguments'),
    ...appearance,
  }),
  (given, { state }) => {
    requireAppearance(state, given);
    const thread = requireThread(state, given.channel_id, given.thread_ts);
    const messages = given.loading_messages;
    if (
      messages !== undefined &&
      (!Array.isArray(messages) || messages.length > LIMITS.statusLoadingMessages)
    ) {
      throw new Refusal('invalid_arguments');
    }
    const key = `${thread.channel}:${thread.threadTs}`;
    if (given.status === '') state.threadStatus.delete(key);
    else state.threadStatus.set(key, given.status);
    // Slack carries the older status over to the session of the thread.
    if (state.app.agent !== 'none') {
      const session = setSessionStatus(state, thread, given.status === '' ? 'active' : 'processing');
      if (given.status !== '') session.isByLine = true;
    }
    state.changed();
    return {};
  },
);

export const setTitle = defineMethod(
  z.object({ channel_id: requiredString, thread_ts: requiredString, title: z.string().min(1) }),
  (given, { state }) => {
    const thread = requireThread(state, given.channel_id, given.thread_ts);
    const session =
      findSession(state, thread.channel, thread.threadTs) ?? setSessionStatus(state, thread, 'active');
    session.title = given.title;
    state.changed();
    return {};
  },
);

export const setSuggestedPrompts = defineMethod(
  z.object({
    channel_id: requiredString,
    thread_ts: optionalString,
    title: optionalString,
    prompts: json('invalid_arguments').pipe(promptList),
  }),
  (given, { state }) => {
    const channel = visibleChannel(state, given.channel_id);
    // Slack answers an agent that names a thread with ok, and shows nothing.
    if (state.app.agent === 'agent_view' && given.thread_ts !== undefined) return {};
    if (given.thread_ts !== undefined) requireThread(state, channel.id, given.thread_ts);
    const key = given.thread_ts === undefined ? channel.id : `${channel.id}:${given.thread_ts}`;
    const { prompts, title } = given;
    state.suggestedPrompts.set(key, { prompts, ...(title !== undefined && { title }) });
    state.changed();
    return {};
  },
);

function requireThread(state: WorkspaceState, channelId: string, threadTs: string) {
  const channel = visibleChannel(state, channelId);
  if (state.findMessage(channel.id, threadTs) === undefined) throw new Refusal('invalid_thread_ts');
  return { channel: channel.id, threadTs };
}
