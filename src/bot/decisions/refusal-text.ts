import { isSlackPerson } from '../slack/directory.ts';

/** A result of the record that is no success. */
interface Refusal {
  readonly outcome: string;
  readonly state?: string;
  readonly by?: string;
}

export const NOT_FOUND = 'This request is not known any more.';

/** An operator at a terminal has no account to mention. */
function nameOf(by: string): string {
  return isSlackPerson(by) ? `<@${by}>` : by;
}

/** Returns the sentence that explains a refused click; `problem` is the reason of a failed eligibility check. */
export function refusalText({ outcome, state = '', by = '' }: Refusal, problem?: string): string {
  switch (outcome) {
    case 'settled':
      return by === '' ? `This is already ${state}.` : `This is already ${state}, by ${nameOf(by)}.`;
    case 'own-request':
      return 'You took part in requesting this, so somebody else has to approve it.';
    case 'not-eligible':
      return problem ?? 'This is not yours to decide.';
    case 'not-yours':
      return 'Only the person who asked for this can take it back.';
    case 'already-voted':
      return 'You have rejected this already.';
    case 'repeated':
      return 'You have decided this already; it waits for others.';
    case 'expired':
      return 'This has expired.';
    case 'not-as-shown':
      return 'This has changed since you saw it; please look at the new card.';
    case 'not-unknown':
      return `The outcome is not in doubt: it is ${state}.`;
    default:
      return NOT_FOUND;
  }
}
