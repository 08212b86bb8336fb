import {
  type Assertion,
  checkProof,
  countsNow,
  type NewLink,
  openLink,
  readLink,
  readPasskeys,
} from '../../../engine/passkeys.ts';
import { type SignedVote, termsOf } from '../../../engine/signed-terms.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { BotContext } from '../../context.ts';
import { momentText } from '../../views/texts/format.ts';
import { passkeyTexts } from '../../views/texts/passkeys.ts';
import type { VoteAuthorization } from './authorize.ts';
import type { Click, Notice } from './click.ts';

/** Checks what a passkey signed against the approval as it would be recorded now. */
export async function checkSigned(
  { store, directory }: Pick<BotContext, 'store' | 'directory'>,
  request: RequestRecord,
  { who }: Click,
  assertion: Assertion,
  { delegation, ...vote }: SignedVote & Pick<VoteAuthorization, 'delegation'>,
): ReturnType<typeof checkProof> {
  const link = await readLink(store, assertion.nonce);
  if (link !== undefined && link.who !== who) return { refusal: 'other-person' };
  if (link === undefined || link.requestId !== request.id) return { refusal: 'link-used' };
  const terms = termsOf(await directory.ownTeam(), request, link, vote);
  return checkProof(store, assertion, terms, delegation);
}

/** Sends a person to the page, where their passkey signs; the click itself counts nothing. */
export async function askForPasskey(
  { store, passkeyLink }: Pick<BotContext, 'store' | 'passkeyLink'>,
  link: NewLink,
): Promise<Notice> {
  const { keys } = await readPasskeys(store, link.who);
  const waiting = keys[0]?.countsFrom;
  if (waiting === undefined) return passkeyTexts.none;
  if (!keys.some((key) => countsNow(key)))
    return waiting === null ? passkeyTexts.unconfirmed : passkeyTexts.waits(momentText(waiting));
  const { nonce } = await openLink(store, link);
  const url = passkeyLink(nonce);
  return url === undefined ? passkeyTexts.noPage : passkeyTexts.link(url);
}
