import type { BotParts } from '../bot-parts.ts';
import type { Click, Notice } from '../decisions/decide.ts';
import { placeNotice } from '../decisions/place-notice.ts';

type Parts = Pick<BotParts, 'store' | 'directory' | 'logger'>;

/** What a stranger is told: Slack's ids of people are unique within a workspace only, so theirs may be an approver's. */
export async function foreignNotice(
  { directory, logger }: Parts,
  { id, team_id }: { readonly id: string; readonly team_id?: string },
): Promise<Notice> {
  if (team_id === undefined || team_id === (await directory.ownTeam())) return undefined;
  logger.warn({ user: id, team: team_id }, 'somebody of another workspace clicked');
  return 'Only people of this workspace can decide this.';
}

/** What somebody is told who is a stranger, or who clicked where no card of the request stands. */
export async function misplacedNotice(
  parts: Parts,
  requestId: string,
  click: Click,
  user: { readonly id: string; readonly team_id?: string },
): Promise<Notice> {
  const foreign = await foreignNotice(parts, user);
  if (foreign !== undefined || click.channel === undefined) return foreign;
  const loaded = await parts.store.load(requestId);
  return loaded.outcome === 'found' ? placeNotice(parts, loaded.request, click) : undefined;
}
