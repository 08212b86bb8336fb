import { readDetails } from '../../engine/request-details.ts';
import { quietUntil } from '../../policy/time.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';

/**
 * Returns when the quiet hours end in which a request waits, by the policy as it is now; `undefined` if people may be told at once: of high
 * risk, and of what would expire before they are told.
 */
export function quietEnd(
  { toolbox }: Pick<BotContext, 'toolbox'>,
  request: RequestRecord,
  now = new Date(),
): number | undefined {
  const { name = '', risk } = readDetails(request)?.policy ?? {};
  const hours = toolbox.policy(name)?.quietHours;
  if (hours === undefined || request.state !== 'pending' || risk === 'high') return undefined;
  const end = quietUntil(hours, now);
  return end === undefined || end >= request.expiresAt ? undefined : end;
}
