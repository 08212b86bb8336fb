import { z } from 'zod';
import { taskUpdate } from '../block-kit/chunks.ts';
import { isSubscription } from '../web-api/scopes.ts';
import type { EventSubscription } from './types.ts';

const json = z.record(z.string(), z.unknown());
const texts = z.array(z.string());
const block = z.looseObject({ type: z.string(), block_id: z.string() });
const event = z.custom<EventSubscription>((name) => typeof name === 'string' && isSubscription(name));

const content = {
  text: z.string(),
  blocks: z.array(block),
  attachments: z.array(json),
  metadata: z.strictObject({ event_type: z.string(), event_payload: json }).exactOptional(),
};

const user = z.strictObject({
  id: z.string(),
  team_id: z.string(),
  name: z.string(),
  real_name: z.string(),
  deleted: z.boolean(),
  is_bot: z.boolean(),
  is_admin: z.boolean(),
  is_restricted: z.boolean(),
  is_ultra_restricted: z.boolean(),
  is_stranger: z.boolean(),
  tz: z.string(),
  tz_label: z.string(),
  tz_offset: z.number(),
  status: z.strictObject({ text: z.string(), emoji: z.string(), expiration: z.number() }).exactOptional(),
});

const channel = z.strictObject({
  id: z.string(),
  name: z.string(),
  kind: z.enum(['public', 'private', 'im', 'mpim']),
  is_archived: z.boolean(),
  created: z.number(),
  members: texts,
  topic: z.strictObject({ value: z.string(), creator: z.string() }).exactOptional(),
});

const userGroup = z.strictObject({
  id: z.string(),
  handle: z.string(),
  name: z.string(),
  users: texts,
  disabled: z.boolean(),
});

const stream = z.strictObject({
  state: z.enum(['in_progress', 'completed']),
  mode: z.enum(['text', 'chunks']).exactOptional(),
  expiresAt: z.number(),
  display: z.enum(['timeline', 'plan']),
  planTitle: z.string().exactOptional(),
  parts: z.array(
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('markdown'), text: z.string() }),
      z.strictObject({ kind: z.literal('task'), task: taskUpdate }),
      z.strictObject({ kind: z.literal('blocks'), blocks: z.array(block) }),
    ]),
  ),
});

const message = z.strictObject({
  ...content,
  channel: z.string(),
  ts: z.string(),
  user: z.string(),
  team: z.string(),
  thread_ts: z.string().exactOptional(),
  subtype: z.enum(['bot_message', 'assistant_app_thread', 'file_share', 'tombstone']).exactOptional(),
  files: texts.exactOptional(),
  bot_id: z.string().exactOptional(),
  app_id: z.string().exactOptional(),
  client_msg_id: z.string().exactOptional(),
  edited: z.strictObject({ user: z.string(), ts: z.string() }).exactOptional(),
  reactions: z.array(z.strictObject({ name: z.string(), users: texts })),
  deleted: z.boolean(),
  stream: stream.exactOptional(),
  history: z.array(z.strictObject(content)),
});

const file = z.strictObject({
  id: z.string(),
  name: z.string(),
  title: z.string(),
  mimetype: z.string(),
  user: z.string(),
  created: z.number(),
  size: z.number(),
  /** In base64. */
  bytes: z.string(),
  filler: z.number(),
  shares: z.array(
    z.strictObject({ channel: z.string(), ts: z.string(), thread_ts: z.string().exactOptional() }),
  ),
  deleted: z.boolean(),
});

const ephemeral = z.strictObject({
  ...content,
  channel: z.string(),
  ts: z.string(),
  viewer: z.string(),
  thread_ts: z.string().exactOptional(),
  deleted: z.boolean(),
});

const view = z.strictObject({
  id: z.string(),
  team_id: z.string(),
  type: z.enum(['modal', 'home']),
  viewer: z.string(),
  title: json.exactOptional(),
  submit: json.exactOptional(),
  close: json.exactOptional(),
  blocks: z.array(block),
  private_metadata: z.string(),
  callback_id: z.string(),
  external_id: z.string(),
  hash: z.string(),
  clear_on_close: z.boolean(),
  notify_on_close: z.boolean(),
  root_view_id: z.string(),
  previous_view_id: z.string().nullable(),
  open: z.boolean(),
  errors: z.record(z.string(), z.string()),
});

const session = z.strictObject({
  channel: z.string(),
  thread_ts: z.string(),
  status: z.enum(['active', 'processing', 'suspended', 'closed']),
  title: z.string().exactOptional(),
  initiator: z.string().exactOptional(),
  since: z.number(),
  isByLine: z.boolean().exactOptional(),
});

const prompts = z.strictObject({
  title: z.string().exactOptional(),
  prompts: z.array(z.strictObject({ title: z.string(), message: z.string() })),
});

const app = z.strictObject({
  id: z.string(),
  name: z.string(),
  botId: z.string(),
  botUserId: z.string(),
  scopes: texts,
  events: z.array(event),
  commands: texts,
  escapedCommands: texts.exactOptional(),
  shortcuts: texts.exactOptional(),
  agent: z.enum(['agent_view', 'assistant_view', 'none']),
  homeTab: z.boolean(),
  suggestedPrompts: z.array(z.strictObject({ title: z.string(), message: z.string() })),
  socketMode: z.boolean(),
  requestUrl: z.string().exactOptional(),
  isTokenRevoked: z.boolean(),
  botToken: z.string(),
  appToken: z.string(),
  signingSecret: z.string(),
  verificationToken: z.string(),
});

/** Version of the saved format; raised with every change that an older playground cannot read. */
export const SAVED_VERSION = 2;

/** Schema of a saved workspace. */
export const savedWorkspace = z.strictObject({
  version: z.literal([1, SAVED_VERSION]),
  team: z.strictObject({ id: z.string(), name: z.string(), domain: z.string() }),
  app,
  users: z.array(user),
  channels: z.array(channel),
  userGroups: z.array(userGroup),
  messages: z.array(message),
  /** Version 1 has none. */
  files: z.array(file).default([]),
  ephemerals: z.array(ephemeral),
  views: z.array(view),
  threadStatus: z.record(z.string(), z.string()),
  sessions: z.array(session),
  suggestedPrompts: z.record(z.string(), prompts),
  used: z.strictObject({ scopes: texts, events: z.array(event) }),
  /** The last time the clock gave out, in microseconds. */
  clock: z.number(),
});
export type SavedWorkspace = z.infer<typeof savedWorkspace>;
