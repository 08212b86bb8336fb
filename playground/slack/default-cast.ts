import type { ChannelKind, User } from './state/types.ts';

/** An initial person; missing fields make an ordinary member of this workspace. */
export type UserSeed = Pick<User, 'id' | 'name'> & Partial<User>;

/** An initial channel; the bot is a member when `members` includes `bot`. */
export interface ChannelSeed {
  id: string;
  name: string;
  kind?: Exclude<ChannelKind, 'im'>;
  is_archived?: boolean;
  members: readonly string[];
  topic?: { value: string; creator: string };
}

export interface UserGroupSeed {
  id: string;
  handle: string;
  name: string;
  users: readonly string[];
  disabled?: boolean;
}

/** Ids of the default people. */
export const CAST = {
  requester: 'U0REMI0001',
  alice: 'U0ALICE002',
  bruno: 'U0BRUNO003',
  admin: 'U0ADMIN004',
  guest: 'U0GUEST005',
  outsider: 'U0OUTER006',
} as const;

/** Ids of the default channels. */
export const CHANNELS = {
  general: 'C0GENERAL1',
  releases: 'C0RELEASE2',
  partners: 'C0PARTNER3',
  withoutBot: 'C0RANDOM04',
  archived: 'C0ARCHIVE5',
} as const;

/** Id of the user group with the two approvers. */
export const APPROVERS_GROUP = 'S0APPROVE1';

export const DEFAULT_USERS: readonly UserSeed[] = [
  { id: CAST.requester, name: 'remi', real_name: 'Remi Laurent' },
  { id: CAST.alice, name: 'alice', real_name: 'Alice Moreau' },
  { id: CAST.bruno, name: 'bruno', real_name: 'Bruno Moretti' },
  { id: CAST.admin, name: 'ada', real_name: 'Ada Okafor', is_admin: true },
  { id: CAST.guest, name: 'gil', real_name: 'Gil Navarro', is_restricted: true },
  { id: CAST.outsider, name: 'olga', real_name: 'Olga Petrov', team_id: 'T0OUTSIDE2' },
];

const { requester, alice, bruno, admin, guest, outsider } = CAST;

export const DEFAULT_CHANNELS: readonly ChannelSeed[] = [
  { id: CHANNELS.general, name: 'general', members: ['bot', requester, alice, bruno, admin, guest] },
  { id: CHANNELS.releases, name: 'releases', kind: 'private', members: ['bot', requester, alice, bruno] },
  { id: CHANNELS.partners, name: 'partners', members: ['bot', requester, alice, outsider] },
  { id: CHANNELS.withoutBot, name: 'random', members: [requester, alice] },
  { id: CHANNELS.archived, name: 'old-news', is_archived: true, members: ['bot', requester] },
];

export const DEFAULT_USER_GROUPS: readonly UserGroupSeed[] = [
  { id: APPROVERS_GROUP, handle: 'approvers', name: 'Approvers', users: [alice, bruno] },
];

/** Every scope that this workspace uses. */
export const DEFAULT_SCOPES: readonly string[] = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:read',
  'im:write',
  'mpim:history',
  'mpim:read',
  'reactions:read',
  'reactions:write',
  'team:read',
  'usergroups:read',
  'users:read',
];
