import { type Assertion, countsNow, type Passkey, readLink, readPasskeys } from '../../../engine/passkeys.ts';
import { termsOf } from '../../../engine/signed-terms.ts';
import type { ApprovalTerms } from '../../../policy/proof.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { BotContext } from '../../context.ts';
import { passkeyTexts } from '../../views/texts/passkeys.ts';
import { planTexts } from '../../views/texts/plans.ts';
import { authorizeVote } from './authorize.ts';
import { applyDecision } from './decision.ts';
import { NOT_FOUND, onlyApprovers, refusalText } from './refusal-text.ts';
import { chosenIn, isAsShown } from './shown-choice.ts';

/** An approval that a person is about to sign: the request from the stored bytes, the terms, and the keys that count. */
interface PreparedApproval {
  readonly request: RequestRecord;
  readonly terms: ApprovalTerms;
  readonly keys: readonly Passkey[];
}

/** Lets people approve on the page by a one-time link; what they sign is checked and recorded as any other approval is. */
export function signingFor(context: BotContext) {
  return {
    prepare: (who: string, nonce: string) => prepareApproval(context, who, nonce),
    approve: (who: string, assertion: Assertion) => takeSigned(context, who, assertion),
  };
}

/** Prepares what a person signs; a sentence if they can't approve it now. */
async function prepareApproval(
  context: BotContext,
  who: string,
  nonce: string,
): Promise<PreparedApproval | string> {
  const { store, directory } = context;
  const link = await readLink(store, nonce);
  if (link === undefined) return passkeyTexts.refused['link-used'];
  if (link.who !== who) return passkeyTexts.refused['other-person'];
  const loaded = await store.load(link.requestId);
  if (loaded.outcome !== 'found') return NOT_FOUND;
  const { request } = loaded;
  const { state, by = '' } = request;
  if (state !== 'pending') return refusalText({ outcome: 'settled', state, by });
  const chosen = chosenIn(request, link.steps);
  if (chosen === undefined && !isAsShown(request, link.shown)) return planTexts.narrowed;
  const { problem, standsFor } = await authorizeVote(context, { who, id: nonce }, request);
  if (problem !== undefined) return refusalText({ outcome: 'not-eligible' }, problem, onlyApprovers(request));
  const grants = link.grants === true && standsFor === undefined;
  const { keys } = await readPasskeys(store, who);
  return {
    request,
    terms: termsOf(await directory.ownTeam(), request, link, { standsFor, grants, chosen }),
    keys: keys.filter((key) => countsNow(key)),
  };
}

/** Records an approval that a passkey signed. Without a sentence it was taken. */
async function takeSigned(context: BotContext, who: string, assertion: Assertion) {
  const link = await readLink(context.store, assertion.nonce);
  if (link === undefined) return { isApproved: false, notice: passkeyTexts.refused['link-used'] };
  const { requestId, grants, steps, shown, reason } = link;
  const notice = await applyDecision(context, {
    requestId,
    click: { who, id: assertion.nonce },
    decision: { type: 'approve', grants, steps, shown, reason, assertion },
  });
  return { isApproved: notice === undefined, notice };
}
