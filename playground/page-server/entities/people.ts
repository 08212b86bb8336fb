import type { GroupEntity, PersonEntity, WorkspaceEntity } from '../../protocol.ts';
import type { User } from '../../slack/state/types.ts';
import type { WorkspaceState } from '../../slack/state/workspace-state.ts';
import type { Viewpoint } from './viewpoint.ts';

/** The team and its app, with nothing of its secrets. */
export function workspaceEntity({ state, user }: Viewpoint): WorkspaceEntity {
  const { id, name, botUserId, commands, homeTab, shortcuts = [] } = state.app;
  return {
    key: 'workspace',
    kind: 'workspace',
    team: { ...state.team },
    app: { id, name, botUserId, commands, homeTab, shortcuts },
    me: user.id,
  };
}

/** The words of the page about a person beyond Slack, by user id. */
export type PersonNotes = Readonly<Record<string, Pick<PersonEntity, 'title' | 'about'>>>;

/** Everybody in the workspace, the bot included. */
export function personEntities({ state }: Viewpoint, about: PersonNotes): PersonEntity[] {
  return [...state.users.values()].map((user) => ({
    key: `person:${user.id}`,
    kind: 'person',
    id: user.id,
    name: user.name,
    realName: user.real_name,
    isBot: user.is_bot,
    role: roleOf(state, user),
    title: '',
    about: '',
    ...about[user.id],
  }));
}

/** The user groups that can be mentioned. */
export function groupEntities({ state }: Viewpoint): GroupEntity[] {
  return [...state.userGroups.values()]
    .filter(({ disabled }) => !disabled)
    .map(({ id, handle, name, users }) => ({ key: `group:${id}`, kind: 'group', id, handle, name, users }));
}

function roleOf({ team }: WorkspaceState, user: User): PersonEntity['role'] {
  if (user.is_bot) return 'bot';
  if (user.deleted) return 'deactivated';
  if (user.is_stranger || user.team_id !== team.id) return 'other-company';
  if (user.is_restricted || user.is_ultra_restricted) return 'guest';
  return user.is_admin ? 'admin' : 'member';
}
