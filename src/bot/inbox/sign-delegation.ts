import {
  type Assertion,
  closeLink,
  countsNow,
  type Passkey,
  readDelegationLink,
  readPasskeys,
  takeDelegationProof,
} from '../../engine/passkeys.ts';
import { delegationTermsOf } from '../../engine/signed-delegations.ts';
import type { DelegationTerms } from '../../policy/proof.ts';
import { type Delegation, delegationsIn, readDelegations } from '../../store/documents/delegations.ts';
import type { BotContext } from '../context.ts';
import { delegationTexts } from '../views/texts/delegations.ts';
import { passkeyTexts } from '../views/texts/passkeys.ts';
import { askStandIn } from './delegate.ts';

/** A delegation that a person is about to sign: the terms, and the keys that count. */
interface PreparedDelegation {
  readonly delegation: Delegation;
  readonly terms: DelegationTerms;
  readonly keys: readonly Passkey[];
}

/** Prepares the delegation that a person signs by a link; a sentence if they can't, and `undefined` if the link is for something else. */
export async function prepareDelegation(
  { store, directory }: Pick<BotContext, 'store' | 'directory'>,
  who: string,
  nonce: string,
): Promise<PreparedDelegation | string | undefined> {
  const link = await readDelegationLink(store, nonce);
  if (link === undefined) return undefined;
  if (link.who !== who) return passkeyTexts.refused['other-person'];
  const given = await readDelegations(store);
  const delegation = given.find(({ id, from }) => id === link.delegation && from === who);
  if (delegation === undefined) return delegationTexts.gone;
  const { keys } = await readPasskeys(store, who);
  return {
    delegation,
    terms: delegationTermsOf(await directory.ownTeam(), delegation, link),
    keys: keys.filter((key) => countsNow(key)),
  };
}

/** Records a delegation that a passkey signed, and sends what waits for the approver to the one who decides for them. */
export async function takeSignedDelegation(
  context: BotContext,
  who: string,
  assertion: Assertion,
): Promise<{ readonly isApproved: boolean; readonly notice: string } | undefined> {
  const prepared = await prepareDelegation(context, who, assertion.nonce);
  if (prepared === undefined) return undefined;
  if (typeof prepared === 'string') return { isApproved: false, notice: prepared };
  const { delegation, terms } = prepared;
  const taken = await takeDelegationProof(context.store, assertion, terms);
  if ('refusal' in taken) return { isApproved: false, notice: delegationTexts.notSigned };
  const outcome = await delegationsIn(context.store).sign(delegation, taken.proof);
  if (outcome === 'none') return { isApproved: false, notice: delegationTexts.gone };
  // Only now: who was cut off before signs once more by the same link.
  await closeLink(context.store, assertion.nonce);
  await askStandIn(context, { who: delegation.to, standsFor: who });
  return { isApproved: true, notice: delegationTexts.signed };
}
