import type { ChannelEntity, Entity } from '../../../protocol.ts';

type Entities = ReadonlyMap<string, Entity>;

/** A name that is being typed just before the caret. */
export interface Trigger {
  readonly sign: '@' | '#' | '/';
  readonly query: string;
  /** Index of the sign. */
  readonly start: number;
}

/** A replacement for the typed name. */
export interface Suggestion {
  readonly key: string;
  /** Text for the field. */
  readonly text: string;
  readonly detail: string;
  /** The person whose avatar is shown. */
  readonly userId?: string;
}

const MAX_SUGGESTIONS = 8;

/** The name that is being typed just before the caret; undefined when there is none. */
export function findTrigger(text: string, caret: number): Trigger | undefined {
  const before = text.slice(0, caret);
  const command = /^\/(\S*)$/.exec(before);
  if (command !== null) return { sign: '/', query: command[1] ?? '', start: 0 };
  const name = /(?:^|[\s(])([@#])([^\s@#]*)$/.exec(before);
  if (name === null) return undefined;
  const query = name[2] ?? '';
  return { sign: name[1] === '#' ? '#' : '@', query, start: caret - query.length - 1 };
}

/** Returns the suggestions for a trigger, the app first, then channel members; none when a name is complete. */
export function suggest(entities: Entities, channel: ChannelEntity, trigger: Trigger): readonly Suggestion[] {
  const found = { '@': mentions, '#': channels, '/': commands }[trigger.sign](entities, channel);
  const query = trigger.query.toLowerCase();
  const fits = ({ text, detail }: Suggestion): boolean =>
    `${text.slice(1)} ${detail}`
      .toLowerCase()
      .split(/[\s-]+/)
      .some((word) => word.startsWith(query));
  const fitting = found.filter(fits);
  const isComplete = fitting.length === 1 && fitting[0]?.text.toLowerCase() === `${trigger.sign}${query}`;
  return isComplete ? [] : fitting.slice(0, MAX_SUGGESTIONS);
}

function mentions(entities: Entities, channel: ChannelEntity): readonly Suggestion[] {
  const all = [...entities.values()];
  const people = all
    .filter((entity) => entity.kind === 'person')
    .filter(({ role }) => role !== 'deactivated')
    .toSorted((one, other) => rank(one, channel) - rank(other, channel))
    .map(({ id, key, name, realName, isBot }) => {
      const absent = channel.members.includes(id) ? '' : ', not in this conversation';
      return { key, text: `@${realName || name}`, detail: (isBot ? 'App' : name) + absent, userId: id };
    });
  const groups = all
    .filter((entity) => entity.kind === 'group')
    .map(({ key, handle, name, users }) => ({
      key,
      text: `@${handle}`,
      detail: `${name}, ${users.length} ${users.length === 1 ? 'person' : 'people'}`,
    }));
  const everyone = { key: 'channel', text: '@channel', detail: 'everyone in this conversation' };
  return [...people, ...groups, everyone];
}

function rank({ id, isBot }: { id: string; isBot: boolean }, { members }: ChannelEntity): number {
  return (isBot ? 0 : 1) + (members.includes(id) ? 0 : 2);
}

function channels(entities: Entities): readonly Suggestion[] {
  return [...entities.values()]
    .filter((entity) => entity.kind === 'channel')
    .filter(({ type }) => type !== 'im' && type !== 'mpim')
    .map(({ key, name, isArchived }) => ({ key, text: `#${name}`, detail: isArchived ? 'archived' : '' }));
}

function commands(entities: Entities): readonly Suggestion[] {
  const workspace = entities.get('workspace');
  if (workspace?.kind !== 'workspace') return [];
  return workspace.app.commands.map((command) => ({
    key: command,
    text: command,
    detail: workspace.app.name,
  }));
}
