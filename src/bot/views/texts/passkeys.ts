import type { ProofRefusal } from '../../../engine/passkeys.ts';

const SIGN_AGAIN = 'Click Approve in Slack again.';

/** The sentences about passkeys, in Slack and on the page. */
export const passkeyTexts = {
  onCard: '🔑 Approving needs your passkey. To get one: /countersign passkey',
  fewKeys: (have: number, quorum: number) =>
    have === 0
      ? '⚠️ No approver has a confirmed passkey, so nobody can approve this yet.'
      : `⚠️ Only ${have} of ${quorum} needed approvers ${have === 1 ? 'has' : 'have'} a confirmed passkey.`,
  link: (url: string) =>
    `This approval needs your passkey. <${url}|Review and approve>. The link is for you alone and works once, for 10 minutes. Nothing is approved yet.`,
  none: 'This approval needs a passkey, and you have none yet. To get one, type /countersign passkey.',
  waits: (when: string) => `This approval needs a passkey. Yours is new and counts from ${when}.`,
  unconfirmed:
    'This approval needs a passkey. Yours is new; an admin has to confirm it before it counts. /countersign passkey shows its code.',
  noPage: 'This approval needs a passkey, and the page where you would sign is switched off. Ask an admin.',
  refused: {
    unreadable: `The answer of your passkey can't be read. Nothing was approved. ${SIGN_AGAIN}`,
    'other-terms': `Your passkey signed something else. Nothing was approved. ${SIGN_AGAIN}`,
    'wrong-origin': 'Your passkey was used on another site. Nothing was approved.',
    'wrong-site': 'Your passkey belongs to another site. Nothing was approved.',
    'not-verified':
      'Your passkey did not check that it is you, by a PIN, a fingerprint or your face. Nothing was approved.',
    'wrong-signature': 'The signature does not fit your passkey. Nothing was approved.',
    'link-used': `This link has expired or was already used. ${SIGN_AGAIN}`,
    'keys-changed': 'Your passkeys changed while you signed. Nothing was approved. Try again.',
    'other-person': 'This was signed for somebody else. Nothing was approved.',
    'not-as-shown': `The request changed after you opened it. Nothing was approved. ${SIGN_AGAIN}`,
    'other-scope': `You signed for something else than what was asked for. Nothing was approved. ${SIGN_AGAIN}`,
    'not-delegated': `You may not decide for this approver any more. Nothing was approved. ${SIGN_AGAIN}`,
    'no-key': 'This passkey is not among yours. Nothing was approved.',
    'key-waits': 'Your passkey is new and does not count yet. Nothing was approved.',
    counter:
      "Your passkey's counter went backwards, so it may have been copied. Nothing was approved. Remove it and tell an admin.",
  } satisfies Record<ProofRefusal | 'keys-changed', string>,

  yours: 'Your passkeys',
  open: (url: string) => `Add, rename or remove your passkeys on <${url}|the page>.`,
  off: 'The page is switched off here, so there are no passkeys.',
  listed: (name: string, code: string, when: string) => `• ${name} (code ${code}): ${when}`,
  counts: 'Confirmed',
  countsFrom: (when: string) => `Counts from ${when}`,
  countsAfterConfirmation: 'Waiting for an admin to confirm',
  usage: 'To confirm a new passkey of somebody else: /countersign passkey confirm @Person CODE',
  onlyAdmins: 'Only admins can confirm a passkey.',
  notOwn: "You can't confirm your own passkey. Ask another admin.",
  noneToConfirm: (who: string) => `<@${who}> has no new passkey with this code.`,
  confirmed: (who: string, name: string) => `The passkey ${name} of <@${who}> is confirmed.`,
  wasConfirmed: (by: string, name: string) =>
    `<@${by}> confirmed your passkey ${name}. You can approve with it now.`,
  added: (name: string, code: string, when: string) =>
    `A passkey was added for you: ${name} (code ${code}). ${when}. If this wasn't you, remove it now with /countersign passkey and tell an admin.`,
  removed: (name: string) =>
    `Your passkey ${name} was removed. What it approved and has not started does not run.`,
  toConfirm: (who: string, name: string, when: string) =>
    `<@${who}> added a passkey: ${name}. ${when}. Call them or meet them, not in Slack: ask whether it was them and which code they see. Then type /countersign passkey confirm <@${who}> and the code`,
} as const;
