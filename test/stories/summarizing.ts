import { CAST } from './support.ts';

/** The model's call that asks for a refund. */
export const refund = (orderId: string, amount = 12_000) => ({
  calls: [{ name: 'refund_order', arguments: { orderId, amount, reason: '' } }],
});

/** A manifest with one approver; `policy` adds to the policy. */
export const manifest = (policy: string) => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}], ${policy} }
tools:
  refund_order:
    module: ./examples/shop/tools/refund-order.ts
    title: "Refund order {{input.orderId}}"
    approval: { policy: default }
`;
