import { readDetails } from '../../engine/request-details.ts';
import { policiesNamed } from '../../policy/policy.ts';
import type { RequestRecord, Vote } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';

const HOUR_MS = 3_600_000;

/** Returns the limits of a person's approvals in an hour, one for each policy of a request; the vote itself counts. */
export function approvalRates(
  { toolbox }: Pick<BotContext, 'toolbox'>,
  request: RequestRecord,
  who: string,
): NonNullable<Vote['rates']> {
  const name = readDetails(request)?.policy?.name ?? '';
  return policiesNamed(name).flatMap((policy) => {
    const max = toolbox.policy(policy)?.load?.approvalsPerHour;
    const key = `approvals/${encodeURIComponent(policy)}/${who}`;
    return max === undefined ? [] : [{ key, max, windowMs: HOUR_MS }];
  });
}
