import type { BotParts } from '../bot-parts.ts';
import { detailsOf } from '../request-details.ts';
import type { Click, Notice } from './decide.ts';

/** Tells the requester where an outside system reports back: whoever has the address can answer, so nobody else is told. */
export async function showAddress(
  { store, callbacks }: Pick<BotParts, 'store' | 'callbacks'>,
  requestId: string,
  { who }: Click,
): Promise<Notice> {
  const loaded = await store.load(requestId);
  if (loaded.outcome !== 'found') return 'This request is not known any more.';
  const { request } = loaded;
  if (request.requester !== who) return 'Only the person who asked for this is told the address.';
  if (request.state !== 'pending') return `This is ${request.state}; nothing is awaited any more.`;
  const { idempotencyKey } = detailsOf(request);
  const target = { threadId: request.threadId, idempotencyKey, requestId };
  const address = callbacks.make(target, request.expiresAt);
  return `Whoever has this address can report back, once: \`${address}\``;
}
