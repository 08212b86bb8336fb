import { applyRevisions } from '../../engine/revisions.ts';
import { slackTime } from '../../engine/task-people.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import type { CardOptions } from '../views/cards/card.ts';

/** Tells whether the card of a request says what its requesters have written since. */
function canShowWords({ kind, state }: RequestRecord): boolean {
  return kind === 'approval' && state === 'pending';
}

/** Finds the last words of a requester that no turn has read: the call was made without them. */
export async function wordsSince(
  { store }: Pick<BotContext, 'store'>,
  request: RequestRecord,
): Promise<CardOptions['since']> {
  if (!canShowWords(request)) return undefined;
  const { inbox } = await store.readThread(request.threadId, { inboxOnly: true });
  const words = applyRevisions(inbox).messages.filter(
    ({ id, body }) =>
      request.requesters.includes(String(body.user)) &&
      slackTime(id) !== undefined &&
      body.answers === undefined &&
      body.stops !== true &&
      String(body.text).trim() !== '',
  );
  const last = words.at(-1);
  return last && { who: String(last.body.user), text: String(last.body.text), before: words.length - 1 };
}

/** Draws the cards of what waits for a person's sake again, because what they have written since has changed; returns how many. */
export async function redrawWithWords(
  { store }: Pick<BotContext, 'store'>,
  threadId: string,
  user: string,
  cause: string,
): Promise<number> {
  let waiting = 0;
  for (const requestId of await store.waitingIn(threadId)) {
    const loaded = await store.load(requestId);
    if (loaded.outcome !== 'found' || !canShowWords(loaded.request)) continue;
    if (!loaded.request.requesters.includes(user)) continue;
    await store.redraw(requestId, { cause: `words ${cause}` });
    waiting += 1;
  }
  return waiting;
}
