import type { StatusEntity } from '../../protocol.ts';
import { canStop } from '../../slack/people/agent-actions.ts';
import { findSession } from '../../slack/state/sessions.ts';
import type { Viewpoint } from './viewpoint.ts';

/** Builds the app's status for each visible thread, and whether the person can stop it. */
export function statusEntities({ state, channels }: Viewpoint): StatusEntity[] {
  const threads = [...new Set([...state.threadStatus.keys(), ...state.sessions.keys()])];
  return threads.flatMap((thread) => {
    const [channel = '', threadTs = ''] = thread.split(':');
    if (!channels.has(channel)) return [];
    const session = findSession(state, channel, threadTs);
    return {
      key: `status:${thread}`,
      kind: 'status',
      channel,
      threadTs,
      text: state.threadStatus.get(thread) ?? '',
      ...(session !== undefined && {
        session: {
          status: session.status,
          ...(session.title !== undefined && { title: session.title }),
        },
      }),
      canStop: canStop(state, session),
    };
  });
}
