import { z } from 'zod';
import type { RequestRecord } from '../../store/port/request-record.ts';
import type { BotContext } from '../context.ts';
import { isDirectChannel, placeIn } from '../slack/thread.ts';
import { THREAD_VIEW } from '../views/view-ids.ts';

/** A posted card. The link to the card in the thread is looked up once, and stored with it. */
export const PostedMessage = z.object({
  channel: z.string(),
  ts: z.string(),
  /** A hash of the card as it was last drawn. */
  drawn: z.string().optional(),
  /** The state and the number of votes that it shows. */
  shown: z.string().optional(),
  threadLink: z.string().optional(),
});
export type PostedMessage = z.infer<typeof PostedMessage>;

/** Names what a card shows of people's decisions and of who may decide; a card that would show the same again can wait. */
export function decisionsIn({ state, votes, undo, principals }: RequestRecord): string {
  return [state, votes.length, undo?.step ?? '', principals.length].join('/');
}

/** Tells whether a posted card does not show yet what people have decided. */
export function isBehind(request: RequestRecord, { shown = '' }: PostedMessage): boolean {
  const [state = '', votes = 0] = shown.split('/');
  const isOpen = state === 'pending' || state === 'unknown';
  return (isOpen && state !== request.state) || Number(votes) < request.votes.length;
}

/**
 * Finds the link to the card in the thread: stored with one of the cards, or looked up. The card in the thread has none, and neither has
 * the copy of a card in somebody's direct messages: nobody else can open them.
 */
export async function threadLinkFor(
  { links }: Pick<BotContext, 'links'>,
  request: RequestRecord,
  viewId: string,
): Promise<string | undefined> {
  if (viewId === THREAD_VIEW || isDirectChannel(request.threadId)) return undefined;
  const posted = request.views.map((view) => ({
    id: view.id,
    message: PostedMessage.safeParse(view.postedAt).data,
  }));
  const known = posted.find(({ message }) => message?.threadLink !== undefined)?.message?.threadLink;
  if (known !== undefined) return known;
  const { channel, threadTs } = placeIn(request.threadId);
  // A link to the card opens the thread; a link to the thread's root opens only the channel.
  const inThread = posted.find(({ id }) => id === THREAD_VIEW)?.message;
  if (threadTs === undefined)
    return inThread === undefined
      ? undefined
      : links.linkTo({ channel, ts: inThread.ts, threadTs: inThread.ts });
  return links.linkTo({ channel, ts: inThread?.ts ?? threadTs, threadTs });
}
