import type { BotContext } from '../context.ts';
import { loadList } from '../home/load-lists.ts';
import { readDetails } from '../requests/request-details.ts';
import { standInViews } from '../requests/view-ids.ts';
import { hasPart, type StandIn, standInsFor } from './stand-ins.ts';

/** More wait in App Home. */
const MOST = 20;

/** Sends the requests that wait for an approver to the person who decides for them from now on. */
export async function askStandIn(
  context: Pick<BotContext, 'store' | 'directory' | 'toolbox' | 'logger'>,
  { who, standsFor }: StandIn,
): Promise<void> {
  const { store, toolbox, logger } = context;
  try {
    const { requests } = await loadList(context, standsFor, 'waiting', { limit: MOST });
    for (const request of requests) {
      if (request.state !== 'pending' || hasPart(request, who)) continue;
      const standIns = await standInsFor(context, request);
      const isMeant = standIns.some((each) => each.who === who && each.standsFor === standsFor);
      const policy = toolbox.policy(readDetails(request)?.policy?.name ?? '');
      if (isMeant && policy?.directMessages !== false)
        await store.addViews(request.id, standInViews([{ who, standsFor }]));
    }
  } catch (err) {
    logger.warn({ err, who }, 'waiting requests not sent to the delegate');
  }
}
