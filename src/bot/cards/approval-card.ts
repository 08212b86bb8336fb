import type { Button, KnownBlock } from '@slack/types';
import type { RequestRecord } from '../../store/port.ts';
import { detailsOf } from '../request-details.ts';
import { type Card, line, person, plain, words } from './card.ts';
import { limits } from './limits.ts';

export const APPROVE = 'approve';
export const REJECT = 'reject';

/** The card of an approval: pending and settled share the body that says what it is about. */
export function buildApprovalCard(request: RequestRecord): Card {
  const { name, input } = detailsOf(request).interrupt.toolRequest;
  const whole = JSON.stringify(input, null, 2);
  const fits = whole.length <= limits.preformattedText;
  const body: KnownBlock[] = [
    line(words(name, { bold: true })),
    {
      type: 'rich_text',
      elements: [
        {
          type: 'rich_text_preformatted',
          elements: [{ type: 'text', text: whole.slice(0, limits.preformattedText) }],
        },
      ],
    },
    line(words('Asked by '), person(request.requester)),
  ];
  return request.state === 'pending'
    ? { text: `Approval needed: ${name}`, blocks: [...body, ...pendingFoot(request, fits)] }
    : { text: `${name}: ${request.state}`, blocks: [...body, settledFoot(request)] };
}

function pendingFoot(request: RequestRecord, fits: boolean): KnownBlock[] {
  const reject: Button = {
    type: 'button',
    action_id: REJECT,
    value: request.id,
    style: 'danger',
    text: plain('Reject'),
  };
  const approve: Button = { ...reject, action_id: APPROVE, style: 'primary', text: plain('Approve') };
  const count = line(words(`${request.approvals} of ${request.policy.quorum} signed`));
  // Nobody signs what they have not seen whole.
  if (!fits) {
    const why = line(words('Too long to show whole here, so it cannot be approved.'));
    return [why, { type: 'actions', elements: [reject] }];
  }
  return [count, { type: 'actions', elements: [approve, reject] }];
}

function settledFoot(request: RequestRecord): KnownBlock {
  const state = words(request.state, { bold: true });
  return request.by === undefined || request.by === ''
    ? line(state)
    : line(state, words(', decided by '), person(request.by));
}
