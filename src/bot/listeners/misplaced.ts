import type { BlockAction } from '@slack/bolt';
import { z } from 'zod';
import type { BotParts } from '../bot-parts.ts';
import type { Notice } from '../decisions/decide.ts';

type Parts = Pick<BotParts, 'store' | 'directory' | 'logger'>;
const Place = z.object({ channel: z.string().optional(), user: z.string().optional() });

/** What a stranger is told: Slack's ids of people are unique within a workspace only, so theirs may be an approver's. */
export async function foreignNotice(
  { directory, logger }: Parts,
  { id, team_id }: { readonly id: string; readonly team_id?: string },
): Promise<Notice> {
  if (team_id === undefined || team_id === (await directory.ownTeam())) return undefined;
  logger.warn({ user: id, team: team_id }, 'somebody of another workspace clicked');
  return 'Only people of this workspace can decide this.';
}

/** What somebody is told who clicked where no card of the request stands: nobody has seen there what they would decide. */
export async function misplacedNotice(
  parts: Parts,
  requestId: string,
  { user, container }: Pick<BlockAction, 'user' | 'container'>,
): Promise<Notice> {
  const foreign = await foreignNotice(parts, user);
  if (foreign !== undefined || container.type !== 'message') return foreign;
  const loaded = await parts.store.load(requestId);
  if (loaded.outcome !== 'found') return undefined;
  const isThere = loaded.request.views
    .map(({ place }) => Place.parse(place))
    .some((place) => place.channel === container.channel_id || place.user === user.id);
  if (isThere) return undefined;
  parts.logger.warn({ requestId, user: user.id, channel: container.channel_id }, 'a click from elsewhere');
  return 'This is not a card of this request; please decide on the card itself.';
}
