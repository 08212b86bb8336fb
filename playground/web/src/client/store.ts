import { useSyncExternalStore } from 'react';
import type {
  Change,
  ChannelEntity,
  Entity,
  GroupEntity,
  MessageEntity,
  PersonEntity,
  PlaygroundEntity,
  WorkspaceEntity,
} from '../../../protocol.ts';
import { createSignal } from './signal.ts';

type Kind = Entity['kind'];
type OfKind<K extends Kind> = Extract<Entity, { kind: K }>;
type Entities = ReadonlyMap<string, Entity>;

let entities: Entities = new Map();
const changed = createSignal();

/** Applies a change from the server; a fresh change replaces all entities. */
export function applyChange(change: Change): void {
  const next = new Map(change.fresh ? [] : entities);
  for (const entity of change.set) next.set(entity.key, entity);
  for (const key of change.gone) next.delete(key);
  entities = next;
  changed.send();
}

/** Returns all entities, outside of a component; the map is replaced on each change, never mutated. */
export function readEntities(): Entities {
  return entities;
}

/** Calls the listener after each change, until the returned function is called. */
export const subscribeToEntities = changed.subscribe;

/** Returns all entities; a new map on each change. */
export function useEntities(): Entities {
  return useSyncExternalStore(subscribeToEntities, readEntities);
}

/** Returns one entity by its key, such as `channel:C1`; the same object until it changes. */
export function useEntity<K extends Kind>(key: K | `${K}:${string}`): OfKind<K> | undefined {
  return useSyncExternalStore(subscribeToEntities, () => entities.get(key) as OfKind<K> | undefined);
}

/** Returns the workspace; components render only after the first change, so it always exists. */
export function useWorkspace(): WorkspaceEntity {
  return required(useEntity('workspace'), 'workspace');
}

/** Returns the playground's own state; components render only after the first change, so it always exists. */
export function usePlayground(): PlaygroundEntity {
  return required(useEntity('playground'), 'playground');
}

/** Returns the people to choose from, in the server's order, without bots. */
export function usePeople(): readonly PersonEntity[] {
  return peopleOf(useEntities());
}

/** A person or bot by user id. */
export function usePerson(id: string): PersonEntity | undefined {
  return useEntity(`person:${id}`);
}

/** Every conversation that this person can see, by name. */
export function useChannels(): readonly ChannelEntity[] {
  return channelsOf(useEntities());
}

/** Returns the people to choose from, without bots and deactivated people. */
export function peopleOf(held: Entities): readonly PersonEntity[] {
  return ofKind(held, 'person').filter(({ isBot, role }) => !isBot && role !== 'deactivated');
}

/** Every conversation among the entities, by name. */
export function channelsOf(held: Entities): readonly ChannelEntity[] {
  return ofKind(held, 'channel').toSorted((one, other) => one.name.localeCompare(other.name));
}

/** Every user group among the entities. */
export function groupsOf(held: Entities): readonly GroupEntity[] {
  return ofKind(held, 'group');
}

/** Returns the messages of a channel's main timeline, or of a thread with its root, oldest first. */
export function messagesOf(held: Entities, channel: string, threadTs?: string): readonly MessageEntity[] {
  return ofKind(held, 'message')
    .filter((message) => message.channel === channel && isInLine(message, threadTs))
    .toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
}

/** Returns a person's name; the id itself for an unknown person. */
export function nameOf(held: Entities, userId: string): string {
  const person = held.get(`person:${userId}`);
  return person?.kind === 'person' ? person.realName || person.name : userId;
}

function isInLine({ ts, threadTs }: MessageEntity, wanted: string | undefined): boolean {
  const isReply = threadTs !== undefined && threadTs !== ts;
  return wanted === undefined ? !isReply : ts === wanted || threadTs === wanted;
}

function ofKind<K extends Kind>(held: Entities, kind: K): OfKind<K>[] {
  return [...held.values()].filter((entity): entity is OfKind<K> => entity.kind === kind);
}

function required<T>(entity: T | undefined, key: string): T {
  if (entity === undefined) throw new Error(`The server has not sent the entity "${key}"; reload the page.`);
  return entity;
}

/** Returns a function that names a person or a group; an unknown one keeps its id. */
export function useNames(): (id: string) => string {
  const entities = useEntities();
  return (id) => {
    const group = entities.get(`group:${id}`);
    return group?.kind === 'group' ? `@${group.handle}` : nameOf(entities, id);
  };
}
