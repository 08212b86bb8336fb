import type { ChannelKind, EventSubscription } from '../state/types.ts';

type ByKind = Readonly<Record<ChannelKind, string>>;

const READ: ByKind = { public: 'channels:read', private: 'groups:read', im: 'im:read' };
const HISTORY: ByKind = { public: 'channels:history', private: 'groups:history', im: 'im:history' };

/** The scopes of which each method needs one; a method that is not listed needs none. */
export const METHOD_SCOPES: Readonly<Record<string, readonly string[]>> = {
  'apps.connections.open': ['connections:write'],
  'assistant.threads.setStatus': ['chat:write', 'assistant:write'],
  'bots.info': ['users:read'],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': Object.values(HISTORY),
  'conversations.info': Object.values(READ),
  'conversations.members': Object.values(READ),
  'conversations.open': ['im:write'],
  'conversations.replies': Object.values(HISTORY),
  'reactions.add': ['reactions:write'],
  'reactions.remove': ['reactions:write'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  'users.info': ['users:read'],
  'users.list': ['users:read'],
};

/** The one scope that reads a conversation of a kind, for methods that accept several. */
export const CHANNEL_SCOPES = { read: READ, history: HISTORY } as const;

/** The scope without which Slack does not let an app subscribe to an event. */
export const EVENT_SCOPES: Readonly<Record<EventSubscription, string>> = {
  app_mention: 'app_mentions:read',
  'message.channels': HISTORY.public,
  'message.groups': HISTORY.private,
  'message.im': HISTORY.im,
};
