import { EventEmitter } from 'node:events';
import { FileShelf, type StoredFile } from '../files/file-shelf.ts';
import { makeId, makeSecret, TimestampClock } from '../ids.ts';
import type { Timings } from '../limits.ts';
import type { Shortcoming } from '../shortcomings.ts';
import { MessageLog } from './message-log.ts';
import type {
  AgentSession,
  Channel,
  EphemeralMessage,
  EventSubscription,
  InstalledApp,
  JsonObject,
  Message,
  MessageContent,
  SuggestedPrompts,
  Team,
  User,
  UserGroup,
  View,
} from './types.ts';

/** A change of a message, from which events are built. */
export type MessageChange =
  | { kind: 'posted'; message: Message }
  | { kind: 'edited'; message: Message; before: MessageContent; ts: string }
  | { kind: 'deleted'; message: Message; ts: string };

/** An event that an app can subscribe to; one with a channel is delivered only if the bot is in it. */
export interface WorkspaceEvent {
  subscription: EventSubscription;
  event: JsonObject;
  channel?: Channel;
}

/** A message to post; missing fields get defaults. */
export type NewMessage = MessageContent & Pick<Message, 'channel' | 'user'> & Partial<Message>;

/**
 * The state of the workspace, independent of any protocol. Every change emits `change`; a message change also emits
 * `message`, and every other subscribable change emits `event`.
 */
export class WorkspaceState {
  readonly events = new EventEmitter<{ change: []; message: [MessageChange]; event: [WorkspaceEvent] }>();
  readonly users = new Map<string, User>();
  readonly channels = new Map<string, Channel>();
  readonly userGroups = new Map<string, UserGroup>();
  readonly log = new MessageLog();
  readonly ephemerals: EphemeralMessage[] = [];
  readonly views = new Map<string, View>();
  /** The status line the app shows in a thread, by channel and thread. */
  readonly threadStatus = new Map<string, string>();
  /** The sessions of the agent, by channel and thread. */
  readonly sessions = new Map<string, AgentSession>();
  /** The prompts the app suggests, by channel, and by channel and thread on the older surface. */
  readonly suggestedPrompts = new Map<string, SuggestedPrompts>();
  /** Scopes and events used so far, from which a manifest can be derived. */
  readonly used = { scopes: new Set<string>(), events: new Set<EventSubscription>() };
  readonly files = new FileShelf();
  /** The ways in which this workspace differs from Slack's documentation. */
  readonly shortcomings = new Set<Shortcoming>();
  readonly clock = new TimestampClock();
  readonly team: Team;
  readonly app: InstalledApp;
  readonly timings: Timings;

  constructor(team: Team, app: InstalledApp, timings: Timings) {
    this.team = team;
    this.app = app;
    this.timings = timings;
    this.events.setMaxListeners(0);
  }

  changed(): void {
    this.events.emit('change');
  }

  /** Emits an event with its time. */
  emitEvent(emitted: WorkspaceEvent): void {
    const event = { ...emitted.event, event_ts: this.clock.next() };
    this.events.emit('event', { ...emitted, event });
    this.changed();
  }

  post(message: NewMessage, ts = this.clock.next()): Message {
    const team = this.users.get(message.user)?.team_id ?? this.team.id;
    const stored: Message = {
      team,
      reactions: [],
      history: [],
      deleted: false,
      ...message,
      ts,
    };
    this.log.add(stored);
    if (stored.user === this.app.botUserId && stored.thread_ts !== undefined) {
      const key = `${stored.channel}:${stored.thread_ts}`;
      this.threadStatus.delete(key);
      const session = this.sessions.get(key);
      if (session?.isByLine === true) {
        session.status = 'active';
        delete session.isByLine;
      }
    }
    this.events.emit('message', { kind: 'posted', message: stored });
    this.changed();
    return stored;
  }

  /** Posts a message with files, and notes in each where it is shared. */
  postFiles(files: readonly StoredFile[], message: NewMessage): Message {
    const posted = { ...message, subtype: 'file_share' as const, files: files.map(({ id }) => id) };
    const ts = this.clock.next();
    const { channel, thread_ts } = message;
    for (const file of files)
      file.shares.push({ channel, ts, ...(thread_ts !== undefined && { thread_ts }) });
    return this.post(posted, ts);
  }

  edit(message: Message, content: MessageContent, editor: string): void {
    const before = contentOf(message);
    message.history.push(before);
    delete message.metadata;
    Object.assign(message, structuredClone(content));
    const ts = this.clock.next();
    message.edited = { user: editor, ts };
    this.events.emit('message', { kind: 'edited', message, before, ts });
    this.changed();
  }

  /** Deletes a message; one that has replies becomes a tombstone. */
  remove(message: Message): void {
    if (this.log.repliesTo(message.channel, message.ts).length > 0) {
      const before = contentOf(message);
      message.history.push(before);
      Object.assign(message, { subtype: 'tombstone', ...TOMBSTONE });
      this.events.emit('message', { kind: 'edited', message, before, ts: this.clock.next() });
      this.changed();
      return;
    }
    message.deleted = true;
    this.events.emit('message', { kind: 'deleted', message, ts: this.clock.next() });
    this.changed();
  }

  /** Ends a stream and emits the finished message as an edit. */
  finishStream(message: Message, before: MessageContent): void {
    if (message.stream !== undefined) message.stream.state = 'completed';
    this.events.emit('message', { kind: 'edited', message, before, ts: this.clock.next() });
    this.changed();
  }

  postEphemeral(message: Omit<EphemeralMessage, 'ts' | 'deleted'>): EphemeralMessage {
    const stored: EphemeralMessage = { ...message, ts: this.clock.next(), deleted: false };
    this.ephemerals.push(stored);
    this.changed();
    return stored;
  }

  /** Returns the ephemeral messages on a person's screen; in a thread Slack shows one only if the thread has replies. */
  ephemeralsFor(userId: string): EphemeralMessage[] {
    return this.ephemerals.filter(
      ({ viewer, deleted, channel, thread_ts }) =>
        viewer === userId &&
        !deleted &&
        (thread_ts === undefined || this.log.repliesTo(channel, thread_ts).length > 0),
    );
  }

  get messages(): readonly Message[] {
    return this.log.all;
  }

  findMessage(channel: string, ts: string): Message | undefined {
    return this.log.find(channel, ts);
  }

  /** The messages of a channel's main line, or of one thread with its root, oldest first. */
  messagesIn(channel: string, threadTs?: string): Message[] {
    const root = threadTs === undefined ? undefined : this.log.find(channel, threadTs);
    return [...(root === undefined ? [] : [root]), ...this.log.repliesTo(channel, threadTs)];
  }

  openDirectMessage(userId: string): Channel {
    const members = [userId, this.app.botUserId];
    const existing = this.#directMessage(userId);
    if (existing !== undefined) return existing;
    const channel: Channel = {
      id: makeId('D'),
      name: 'directmessage',
      kind: 'im',
      is_archived: false,
      created: Math.floor(Date.now() / 1_000),
      members: new Set(members),
    };
    this.channels.set(channel.id, channel);
    this.changed();
    return channel;
  }

  hasDirectMessage(userId: string): boolean {
    return this.#directMessage(userId) !== undefined;
  }

  /** The modals one person has open, the one in front last. */
  openModals(viewer: string): View[] {
    return [...this.views.values()].filter(
      (view) => view.viewer === viewer && view.type === 'modal' && view.open,
    );
  }

  homeOf(viewer: string): View | undefined {
    return [...this.views.values()].find((view) => view.viewer === viewer && view.type === 'home');
  }

  #directMessage(userId: string): Channel | undefined {
    return [...this.channels.values()].find(
      ({ kind, members }) => kind === 'im' && members.has(userId) && members.has(this.app.botUserId),
    );
  }

  newHash(): string {
    return `${Math.floor(Date.now() / 1_000)}.${makeSecret(4)}`;
  }
}

const TOMBSTONE: MessageContent = { text: 'This message was deleted.', blocks: [], attachments: [] };

/** Copies the content of a message, without its author and location. */
export function contentOf(message: MessageContent): MessageContent {
  const { text, blocks, attachments, metadata } = structuredClone({
    text: message.text,
    blocks: message.blocks,
    attachments: message.attachments,
    metadata: message.metadata,
  });
  return { text, blocks, attachments, ...(metadata !== undefined && { metadata }) };
}
