import type { RequestRecord } from '../../store/port/store.ts';
import { consentOf } from '../../tools/mcp/auth/ask-for-consent.ts';
import type { BotContext } from '../context.ts';
import type { Click, Notice } from '../decisions/click.ts';
import { answer } from '../decisions/decide.ts';
import { readDetails } from '../requests/request-details.ts';

/** Answers a request for an account that is connected now, and every other of its thread for the same account. */
export async function answerConsents(context: BotContext, requestId: string, click: Click): Promise<Notice> {
  const loaded = await context.store.load(requestId);
  if (loaded.outcome !== 'found') return undefined;
  const { request } = loaded;
  const notice = await answerOne(context, request, click);
  for (const other of await context.store.waitingIn(request.threadId)) {
    const found = other === requestId ? undefined : await context.store.load(other);
    if (found?.outcome === 'found' && isSame(found.request, request))
      await answerOne(context, found.request, click);
  }
  return notice;
}

function answerOne(context: BotContext, request: RequestRecord, click: Click): Promise<Notice> {
  return answer(context, request, click, { connected: consentIn(request)?.server ?? '' });
}

/** Returns the account that a request waits for. */
export function consentIn(request: RequestRecord): ReturnType<typeof consentOf> {
  const details = readDetails(request);
  return details && consentOf(details.interrupt);
}

function isSame(left: RequestRecord, right: RequestRecord): boolean {
  const [one, other] = [consentIn(left), consentIn(right)];
  return one !== undefined && one.server === other?.server && one.person === other.person;
}
