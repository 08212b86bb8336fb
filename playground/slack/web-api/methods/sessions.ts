import { z } from 'zod';
import { LIMITS } from '../../limits.ts';
import { findSession, setSessionStatus } from '../../state/sessions.ts';
import type { SessionStatus } from '../../state/types.ts';
import type { WorkspaceState } from '../../state/workspace-state.ts';
import { optionalString, requiredString } from '../arguments.ts';
import { visibleChannel } from '../channels.ts';
import { defineMethod } from '../method.ts';
import { Refusal } from '../refusal.ts';
import { appearance, requireAppearance } from '../threads.ts';

const STATUSES: readonly SessionStatus[] = ['active', 'processing', 'suspended', 'closed'];
const title = z.string().min(1).max(LIMITS.sessionTitle);

export const setStatus = defineMethod(
  z.object({
    channel_id: requiredString,
    thread_ts: optionalString,
    status: requiredString,
    title: title.optional(),
    initiator_user_id: optionalString,
    ...appearance,
  }),
  (given, { state }) => {
    requireAppearance(state, given);
    const status = requireStatus(given.status);
    const thread = requireSessionThread(state, given);
    const initiator = given.initiator_user_id;
    if (initiator !== undefined && !thread.members.has(initiator)) throw new Refusal('user_not_found');
    const session = setSessionStatus(state, thread, status, {
      ...(given.title !== undefined && { title: given.title }),
      ...(initiator !== undefined && { initiator }),
    });
    const warning = 'missing_agent_session_stopped_event_subscription';
    return {
      status: session.status,
      agent_status: session.status,
      ...(session.title !== undefined && { title: session.title }),
      ...(!state.app.events.includes('agent_session_stopped') && {
        warning,
        response_metadata: { warnings: [warning] },
      }),
    };
  },
);

export const rename = defineMethod(
  z.object({ channel_id: requiredString, thread_ts: optionalString, title }),
  (given, { state }) => {
    const { channel, threadTs } = requireSessionThread(state, given);
    const session = findSession(state, channel, threadTs);
    if (session === undefined) throw new Refusal('session_not_found');
    session.title = given.title;
    state.changed();
    return { title: session.title };
  },
);

/** The status a call names, or the refusal of anything else. */
export function requireStatus(given: string): SessionStatus {
  const status = STATUSES.find((each) => each === given);
  if (status === undefined) throw new Refusal('invalid_status');
  return status;
}

/** The thread of a session: only an app declared as an agent has any, and only where its bot is. */
function requireSessionThread(
  state: WorkspaceState,
  given: { channel_id: string; thread_ts?: string | undefined },
): { channel: string; threadTs: string; members: ReadonlySet<string> } {
  const channel = visibleChannel(state, given.channel_id);
  if (state.app.agent === 'none' || !channel.members.has(state.app.botUserId))
    throw new Refusal('not_authorized');
  state.used.scopes.add('assistant:write');
  if (given.thread_ts === undefined) throw new Refusal('thread_ts_required');
  if (state.findMessage(channel.id, given.thread_ts) === undefined) throw new Refusal('thread_not_found');
  return { channel: channel.id, threadTs: given.thread_ts, members: channel.members };
}
