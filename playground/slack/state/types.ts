/** Anything that came as JSON and is kept as it came. */
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
}

export type ChannelKind = 'public' | 'private' | 'im';

/** A conversation; `members` are user ids, the bot's included. */
export interface Channel {
  id: string;
  name: string;
  kind: ChannelKind;
  is_archived: boolean;
  created: number;
  members: Set<string>;
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

/** What a message says; an edit replaces it and keeps the old one in the history. */
export interface MessageContent {
  text: string;
  blocks: Block[];
  attachments: JsonObject[];
  metadata?: { event_type: string; event_payload: JsonObject };
}

export interface Message extends MessageContent {
  channel: string;
  ts: string;
  user: string;
  team: string;
  thread_ts?: string;
  subtype?: 'bot_message';
  bot_id?: string;
  app_id?: string;
  client_msg_id?: string;
  edited?: { user: string; ts: string };
  reactions: { name: string; users: string[] }[];
  deleted: boolean;
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
  /** What the person saw under the inputs after the last refused submission. */
  errors: Record<string, string>;
}

/** The events an app can subscribe to here. */
export type EventSubscription = 'app_mention' | 'message.channels' | 'message.groups' | 'message.im';

/** The installed app and its bot user. */
export interface InstalledApp {
  id: string;
  name: string;
  botId: string;
  botUserId: string;
  scopes: readonly string[];
  events: readonly EventSubscription[];
  commands: readonly string[];
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
