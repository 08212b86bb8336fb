import { PROPOSE_PLAN } from '../../../tools/built-ins.ts';
import { APPROVE_CHOSEN, CHOOSE_STEPS, EDIT_STEP } from '../cards/action-ids.ts';
import { buildApprovalCard } from '../cards/approval-card.ts';
import { buildPlanCard } from '../cards/plan-card.ts';
import { buildChooseModal, parseChosenSteps } from '../modals/decision-modals.ts';
import { CHOOSE_MODAL } from '../modals/modal.ts';
import { exactCall, openEdit } from './approval.ts';
import { type AskKind, toDecision } from './ask-kind.ts';

/** One approval for several calls that follow each other. */
export const plan: AskKind = {
  name: 'plan',
  recordedAs: 'approval',
  isOf: ({ toolRequest: { name } }) => name === PROPOSE_PLAN,
  card: (request, details, options) =>
    details.facets.plan === undefined
      ? buildApprovalCard(request, details, options)
      : buildPlanCard(request, details, details.facets.plan, options),
  exact: exactCall,
  buttons: [
    {
      id: new RegExp(`^${APPROVE_CHOSEN}:`),
      decide: ({ action_id }) => ({ type: 'approve', shown: action_id.slice(APPROVE_CHOSEN.length + 1) }),
    },
    { id: CHOOSE_STEPS, open: buildChooseModal },
    { id: EDIT_STEP, open: openEdit },
  ],
  modals: [
    {
      id: CHOOSE_MODAL,
      read: (_request, values) =>
        toDecision(parseChosenSteps(values), (steps) => ({ type: 'approve', steps })),
    },
  ],
};
