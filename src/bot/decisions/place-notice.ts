import type { RequestRecord } from '../../store/port.ts';
import type { BotParts } from '../bot-parts.ts';
import { viewsSeenIn } from '../requests/view-ids.ts';
import type { Click, Notice } from './decide.ts';

/** What somebody is told who clicked where no card of the request stands, and it is logged: nobody has seen there what they would decide. */
export function placeNotice(
  { logger }: Pick<BotParts, 'logger'>,
  { id, views }: RequestRecord,
  { who, channel }: Click,
): Notice {
  if (channel === undefined) return undefined;
  const seen = viewsSeenIn(channel, who, id);
  if (views.some((view) => seen.includes(view.id))) return undefined;
  logger.warn({ requestId: id, user: who, channel }, 'a click from elsewhere');
  return 'This is not a card of this request; please decide on the card itself.';
}
