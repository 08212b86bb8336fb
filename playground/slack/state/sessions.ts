import type { AgentSession, SessionStatus } from './types.ts';
import type { WorkspaceState } from './workspace-state.ts';

/** Returns the session of a thread; one left in `processing` for too long becomes `active`. */
export function findSession(
  state: WorkspaceState,
  channel: string,
  threadTs: string,
): AgentSession | undefined {
  const session = state.sessions.get(keyOfSession(channel, threadTs));
  if (session?.status === 'processing' && Date.now() > session.since + state.timings.sessionProcessing) {
    session.status = 'active';
  }
  return session;
}

/** Sets the status of a thread's session, creating the session if needed. */
export function setSessionStatus(
  state: WorkspaceState,
  thread: { channel: string; threadTs: string },
  status: SessionStatus,
  initially: Pick<AgentSession, 'title' | 'initiator'> = {},
): AgentSession {
  const session = findSession(state, thread.channel, thread.threadTs) ?? {
    channel: thread.channel,
    thread_ts: thread.threadTs,
    status,
    since: Date.now(),
    ...initially,
  };
  session.status = status;
  session.since = Date.now();
  delete session.isByLine;
  state.sessions.set(keyOfSession(thread.channel, thread.threadTs), session);
  state.changed();
  return session;
}

/** Returns the key of a thread's session. */
export function keyOfSession(channel: string, threadTs: string): string {
  return `${channel}:${threadTs}`;
}
