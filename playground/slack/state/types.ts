import type { StreamChunk } from '../block-kit/chunks.ts';

/** A JSON object of unknown shape, kept unchanged. */
export type JsonObject = Record<string, unknown>;

/** A person or a bot, in the shape of `users.info`. */
export interface User {
  id: string;
  team_id: string;
  name: string;
  real_name: string;
  deleted: boolean;
  is_bot: boolean;
  is_admin: boolean;
  is_restricted: boolean;
  is_ultra_restricted: boolean;
  /** True for a person of another workspace with whom no channel is shared. */
  is_stranger: boolean;
  tz: string;
  tz_label: string;
  tz_offset: number;
  /** The status that the person has set; `expiration` is in seconds, and 0 if it never ends. */
  status?: { text: string; emoji: string; expiration: number };
}

export type ChannelKind = 'public' | 'private' | 'im' | 'mpim';

/** A conversation; `members` are user ids, the bot's included. */
export interface Channel {
  id: string;
  name: string;
  kind: ChannelKind;
  is_archived: boolean;
  created: number;
  members: Set<string>;
  /** The topic, and who set it; missing where nobody has. */
  topic?: { value: string; creator: string };
}

export interface UserGroup {
  id: string;
  handle: string;
  name: string;
  users: string[];
  /** True for a group that was disabled. */
  disabled: boolean;
}

export type Block = JsonObject & { type: string; block_id: string };

/** Content of a message; an edit replaces it and moves the old one to the history. */
export interface MessageContent {
  text: string;
  blocks: Block[];
  attachments: JsonObject[];
  metadata?: { event_type: string; event_payload: JsonObject };
}

/** An app's update of one of its tasks. */
export type TaskChunk = Extract<StreamChunk, { type: 'task_update' }>;
/** One part of a streamed message. */
export type StreamPart =
  | { kind: 'markdown'; text: string }
  | { kind: 'task'; task: TaskChunk }
  | { kind: 'blocks'; blocks: Block[] };

/** A streamed message; it accepts either text or chunks, decided by the first, until it stops or expires. */
export interface MessageStream {
  state: 'in_progress' | 'completed';
  mode?: 'text' | 'chunks';
  expiresAt: number;
  display: 'timeline' | 'plan';
  planTitle?: string;
  /** True where each call begins a block of its own. */
  isInPieces?: boolean;
  parts: StreamPart[];
}

export interface Message extends MessageContent {
  channel: string;
  ts: string;
  user: string;
  team: string;
  thread_ts?: string;
  /** A tombstone stands for a deleted message that has replies. */
  subtype?: 'bot_message' | 'assistant_app_thread' | 'file_share' | 'tombstone';
  /** The ids of its files. */
  files?: string[];
  bot_id?: string;
  app_id?: string;
  client_msg_id?: string;
  edited?: { user: string; ts: string };
  reactions: { name: string; users: string[] }[];
  deleted: boolean;
  /** The stream; missing for a message that was posted whole. */
  stream?: MessageStream;
  /** Every earlier content, oldest first. */
  history: MessageContent[];
}

/** A message that one person sees, and that no method of the Web API can read or update. */
export interface EphemeralMessage extends MessageContent {
  channel: string;
  ts: string;
  /** The only person who sees it. */
  viewer: string;
  thread_ts?: string;
  deleted: boolean;
}

/** A modal or a Home tab as Slack keeps it for one person. */
export interface View {
  id: string;
  team_id: string;
  type: 'modal' | 'home';
  viewer: string;
  title?: JsonObject;
  submit?: JsonObject;
  close?: JsonObject;
  blocks: Block[];
  private_metadata: string;
  callback_id: string;
  external_id: string;
  hash: string;
  clear_on_close: boolean;
  notify_on_close: boolean;
  root_view_id: string;
  previous_view_id: string | null;
  open: boolean;
  /** Errors under the inputs after the last refused submission. */
  errors: Record<string, string>;
}

/** The events an app can subscribe to here. */
export type EventSubscription =
  | 'agent_session_stopped'
  | 'agent_session_title_changed'
  | 'app_context_changed'
  | 'app_home_opened'
  | 'app_mention'
  | 'assistant_thread_context_changed'
  | 'assistant_thread_started'
  | 'member_joined_channel'
  | 'member_left_channel'
  | 'message.channels'
  | 'message.groups'
  | 'message.im'
  | 'message.mpim'
  | 'reaction_added'
  | 'reaction_removed';

/** The agent surface that the app's manifest declares. */
export type AgentSurface = 'agent_view' | 'assistant_view' | 'none';

/** An agent's conversation in one thread, as Slack's list of sessions shows it. */
export interface AgentSession {
  channel: string;
  thread_ts: string;
  status: SessionStatus;
  title?: string;
  initiator?: string;
  /** Time of the last status change. */
  since: number;
  /** True while the status comes from the status line of the thread, and ends with it. */
  isByLine?: boolean;
}

export type SessionStatus = 'active' | 'processing' | 'suspended' | 'closed';

/** The prompts a person is offered before they write. */
export interface SuggestedPrompts {
  title?: string;
  prompts: { title: string; message: string }[];
}

/** The installed app and its bot user. */
export interface InstalledApp {
  id: string;
  name: string;
  botId: string;
  botUserId: string;
  scopes: readonly string[];
  events: readonly EventSubscription[];
  commands: readonly string[];
  /** The commands whose text has mentions with ids, if there are any. */
  escapedCommands?: readonly string[];
  /** The callback ids of its message shortcuts, if it has any. */
  shortcuts?: readonly string[];
  agent: AgentSurface;
  /** Prompts of its manifest, used until the app sets its own. */
  suggestedPrompts: SuggestedPrompts['prompts'];
  /** True when the app has a Home tab. */
  homeTab: boolean;
  /** True when Slack reaches the app over WebSockets; otherwise it posts to the request URL. */
  socketMode: boolean;
  requestUrl?: string;
  /** True after the app was removed from the workspace or its token revoked. */
  isTokenRevoked: boolean;
  botToken: string;
  appToken: string;
  signingSecret: string;
  verificationToken: string;
}

export interface Team {
  id: string;
  name: string;
  domain: string;
}
