import type { Change, Reason } from '../../../engine/reasons.ts';
import { limitInWords } from '../../../policy/limits.ts';
import { freezeTexts } from './freezes.ts';

/** The sentences about one reason. */
export interface ReasonTexts {
  /** The reason within a sentence. */
  readonly why: string;
  /** For a request that ended without a start. */
  readonly replaced: string;
  /** For an action that was started before, so that its outcome is unknown. */
  readonly notTriedAgain: string;
}

type TextsOf = { [Code in Reason['code']]: (reason: Extract<Reason, { code: Code }>) => ReasonTexts };

/** Every reason code in words. */
const TEXTS: TextsOf = {
  'no-tool': () => didNotRun('Its tool no longer exists'),
  'requester-inactive': () => didNotRun('A person who requested this is no longer active here'),
  'not-allowed': () => didNotRun('Someone taking part in this task is no longer allowed to use this tool'),
  changed: ({ change }) => (change === undefined ? didNotRun(CHANGED) : changedTexts(change)),
  'grant-revoked': () => needsApproval('The pre-approval was revoked'),
  'preview-changed': () => ({
    ...didNotRun('What it would change is different from what was approved'),
    replaced: 'What it would change is different from what was approved, so it was requested again.',
  }),
  'over-limit': ({ limit }) => didNotRun(limitInWords(limit)),
  frozen: ({ reason }) => whole(freezeTexts.denied({ reason })),
  ungranted: () => needsApproval('The pre-approval has ended'),
  unproven: () => askedAgain('A passkey that approved it was removed, or does not prove the approval'),
  'quorum-lost': () => askedAgain('Too few of the people who approved are still approvers'),
  'stale-approval': () => askedAgain("It was approved but couldn't start in time"),
  held: () => needsApproval('Another step of the plan did not run'),
  edited: () => didNotRun('Someone edited it'),
  'in-doubt': ({ error }) => whole(error),
  silent: ({ caller }) => whole(`${caller} started it and did not say what happened.`),
  stopped: () => whole('The task was stopped before the outcome was known.'),
  'asks-now': () =>
    whole("It was started before without approval. It needs one now, so it wasn't tried again."),
  'not-run': ({ why }) =>
    whole(
      why === undefined
        ? 'Countersign restarted while it ran, and it may not be tried again now.'
        : `It was started before and wasn't tried again: ${why}`,
    ),
};

const CHANGED = 'The tool, its policy or what people read about it changed after approval';

function changedTexts(change: Change): ReasonTexts {
  switch (change.what) {
    case 'denied':
      return whole(`A rule does not allow this any more: ${change.reason}`);
    case 'quorum':
      return needsApproval(`The rule changed from ${change.before} to ${change.after} approvals`);
    case 'rule':
      return needsApproval('The rule for this action changed');
    case 'tool':
      return needsApproval('The tool, its settings or its policy changed');
  }
}

function didNotRun(why: string): ReasonTexts {
  return { why, replaced: `${why}, so it did not run.`, notTriedAgain: `${why}, so it wasn't tried again.` };
}

/** A request that did not run, in place of which people are asked again. */
function askedAgain(why: string): ReasonTexts {
  return { ...didNotRun(why), replaced: `${why}, so it needs a new approval.` };
}

function needsApproval(why: string): ReasonTexts {
  return {
    why,
    replaced: `${why}, so this needs a new approval.`,
    notTriedAgain: `${why}, so this wasn't tried again.`,
  };
}

/** A sentence that says it all. */
function whole(sentence: string): ReasonTexts {
  return { why: sentence, replaced: sentence, notTriedAgain: sentence };
}

/** Puts a reason on record into words. */
export function reasonTexts<Code extends Reason['code']>(
  reason: Extract<Reason, { code: Code }>,
): ReasonTexts {
  const texts: (reason: Extract<Reason, { code: Code }>) => ReasonTexts = TEXTS[reason.code];
  return texts(reason);
}
