import { mayDecide } from '../../engine/asks/may-decide.ts';
import { redrawForKeys } from '../../engine/asks/passkey-cards.ts';
import { codeOf, confirmPasskey, countsNow, type Passkey, readPasskeys } from '../../engine/passkeys.ts';
import type { BotContext } from '../context.ts';
import { tellPrivately } from '../outbox/private-notice.ts';
import { momentText } from '../views/texts/format.ts';
import { passkeyTexts } from '../views/texts/passkeys.ts';
import { escapeMarkup, showLine } from '../views/texts/show-text.ts';
import type { Click } from './decisions/click.ts';
import { ineligibleText } from './decisions/refusal-text.ts';

const CONFIRM = /^\s*confirm\s+<@([UW][A-Z0-9]+)(?:\|[^>]*)?>\s+([A-Za-z0-9-]{1,20})\s*$/;

/** Answers `/countersign passkey`: the person's keys with the page where they change them, or an admin's confirmation of a new one. */
export async function answerPasskey(context: BotContext, sent: string, click: Click): Promise<string> {
  const { store, passkeyLink } = context;
  const url = passkeyLink();
  if (url === undefined) return passkeyTexts.off;
  const [, who, code = ''] = CONFIRM.exec(sent) ?? [];
  if (who !== undefined) return confirm(context, click, who, code);
  if (sent.trim() !== '') return passkeyTexts.usage;
  const { keys } = await readPasskeys(store, click.who);
  const listed = keys.map((key) => passkeyTexts.listed(nameOf(key), codeOf(key), countsInWords(key)));
  return [...listed, passkeyTexts.open(url)].join('\n');
}

/** Lets a key of somebody else count at once; a person who has only one's Slack session cannot do both. */
async function confirm(context: BotContext, click: Click, who: string, code: string): Promise<string> {
  const { store, directory, agent } = context;
  const by = click.who;
  const permission = await mayDecide(directory.fresh(), by, agent().admins);
  if (!permission.eligible) return ineligibleText(permission.why, passkeyTexts.onlyAdmins);
  if (by === who) return passkeyTexts.notOwn;
  const evidence = { click: click.id, ...permission.evidence };
  const confirmed = await confirmPasskey(store, { who, by, code }, evidence);
  if (confirmed === undefined) return passkeyTexts.noneToConfirm(who);
  await tellPrivately(context, { user: who }, passkeyTexts.wasConfirmed(by, nameOf(confirmed)));
  await redrawForKeys(context, who, `passkey ${click.id}`);
  return passkeyTexts.confirmed(who, nameOf(confirmed));
}

function nameOf({ name }: Passkey): string {
  return escapeMarkup(showLine(name));
}

function countsInWords(key: Passkey): string {
  if (countsNow(key)) return passkeyTexts.counts;
  const { countsFrom } = key;
  return countsFrom === null
    ? passkeyTexts.countsAfterConfirmation
    : passkeyTexts.countsFrom(momentText(countsFrom));
}
