import type { ChannelEntity, Entity, MessageEntity, PersonEntity } from '../../../../playground/protocol.ts';

/** A person of a small workspace. */
export function person(id: string, name: string, realName: string, isBot = false): PersonEntity {
  const role = isBot ? 'bot' : 'member';
  return { key: `person:${id}`, kind: 'person', id, name, realName, isBot, role, title: '', about: '' };
}

/** A public channel of a small workspace. */
export function channel(id: string, name: string, members: readonly string[]): ChannelEntity {
  return {
    key: `channel:${id}`,
    kind: 'channel',
    id,
    name,
    type: 'public',
    isArchived: false,
    isMember: true,
    members,
    lastRead: '',
    unread: 0,
    mentions: 0,
  };
}

/** A message of the main line of C1. */
export function message(ts: string, user: string, more: Partial<MessageEntity> = {}): MessageEntity {
  return {
    key: `message:C1:${ts}`,
    kind: 'message',
    channel: 'C1',
    ts,
    user,
    text: 'Hello',
    blocks: [],
    isEdited: false,
    isEphemeral: false,
    isStreaming: false,
    reactions: [],
    files: [],
    ...more,
  };
}

export const GENERAL = channel('C1', 'general', ['U1', 'UBOT']);

/** Two people, the app, a group and two channels, one's name the beginning of the other's. */
export const ENTITIES: ReadonlyMap<string, Entity> = new Map(
  [
    person('U1', 'remi', 'Remi Requester'),
    person('U2', 'alice', 'Alice Approver'),
    person('UBOT', 'Countersign', 'Countersign', true),
    {
      key: 'group:S1',
      kind: 'group',
      id: 'S1',
      handle: 'approvers',
      name: 'Approvers',
      users: ['U2'],
    } satisfies Entity,
    GENERAL,
    channel('C2', 'general-talk', ['U1']),
    {
      key: 'workspace',
      kind: 'workspace',
      team: { id: 'T1', name: 'Team', domain: 'team' },
      app: {
        id: 'A1',
        name: 'Countersign',
        botUserId: 'UBOT',
        commands: ['/countersign'],
        shortcuts: [],
        homeTab: true,
      },
      me: 'U1',
    } satisfies Entity,
  ].map((entity) => [entity.key, entity]),
);
