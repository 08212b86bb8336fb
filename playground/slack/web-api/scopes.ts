import type { AgentSurface, ChannelKind, EventSubscription } from '../state/types.ts';

type ByKind = Readonly<Record<ChannelKind, string>>;

const READ: ByKind = { public: 'channels:read', private: 'groups:read', im: 'im:read', mpim: 'mpim:read' };
const HISTORY: ByKind = {
  public: 'channels:history',
  private: 'groups:history',
  im: 'im:history',
  mpim: 'mpim:history',
};

/** The scopes of which each method needs one; a method that is not listed needs none. */
export const METHOD_SCOPES: Readonly<Record<string, readonly string[]>> = {
  'agents.sessions.rename': ['chat:write'],
  'agents.sessions.setStatus': ['chat:write'],
  'apps.connections.open': ['connections:write'],
  'assistant.threads.setStatus': ['chat:write', 'assistant:write'],
  'assistant.threads.setSuggestedPrompts': ['assistant:write'],
  'assistant.threads.setTitle': ['assistant:write'],
  'bots.info': ['users:read'],
  'chat.appendStream': ['chat:write'],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.startStream': ['chat:write'],
  'chat.stopStream': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': Object.values(HISTORY),
  'conversations.info': Object.values(READ),
  'conversations.members': Object.values(READ),
  'conversations.open': ['im:write'],
  'conversations.replies': Object.values(HISTORY),
  'files.completeUploadExternal': ['files:write'],
  'files.delete': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'files.info': ['files:read'],
  'reactions.add': ['reactions:write'],
  'reactions.get': ['reactions:read'],
  'reactions.remove': ['reactions:write'],
  'team.info': ['team:read'],
  'usergroups.list': ['usergroups:read'],
  'usergroups.users.list': ['usergroups:read'],
  'users.info': ['users:read'],
  'users.list': ['users:read'],
  'users.lookupByEmail': ['users:read.email'],
};

/** The one scope that reads a conversation of a kind, for methods that accept several. */
export const CHANNEL_SCOPES = { read: READ, history: HISTORY } as const;

/** The methods whose scope depends on the kind of conversation, which they find out themselves. */
export const SCOPED_BY_CHANNEL: readonly string[] = [
  'conversations.history',
  'conversations.info',
  'conversations.members',
  'conversations.replies',
];

/** The scopes of which Slack wants one before it lets an app subscribe to an event. */
export const EVENT_SCOPES: Readonly<Record<EventSubscription, readonly string[]>> = {
  agent_session_stopped: ['assistant:write'],
  agent_session_title_changed: ['assistant:write'],
  app_context_changed: ['assistant:write'],
  app_home_opened: [],
  app_mention: ['app_mentions:read'],
  assistant_thread_context_changed: ['assistant:write'],
  assistant_thread_started: ['assistant:write'],
  member_joined_channel: [READ.public, READ.private],
  member_left_channel: [READ.public, READ.private],
  'message.channels': [HISTORY.public],
  'message.groups': [HISTORY.private],
  'message.im': [HISTORY.im],
  'message.mpim': [HISTORY.mpim],
  reaction_added: ['reactions:read'],
  reaction_removed: ['reactions:read'],
};

/** The surfaces on which an event exists; one that is not listed exists on all. */
export const EVENT_SURFACES: Readonly<Partial<Record<EventSubscription, readonly AgentSurface[]>>> = {
  agent_session_stopped: ['agent_view', 'assistant_view'],
  agent_session_title_changed: ['agent_view', 'assistant_view'],
  app_context_changed: ['agent_view'],
  assistant_thread_context_changed: ['assistant_view'],
  assistant_thread_started: ['assistant_view'],
};

/** Every event an app can subscribe to here. */
export const EVENT_SUBSCRIPTIONS: readonly EventSubscription[] =
  Object.keys(EVENT_SCOPES).filter(isSubscription);

/** True for the name of an event this workspace can send. */
export function isSubscription(name: string): name is EventSubscription {
  return Object.hasOwn(EVENT_SCOPES, name);
}
