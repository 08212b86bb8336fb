import type { RequestRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { readDetails } from '../requests/request-details.ts';
import { noticeTexts } from '../texts/notices.ts';

const HOUR_MS = 3_600_000;

/** A place of a person among the approvals of an hour, or the sentence for one who has none left. */
export type ApprovalPlace =
  | { readonly ok: true; giveBack(): Promise<void> }
  | { readonly ok: false; readonly notice: string };

/**
 * Takes a place for an approval before it is recorded, in one step with the count of the hour, so that no two clicks take the last one.
 * The same request takes one place only.
 */
export async function takeApprovalPlace(
  { store, toolbox }: Pick<BotContext, 'store' | 'toolbox'>,
  request: RequestRecord,
  { who, id }: { readonly who: string; readonly id: string },
): Promise<ApprovalPlace> {
  const name = readDetails(request)?.policy?.name ?? '';
  const max = toolbox.policy(name)?.load?.approvalsPerHour;
  if (max === undefined) return { ok: true, giveBack: async () => {} };
  const key = `approvals/${name}/${who}`;
  const { outcome } = await store.reserve(request.id, id, [{ key, amount: 1, max, windowMs: HOUR_MS }]);
  if (outcome === 'over') return { ok: false, notice: noticeTexts.approvalsPerHour(max) };
  return { ok: true, giveBack: () => store.giveBack(request.id, [key], id) };
}
