import { actorKind } from '../../../engine/actors.ts';
import type { Ineligibility } from '../../../engine/asks/may-decide.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import { isSlackPerson } from '../../slack/directory.ts';
import { stateWord } from '../../views/texts/cards.ts';
import { delegationTexts } from '../../views/texts/delegations.ts';
import { OTHER_ACTOR } from '../../views/texts/format.ts';
import { noticeTexts } from '../../views/texts/notices.ts';

/** A result of the record that is no success. */
interface Refusal {
  readonly outcome: string;
  readonly state?: string;
  readonly by?: string;
}

export const NOT_FOUND = noticeTexts.notFound;

/** An operator at a terminal has no account to mention. */
function nameOf(by: string): string {
  const kind = actorKind(by);
  if (kind !== 'other') return OTHER_ACTOR[kind];
  return isSlackPerson(by) ? `<@${by}>` : by;
}

function settledText(state: string, by: string): string {
  if (state === 'unknown') return noticeTexts.outcomeUnknown;
  return state === 'resolved'
    ? noticeTexts.outcomeConfirmed(by)
    : noticeTexts.alreadySettled(stateWord(state), by);
}

/** Returns the sentence for a person who may not decide; `otherwise` is the one for somebody who is not among those who may. */
export function ineligibleText(problem: Ineligibility, otherwise: string = noticeTexts.notApprover): string {
  const sentences: Readonly<Record<Ineligibility, string>> = {
    deactivated: noticeTexts.deactivated,
    bot: noticeTexts.bots,
    'other-workspace': noticeTexts.otherWorkspace,
    guest: noticeTexts.guests,
    'not-approver': otherwise,
    'cannot-check': noticeTexts.cannotCheck,
  };
  return sentences[problem];
}

/** Names those who can approve a request, to somebody who cannot. */
export function onlyApprovers({ principals, requesters, barred, policy }: RequestRecord): string {
  const others = principals.filter(
    (id) => !barred.includes(id) && (policy.selfApproval || !requesters.includes(id)),
  );
  const named = others
    .slice(0, MOST_NAMED)
    .map((id) => (id.startsWith('S') ? `<!subteam^${id}>` : `<@${id}>`));
  const isAll = named.length > 0 && others.length <= MOST_NAMED;
  return isAll ? noticeTexts.onlyThey(named) : noticeTexts.notApprover;
}

const MOST_NAMED = 5;

/** Returns the sentence that explains a refused click; `problem` is the reason of a failed eligibility check. */
export function refusalText(
  { outcome, state = '', by = '' }: Refusal,
  problem: Ineligibility = 'not-approver',
  otherwise?: string,
): string {
  switch (outcome) {
    case 'settled':
      return settledText(state, by === '' ? '' : nameOf(by));
    case 'own-request':
      return noticeTexts.ownRequest;
    case 'not-eligible':
      return ineligibleText(problem, otherwise);
    case 'not-yours':
      return noticeTexts.onlyRequesterWithdraws;
    case 'already-voted':
      return noticeTexts.alreadyRejected;
    case 'repeated':
      return noticeTexts.alreadyApproved;
    case 'expired':
      return noticeTexts.expired;
    case 'not-delegated':
      return delegationTexts.endedBefore;
    case 'not-as-shown':
      return noticeTexts.changedSince;
    case 'not-unknown':
      return noticeTexts.notInDoubt(stateWord(state));
    default:
      return NOT_FOUND;
  }
}
