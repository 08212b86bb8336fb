import { quietUntil } from '../policy/time.ts';
import type { RequestRecord } from '../store/port/request-record.ts';
import type { Toolbox } from '../tools/toolbox/toolbox.ts';

/**
 * Returns when the quiet hours end in which a request waits, by the policy as it is now; `undefined` if people may be told at once: of high
 * risk, and of what would expire before they are told.
 */
export function quietEnd(
  toolbox: Pick<Toolbox, 'policy'>,
  request: RequestRecord,
  { name = '', risk }: { readonly name?: string | undefined; readonly risk?: string | undefined } = {},
  now = new Date(),
): number | undefined {
  const hours = toolbox.policy(name)?.quietHours;
  if (hours === undefined || request.state !== 'pending' || risk === 'high') return undefined;
  const end = quietUntil(hours, now);
  return end === undefined || end >= request.expiresAt ? undefined : end;
}
