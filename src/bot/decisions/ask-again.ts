import type { BotParts } from '../bot-parts.ts';
import { detailsOf } from '../request-details.ts';
import type { Click, Notice } from './decide.ts';

/** Asks for an expired action once more: the agent is told to propose exactly the same call, which people sign or not. */
export async function askAgain(
  { store }: Pick<BotParts, 'store'>,
  requestId: string,
  { who }: Click,
): Promise<Notice> {
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found') return 'This request is not known any more.';
  const { request } = loaded;
  if (request.state !== 'expired') return `This is ${request.state}, so there is nothing to ask again.`;
  if (request.requester !== who) return 'Only the person who asked for this can ask again.';
  const { name, input } = detailsOf(request).interrupt.toolRequest;
  const text = `The request for ${name} expired. Please ask for it again with exactly these arguments: ${JSON.stringify(input)}`;
  // The request's own id makes a second click the same item.
  const put = await store.put(request.threadId, { id: `again ${requestId}`, body: { user: who, text } });
  return put.outcome === 'duplicate' ? 'It has been asked for again already.' : undefined;
}
