import { OUTCOME_UNKNOWN } from '../../../agent/calls/journal.ts';
import { DID_NOT_RUN, RAN, RUN_AGAIN } from '../cards/action-ids.ts';
import { buildApprovalCard } from '../cards/approval-card.ts';
import { buildResolveModal, parseResolution } from '../modals/decision-modals.ts';
import { RESOLVE_MODAL } from '../modals/modal.ts';
import { exactCall } from './approval.ts';
import { type AskKind, toDecision } from './ask-kind.ts';

/** The outcome of a call that nobody knows: people say whether it ran. */
export const outcome: AskKind = {
  name: 'outcome',
  recordedAs: 'approval',
  isOf: ({ metadata }) => metadata?.[OUTCOME_UNKNOWN] !== undefined,
  card: buildApprovalCard,
  exact: exactCall,
  buttons: ([RAN, DID_NOT_RUN, RUN_AGAIN] as const).map((verdict) => ({
    id: verdict,
    open: (request) => buildResolveModal(request, verdict),
  })),
  modals: [
    {
      id: RESOLVE_MODAL,
      // A modal without a number was opened by an older process, after the attempt that was then the last.
      read: (request, values, { tries = request.attempts }) =>
        toDecision(parseResolution(values), (resolution) => ({ type: 'resolve', ...resolution, tries })),
    },
  ],
};
