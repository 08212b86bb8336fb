import { useEntity } from '../client/store.ts';
import { RouteLink } from '../navigation/route-link.tsx';
import { Avatar } from '../people/avatar.tsx';
import { StatusLine } from '../thread/status-line.tsx';
import { formatAgo, momentOf } from './format-moment.ts';

const SHOWN_PARTICIPANTS = 4;

/** The thread summary below a root: replies, participants, unread count and the app's status. */
export function RepliesLink({ channel, ts }: { channel: string; ts: string }) {
  const thread = useEntity(`thread:${channel}:${ts}`);
  if (thread === undefined || thread.replies === 0) return <StatusLine channel={channel} threadTs={ts} />;
  const { replies, participants, lastReply, unread } = thread;
  return (
    <div className="replies">
      <RouteLink className="replies-link" route={{ screen: { kind: 'channel', channel, threadTs: ts } }}>
        <span className="replies-faces" aria-hidden="true">
          {participants.slice(0, SHOWN_PARTICIPANTS).map((userId) => (
            <Avatar key={userId} userId={userId} size={22} />
          ))}
        </span>
        <span className="replies-count">
          {replies} {replies === 1 ? 'reply' : 'replies'}
        </span>
        {unread > 0 && <span className="replies-new">{unread} new</span>}
        <span className="replies-last">Last reply {formatAgo(momentOf(lastReply), new Date())}</span>
      </RouteLink>
      <StatusLine channel={channel} threadTs={ts} />
    </div>
  );
}
