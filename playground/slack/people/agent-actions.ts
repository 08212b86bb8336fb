import { findSession } from '../state/sessions.ts';
import { isStreaming } from '../state/streams.ts';
import type { AgentSession, Channel, JsonObject, User } from '../state/types.ts';
import { viewOnWire } from '../state/wire.ts';
import { contentOf, type WorkspaceState } from '../state/workspace-state.ts';
import { authorship } from '../web-api/threads.ts';
import type { SlackContext } from './interaction.ts';
import { NotPossible } from './not-possible.ts';

/** Opens a tab of the app's Home; an agent app also gets the channel in view. */
export function openHome(
  { state }: SlackContext,
  user: User,
  tab: 'home' | 'messages',
  lookingAt: Channel | undefined,
): void {
  if (tab === 'home' && !state.app.homeTab)
    throw new NotPossible(`${state.app.name} has no Home tab to open.`);
  const home = tab === 'home' ? state.homeOf(user.id) : undefined;
  const context = state.app.agent === 'agent_view' ? { context: contextOf(state.team.id, lookingAt) } : {};
  state.emitEvent({
    subscription: 'app_home_opened',
    event: {
      type: 'app_home_opened',
      user: user.id,
      channel: state.openDirectMessage(user.id).id,
      tab,
      ...(home !== undefined && { view: viewOnWire(state, home) }),
      ...context,
    },
  });
}

/** Starts a thread on the older assistant surface; the current one has only the Messages tab. */
export function openAssistantThread(
  { state }: SlackContext,
  user: User,
  lookingAt: Channel | undefined,
): { channel: string; threadTs: string } {
  if (state.app.agent !== 'assistant_view') {
    throw new NotPossible(
      `The app declares ${state.app.agent}, which has no assistant threads; use openHome('messages') and say.`,
    );
  }
  const channel = state.openDirectMessage(user.id);
  const root = state.post({
    ...authorship(state),
    channel: channel.id,
    text: 'New Assistant Thread',
    blocks: [],
    attachments: [],
    subtype: 'assistant_app_thread',
  });
  announceThread({ state }, user, root.ts, lookingAt, 'assistant_thread_started');
  return { channel: channel.id, threadTs: root.ts };
}

/** Views another channel while the app is open beside it. */
export function viewChannel({ state }: SlackContext, user: User, channel: Channel): void {
  if (state.app.agent === 'assistant_view') {
    const thread = state
      .messagesIn(state.openDirectMessage(user.id).id)
      .findLast(({ subtype }) => subtype === 'assistant_app_thread');
    if (thread === undefined) throw new NotPossible(`${user.name} has no assistant thread open.`);
    announceThread({ state }, user, thread.ts, channel, 'assistant_thread_context_changed');
    return;
  }
  state.emitEvent({
    subscription: 'app_context_changed',
    event: {
      type: 'app_context_changed',
      channel: state.openDirectMessage(user.id).id,
      user: user.id,
      context: contextOf(state.team.id, channel),
    },
  });
}

/** Clicks Stop on a processing session. Slack ends the thread's streams and notifies the app, which sets the session's status. */
export function stopSession({ state }: SlackContext, user: User, channel: Channel, threadTs: string): void {
  const session = findSession(state, channel.id, threadTs);
  const shown = 'Nothing is running here.';
  if (session?.status !== 'processing') {
    throw new NotPossible(
      `${user.name} sees no Stop button: the session is ${session?.status ?? 'not there'}.`,
      { shown },
    );
  }
  if (!canStop(state, session)) {
    throw new NotPossible(
      `${user.name} sees no Stop button: the app is not subscribed to agent_session_stopped.`,
      { shown },
    );
  }
  const streaming = state.messagesIn(channel.id, threadTs).filter(isStreaming);
  for (const message of streaming) state.finishStream(message, contentOf(message));
  state.emitEvent({
    subscription: 'agent_session_stopped',
    event: {
      type: 'agent_session_stopped',
      channel: channel.id,
      user: user.id,
      thread_ts: threadTs,
      streaming_message_ts: streaming.map(({ ts }) => ts),
    },
    channel,
  });
}

/** True when Slack shows a Stop button: the session is processing and the app is subscribed to the event. */
export function canStop({ app }: WorkspaceState, session: AgentSession | undefined): boolean {
  return session?.status === 'processing' && app.events.includes('agent_session_stopped');
}

/** Renames a session. */
export function renameSession(
  { state }: SlackContext,
  user: User,
  channel: Channel,
  threadTs: string,
  title: string,
): void {
  const session = findSession(state, channel.id, threadTs);
  if (session === undefined)
    throw new NotPossible(`There is no session ${threadTs} in ${channel.id} to rename.`);
  const previous = session.title === undefined ? {} : { previous_title: session.title };
  session.title = title;
  state.emitEvent({
    subscription: 'agent_session_title_changed',
    event: {
      type: 'agent_session_title_changed',
      channel: channel.id,
      user: user.id,
      team_id: state.team.id,
      thread_ts: threadTs,
      title,
      ...previous,
    },
    channel,
  });
}

function announceThread(
  { state }: Pick<SlackContext, 'state'>,
  user: User,
  threadTs: string,
  lookingAt: Channel | undefined,
  type: 'assistant_thread_started' | 'assistant_thread_context_changed',
): void {
  const context =
    lookingAt === undefined ? {} : { channel_id: lookingAt.id, team_id: state.team.id, enterprise_id: null };
  const channel_id = state.openDirectMessage(user.id).id;
  state.emitEvent({
    subscription: type,
    event: { type, assistant_thread: { user_id: user.id, context, channel_id, thread_ts: threadTs } },
  });
}

function contextOf(teamId: string, channel: Channel | undefined): JsonObject {
  if (channel === undefined) return {};
  return { entities: [{ type: 'slack#/types/channel_id', value: channel.id, team_id: teamId }] };
}
