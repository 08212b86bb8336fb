import type { ChannelEntity, Entity } from '../../../protocol.ts';

/** Counts the unread messages of a conversation, threads included. */
export function unreadOf(entities: ReadonlyMap<string, Entity>, channel: ChannelEntity): number {
  let unread = channel.unread;
  for (const entity of entities.values()) {
    if (entity.kind === 'thread' && entity.channel === channel.id) unread += entity.unread;
  }
  return unread;
}

/** Counts all unread messages. */
export function allUnread(entities: ReadonlyMap<string, Entity>): number {
  let unread = 0;
  for (const entity of entities.values()) {
    if (entity.kind === 'thread' || entity.kind === 'channel') unread += entity.unread;
  }
  return unread;
}
