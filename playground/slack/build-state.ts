import {
  type ChannelSeed,
  DEFAULT_CHANNELS,
  DEFAULT_SCOPES,
  DEFAULT_USER_GROUPS,
  DEFAULT_USERS,
  type UserGroupSeed,
  type UserSeed,
} from './default-cast.ts';
import { makeId, makeSecret } from './ids.ts';
import type { Timings } from './limits.ts';
import type { AgentSurface, EventSubscription, InstalledApp } from './state/types.ts';
import { WorkspaceState } from './state/workspace-state.ts';
import { EVENT_SCOPES, EVENT_SUBSCRIPTIONS, EVENT_SURFACES } from './web-api/scopes.ts';

/** Initial people, channels and app of a workspace; a missing part is the default one. */
export interface WorkspaceSeed {
  users?: readonly UserSeed[];
  channels?: readonly ChannelSeed[];
  userGroups?: readonly UserGroupSeed[];
  app?: AppSeed;
}

/** The app as declared by its manifest; a missing part means everything this workspace supports. */
export interface AppSeed {
  name?: string;
  scopes?: readonly string[];
  events?: readonly EventSubscription[];
  commands?: readonly string[];
  /** The commands whose text has mentions with ids; the text of the others has names. */
  escapedCommands?: readonly string[];
  /** The callback ids of its message shortcuts. */
  shortcuts?: readonly string[];
  /** The surface for agents; `agent_view` when the scopes allow it. */
  agent?: AgentSurface;
  homeTab?: boolean;
  suggestedPrompts?: InstalledApp['suggestedPrompts'];
  /** False to be reached by signed HTTP requests. */
  socketMode?: boolean;
  /** The request URL; it can also be set and verified later. */
  requestUrl?: string;
}

/** Builds the state of a new workspace; throws for an app that Slack would not install. */
export function buildState(seed: WorkspaceSeed, timings: Timings): WorkspaceState {
  const app = buildApp(seed.app);
  const team = { id: 'T0LOCAL001', name: 'Corner Shop', domain: 'corner-shop' };
  const state = new WorkspaceState(team, app, timings);
  const botUser = { id: app.botUserId, name: app.name, real_name: app.name, is_bot: true };
  for (const user of [...(seed.users ?? DEFAULT_USERS), botUser]) addUser(state, user);
  for (const channel of seed.channels ?? defaultsFor(state, seed, DEFAULT_CHANNELS, 'members'))
    addChannel(state, channel);
  for (const group of seed.userGroups ?? defaultsFor(state, seed, DEFAULT_USER_GROUPS, 'users'))
    addUserGroup(state, group);
  return state;
}

/** Adds a person; throws for an id that Slack would not give. */
export function addUser({ users, team }: WorkspaceState, user: UserSeed): void {
  requireId(user.id, 'U', 'user');
  users.set(user.id, {
    team_id: team.id,
    real_name: user.name,
    deleted: false,
    is_bot: false,
    is_admin: false,
    is_restricted: false,
    is_ultra_restricted: false,
    is_stranger: false,
    tz: 'Etc/UTC',
    tz_label: 'Coordinated Universal Time',
    tz_offset: 0,
    ...user,
  });
}

/** Adds a channel; throws for an id that Slack would not give, and for members who are not there. */
export function addChannel(state: WorkspaceState, channel: ChannelSeed): void {
  requireId(channel.id, 'C', 'channel');
  const { botUserId } = state.app;
  const members = channel.members.map((member) => (member === 'bot' ? botUserId : member));
  requireUsers(state, members, `#${channel.name}`);
  state.channels.set(channel.id, {
    id: channel.id,
    name: channel.name,
    kind: channel.kind ?? 'public',
    is_archived: channel.is_archived ?? false,
    created: Math.floor(Date.now() / 1_000),
    members: new Set(members),
    ...(channel.topic !== undefined && { topic: channel.topic }),
  });
}

/** Adds a user group; throws for an id that Slack would not give, and for members who are not there. */
export function addUserGroup(state: WorkspaceState, group: UserGroupSeed): void {
  requireId(group.id, 'S', 'user group');
  requireUsers(state, group.users, `@${group.handle}`);
  state.userGroups.set(group.id, { disabled: false, ...group, users: [...group.users] });
}

/** Builds an installed app with new ids and secrets; throws for one that Slack would not install. */
export function buildApp(app: AppSeed = {}): InstalledApp {
  const scopes = app.scopes ?? DEFAULT_SCOPES;
  const agent = app.agent ?? (scopes.includes('assistant:write') ? 'agent_view' : 'none');
  const isGranted = (oneOf: readonly string[]) =>
    oneOf.length === 0 || oneOf.some((scope) => scopes.includes(scope));
  const events =
    app.events ??
    EVENT_SUBSCRIPTIONS.filter(
      (event) => isGranted(EVENT_SCOPES[event]) && (EVENT_SURFACES[event] ?? [agent]).includes(agent),
    );
  const { commands = [], shortcuts = [], escapedCommands = [] } = app;
  const needed = [
    ...events.map((event) => EVENT_SCOPES[event]),
    ...(commands.length + shortcuts.length > 0 ? [['commands']] : []),
    ...(agent === 'none' ? [] : [['assistant:write']]),
  ];
  const missing = needed.filter((oneOf) => !isGranted(oneOf)).map((oneOf) => oneOf.join(' or '));
  if (missing.length > 0)
    throw new Error(`The app needs the scopes ${missing.join(', ')} for its events and commands.`);
  const unheard = events.filter((event) => !(EVENT_SURFACES[event] ?? [agent]).includes(agent));
  if (unheard.length > 0)
    throw new Error(`With ${agent} the app never gets ${unheard.join(', ')}; declare another surface.`);
  return {
    id: makeId('A'),
    name: app.name ?? 'countersign',
    botId: makeId('B'),
    botUserId: makeId('U'),
    scopes,
    events,
    commands,
    ...(escapedCommands.length > 0 && { escapedCommands }),
    ...(shortcuts.length > 0 && { shortcuts }),
    agent,
    homeTab: app.homeTab ?? true,
    suggestedPrompts: app.suggestedPrompts ?? [],
    socketMode: app.socketMode ?? true,
    ...(app.requestUrl !== undefined && { requestUrl: app.requestUrl }),
    isTokenRevoked: false,
    botToken: `xoxb-${makeSecret()}`,
    appToken: `xapp-1-${makeSecret()}`,
    signingSecret: makeSecret(),
    verificationToken: makeSecret(12),
  };
}

/** Limits the default channels and groups to the people of this workspace. */
function defaultsFor<Key extends string, Seed extends Record<Key, readonly string[]>>(
  state: WorkspaceState,
  { users }: WorkspaceSeed,
  defaults: readonly Seed[],
  key: Key,
): readonly Seed[] {
  if (users === undefined) return defaults;
  return defaults.map((seed) => ({
    ...seed,
    [key]: seed[key].filter((member) => member === 'bot' || state.users.has(member)),
  }));
}

function requireId(id: string, prefix: string, what: string): void {
  if (!new RegExp(`^${prefix}[A-Z0-9]{8,10}$`).test(id)) {
    throw new Error(
      `${id} is not the id of a ${what}: Slack's are ${prefix} and 8 to 10 capitals or digits.`,
    );
  }
}

function requireUsers(state: WorkspaceState, ids: readonly string[], where: string): void {
  const unknown = ids.filter((id) => !state.users.has(id));
  if (unknown.length > 0)
    throw new Error(`${where} names ${unknown.join(', ')}, who are not in the workspace.`);
}
