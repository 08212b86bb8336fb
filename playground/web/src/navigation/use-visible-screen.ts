import { useEffect } from 'react';
import type { ChannelEntity, Entity } from '../../../protocol.ts';
import { CHANNELS } from '../../../slack/default-cast.ts';
import { channelsOf, nameOf, useEntities, useWorkspace } from '../client/store.ts';
import { showToast } from '../toasts/toasts.tsx';
import { replaceRoute, type Screen, useRoute } from './routes.ts';
import { channelName } from './screen-name.ts';

/** True when this person can see the route's screen; otherwise navigates to one they can see. */
export function useVisibleScreen(): boolean {
  const entities = useEntities();
  const { me } = useWorkspace();
  const { as, screen } = useRoute();
  const instead = me === as ? fallbackScreen(entities, screen) : undefined;
  useEffect(() => {
    if (instead === undefined) return;
    replaceRoute({ screen: instead.screen });
    if (instead.notice !== undefined) showToast(instead.notice);
  }, [instead]);
  return screen.kind === 'home' || entities.has(`channel:${screen.channel}`);
}

function fallbackScreen(
  entities: ReadonlyMap<string, Entity>,
  screen: Screen,
): { screen: Screen; notice?: string } | undefined {
  if (screen.kind === 'home') return undefined;
  if (entities.has(`channel:${screen.channel}`)) return threadScreen(entities, screen);
  const channels = channelsOf(entities);
  const direct = channels.find(({ type }) => type === 'im');
  if (screen.channel.startsWith('D') && direct !== undefined) return { screen: screenOf(direct) };
  const other =
    channels.find(({ id }) => id === CHANNELS.general) ??
    channels.find(({ type, isMember }) => isMember && type !== 'im' && type !== 'mpim') ??
    direct;
  if (other === undefined) return { screen: { kind: 'home' } };
  const workspace = entities.get('workspace');
  const me = workspace?.kind === 'workspace' ? nameOf(entities, workspace.me) : 'You';
  const notice = `${me} can't see that conversation. Showing ${channelName(entities, other)} instead.`;
  return { screen: screenOf(other), notice };
}

function threadScreen(
  entities: ReadonlyMap<string, Entity>,
  screen: Extract<Screen, { kind: 'channel' }>,
): { screen: Screen } | undefined {
  if (screen.messageTs === undefined || screen.threadTs !== undefined) return undefined;
  const message = entities.get(`message:${screen.channel}:${screen.messageTs}`);
  if (message?.kind !== 'message' || message.threadTs === undefined || message.threadTs === message.ts)
    return undefined;
  return { screen: { ...screen, threadTs: message.threadTs } };
}

function screenOf({ id }: ChannelEntity): Screen {
  return { kind: 'channel', channel: id };
}
