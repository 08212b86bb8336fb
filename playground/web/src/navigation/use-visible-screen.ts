import { useEffect } from 'react';
import type { ChannelEntity, Entity } from '../../../protocol.ts';
import { PLACES } from '../../../slack/default-cast.ts';
import { channelsOf, nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { showToast } from '../toasts/toasts.tsx';
import { goInstead, type Place, useRoute } from './routes.ts';
import { channelName } from './screen-name.ts';

/** Whether this person can see the place of the route; where they cannot, they are taken to one that they can see. */
export function useVisiblePlace(): boolean {
  const entities = useEntities();
  const { me } = useWorkspace();
  const { as, place } = useRoute();
  const instead = me === as ? placeInstead(entities, place) : undefined;
  useEffect(() => {
    if (instead === undefined) return;
    goInstead({ place: instead.place });
    if (instead.notice !== undefined) showToast(instead.notice);
  }, [instead]);
  return place.kind === 'home' || entities.has(`channel:${place.channel}`);
}

function placeInstead(
  entities: ReadonlyMap<string, Entity>,
  place: Place,
): { place: Place; notice?: string } | undefined {
  if (place.kind === 'home') return undefined;
  if (entities.has(`channel:${place.channel}`)) return placeInThread(entities, place);
  const channels = channelsOf(entities);
  const direct = channels.find(({ type }) => type === 'im');
  if (place.channel.startsWith('D') && direct !== undefined) return { place: placeOf(direct) };
  const other =
    channels.find(({ id }) => id === PLACES.general) ??
    channels.find(({ type, isMember }) => isMember && type !== 'im') ??
    direct;
  if (other === undefined) return { place: { kind: 'home' } };
  const workspace = entities.get('workspace');
  const me = workspace?.kind === 'workspace' ? nameOf(entities, workspace.me) : 'You';
  const notice = `${me} cannot see that conversation; this is ${channelName(entities, other)}.`;
  return { place: placeOf(other), notice };
}

function placeInThread(
  entities: ReadonlyMap<string, Entity>,
  place: Extract<Place, { kind: 'channel' }>,
): { place: Place } | undefined {
  if (place.messageTs === undefined || place.threadTs !== undefined) return undefined;
  const message = entities.get(`message:${place.channel}:${place.messageTs}`);
  if (message?.kind !== 'message' || message.threadTs === undefined || message.threadTs === message.ts)
    return undefined;
  return { place: { ...place, threadTs: message.threadTs } };
}

function placeOf({ id }: ChannelEntity): Place {
  return { kind: 'channel', channel: id };
}
