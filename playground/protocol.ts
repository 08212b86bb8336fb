import type { Block, JsonObject, SessionStatus, SuggestedPrompts, View } from './slack/state/types.ts';

/**
 * An update of one person's client, which is a set of entities. The server sends each entity when it appears or changes,
 * and its key when it is gone (`GET /client/<user id>/events`, server-sent events named `change`).
 */
export interface Change {
  /** True for the first of a connection: what the page held before is out of date. */
  readonly fresh: boolean;
  readonly set: readonly Entity[];
  readonly gone: readonly string[];
}

export type Entity =
  | WorkspaceEntity
  | PersonEntity
  | GroupEntity
  | ChannelEntity
  | MessageEntity
  | ThreadEntity
  | StatusEntity
  | ModalEntity
  | HomeEntity
  | PromptsEntity
  | PlaygroundEntity;

/** `workspace`: the team and its app. There is one. */
export interface WorkspaceEntity {
  readonly key: 'workspace';
  readonly kind: 'workspace';
  readonly team: { readonly id: string; readonly name: string; readonly domain: string };
  readonly app: {
    readonly id: string;
    readonly name: string;
    readonly botUserId: string;
    readonly commands: readonly string[];
    /** The callback ids of its message shortcuts. */
    readonly shortcuts: readonly string[];
    readonly homeTab: boolean;
  };
  /** The person whose client this is. */
  readonly me: string;
}

/** `person:<user id>` */
export interface PersonEntity {
  readonly key: string;
  readonly kind: 'person';
  readonly id: string;
  readonly name: string;
  readonly realName: string;
  readonly isBot: boolean;
  /** The role that limits what this person may decide. */
  readonly role: 'member' | 'admin' | 'guest' | 'other-company' | 'bot' | 'deactivated';
  /** The person's job in a word or two; empty if there is nothing to say. */
  readonly title: string;
  /** One line for the person switcher, such as "approves refunds and deployments". */
  readonly about: string;
}

/** `group:<user group id>` */
export interface GroupEntity {
  readonly key: string;
  readonly kind: 'group';
  readonly id: string;
  readonly handle: string;
  readonly name: string;
  readonly users: readonly string[];
}

/** `channel:<channel id>`: a conversation that this person can see. */
export interface ChannelEntity {
  readonly key: string;
  readonly kind: 'channel';
  readonly id: string;
  readonly name: string;
  readonly type: 'public' | 'private' | 'im' | 'mpim';
  readonly isArchived: boolean;
  readonly isMember: boolean;
  readonly members: readonly string[];
  /** The last message of the main timeline that this person has read. */
  readonly lastRead: string;
  readonly unread: number;
  /** Number of unread messages, threads included, that mention this person. */
  readonly mentions: number;
}

/** `message:<channel id>:<ts>`: a message as this person sees it, in the main timeline or in a thread. */
export interface MessageEntity {
  readonly key: string;
  readonly kind: 'message';
  readonly channel: string;
  readonly ts: string;
  readonly threadTs?: string;
  readonly user: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly isEdited: boolean;
  /** Only this person sees it, and it cannot be replied to. */
  readonly isEphemeral: boolean;
  /** The app is still writing it. */
  readonly isStreaming: boolean;
  readonly reactions: readonly { readonly name: string; readonly users: readonly string[] }[];
  /** The files that came with it. */
  readonly files: readonly { readonly name: string; readonly type: string; readonly size: number }[];
}

/** `thread:<channel id>:<ts of its root>`: the summary of a thread under its root. */
export interface ThreadEntity {
  readonly key: string;
  readonly kind: 'thread';
  readonly channel: string;
  readonly ts: string;
  readonly replies: number;
  readonly participants: readonly string[];
  readonly lastReply: string;
  readonly lastRead: string;
  readonly unread: number;
}

/** `status:<channel id>:<thread ts>`: the app's status line and the agent's session. */
export interface StatusEntity {
  readonly key: string;
  readonly kind: 'status';
  readonly channel: string;
  readonly threadTs: string;
  /** The status line; empty when there is none. */
  readonly text: string;
  readonly session?: { readonly status: SessionStatus; readonly title?: string };
  /** True when this person sees Slack's Stop button. */
  readonly canStop: boolean;
}

/** `modal:<view id>`: an open modal; of several, the one with the greatest depth is in front. */
export interface ModalEntity {
  readonly key: string;
  readonly kind: 'modal';
  readonly depth: number;
  readonly view: ShownView;
}

/** `home`: the Home tab, once the app has published one for this person. */
export interface HomeEntity {
  readonly key: 'home';
  readonly kind: 'home';
  readonly view: ShownView;
}

/** The part of a view that a client needs. */
export type ShownView = Pick<View, 'id' | 'hash' | 'title' | 'submit' | 'close' | 'blocks' | 'errors'>;

/** `prompts:<channel id>`: the prompts that the app suggests in its direct messages. */
export interface PromptsEntity extends SuggestedPrompts {
  readonly key: string;
  readonly kind: 'prompts';
  readonly channel: string;
}

/** `playground`: the parts that are not Slack: the bot's process, the model, the tour, the job in the terminal. There is one. */
export interface PlaygroundEntity {
  readonly key: 'playground';
  readonly kind: 'playground';
  readonly bot: BotProcess;
  readonly model: { readonly isScripted: boolean; readonly name: string };
  /** Empty for a manifest of one's own. */
  readonly tour: readonly TourStep[];
  /** For a manifest of one's own: a message that calls each of its tools. */
  readonly calls?: readonly string[];
  /** The job of the terminal; missing if the manifest does not name its caller. */
  readonly job?: JobProcess;
}

/** State of a CI job that asks through the door. */
export interface JobProcess {
  readonly state: 'idle' | 'running' | 'ended';
  readonly commandLine: string;
  /** The last that it wrote. */
  readonly output: string;
  /** For `ended`. */
  readonly exitCode?: number;
}

/** State of the bot's process. */
export interface BotProcess {
  readonly state: 'starting' | 'connected' | 'down' | 'failed';
  readonly pid?: number;
  /** Number of kills with the button. */
  readonly kills: number;
  /** For `down`: when it is started again, in milliseconds since 1970. */
  readonly restartsAt?: number;
  /** For `failed`: the last lines that it wrote. */
  readonly lastOutput?: string;
}

/** One step of the tour. */
export interface TourStep {
  readonly id: string;
  /** True for the three that come first; the others are under More. */
  readonly isAct: boolean;
  readonly title: string;
  /** A few sentences: what to do and what to look at. */
  readonly text: string;
  /** User id of the person who does the step. */
  readonly as: string;
  /** The channel in which the prompt is sent. */
  readonly channel: string;
  /** The message to the bot, without the mention. */
  readonly prompt: string;
  /** The next people and what they should do; `kills` offers the button that kills the bot. */
  readonly next: readonly { readonly as: string; readonly text: string; readonly kills?: true }[];
  readonly isDone: boolean;
  /** The result that the facts show once it is done. */
  readonly result?: string;
  /** The amount booked for the order of the step, once it is done. */
  readonly ledger?: readonly { readonly orderId: string; readonly amount: number }[];
  /** The thread in which it was last tried, `<channel id>:<ts>`. */
  readonly thread?: string;
}

/** Location of a click: a message, which may be ephemeral, or a view. */
export type ClickTarget = { readonly channel: string; readonly ts: string } | { readonly viewId: string };

/** Values that a person entered, by block id, or by action id when a block has several elements. */
export type FormValues = Readonly<Record<string, string | number | readonly string[] | JsonObject>>;

/**
 * Actions of a person: `POST /client/<user id>/<action>` with this JSON; the answer is an `ActionResult`. All changes on
 * the screen arrive as a `Change`, also for the person who acted.
 */
export interface Actions {
  send: {
    channel: string;
    text: string;
    threadTs?: string;
    /** The bytes are base64. */
    files?: readonly { readonly name: string; readonly data: string }[];
  };
  /** Chooses a shortcut of the app in the menu of a message. */
  shortcut: { channel: string; ts: string; callbackId: string };
  edit: { channel: string; ts: string; text: string };
  delete: { channel: string; ts: string };
  react: { channel: string; ts: string; name: string };
  unreact: { channel: string; ts: string; name: string };
  join: { channel: string };
  leave: { channel: string };
  click: {
    target: ClickTarget;
    actionId: string;
    blockId: string;
    value?: string | number | readonly string[];
    values?: FormValues;
  };
  search: { target: ClickTarget; actionId: string; typed: string };
  submit: { viewId: string; values: FormValues };
  close: { viewId: string };
  openHome: { tab: 'home' | 'messages' };
  command: { command: string; text: string; channel: string };
  stop: { channel: string; threadTs: string };
  /** Stores the read position of the main timeline or of a thread. */
  read: { channel: string; threadTs?: string; ts: string };
  /** Removes an ephemeral message. */
  dismiss: { channel: string; ts: string };
}

export type ActionName = keyof Actions;

export type ActionResult =
  | {
      readonly ok: true;
      /** For `send`: the ts of the message. */
      readonly ts?: string;
      /** For `search`: the options from the app. */
      readonly options?: readonly JsonObject[];
      /** For `submit`: the errors by block id; the modal stays open. */
      readonly errors?: Readonly<Record<string, string>>;
    }
  | {
      readonly ok: false;
      /** One sentence for the person. */
      readonly error: string;
    };
