import { collect } from './mistake.ts';

const { mistakes, kind } = collect();

/** Names of tools, policies, modules and arguments that do not exist. */
export const names = mistakes;

const limit = kind('an unknown tool in limits');
limit(
  '  refund_order: { sum',
  '  ▸refund_ordr: { sum',
  /there is no tool "refund_ordr"; did you mean "refund_order"\?/,
);
limit('  refund_order: { sum', '  ▸refunds_*: { sum', /there is no tool "refunds_\*"/);
limit(
  '  refund_order: { sum',
  '  ▸deploi: { window: 1d, max: 3 }\n  refund_order: { sum',
  /there is no tool "deploi"; did you mean "deploy"/,
);
limit(
  '  refund_order: { sum',
  '  ▸update_contacts: { window: 1d, max: 3 }\n  refund_order: { sum',
  /did you mean "update_contact"/,
);

const channel = kind('an unknown tool of a channel');
channel('[get_order, refund', '[▸get_ordr, refund', /there is no tool "get_ordr"; did you mean "get_order"/);
channel('refund_order, ask_question]', 'refund_order, ▸ask_questions]', /did you mean "ask_question"/);
channel('[get_order, refund', '[▸"order_*", refund', /there is no tool "order_\*"/);

const preview = kind('an unknown tool in a preview');
preview(
  'preview: { tool: get_order',
  'preview: { tool: ▸get_orders',
  /there is no tool "get_orders"; did you mean "get_order"/,
);
preview(
  'preview: { tool: get_order',
  'preview: { tool: ▸refund_order',
  /a preview can only read, and this tool is a POST/,
);
preview('preview: { tool: get_order', 'preview: { tool: ▸crm', /there is no tool "crm"/);

const undo = kind('an unknown tool in an undo');
undo(
  'undo: { tool: cancel_refund',
  'undo: { tool: ▸cancel_refunds',
  /there is no tool "cancel_refunds"; did you mean "cancel_refund"/,
);
undo('undo: { tool: cancel_refund', 'undo: { tool: ▸undo_refund', /there is no tool "undo_refund"/);

const card = kind('a card of no tool');
card(
  '{ match: update_contact,',
  '{ match: ▸update_contct,',
  /there is no tool "update_contct"; did you mean "update_contact"/,
);
card('{ match: update_contact,', '{ match: ▸"delete_*",', /there is no tool "delete_\*"/);

const sum = kind('an unknown name in sum');
sum('{ sum: input.amount,', '{ sum: ▸input.amout,', /input has no "amout"; did you mean "amount"/);
sum('{ sum: input.amount,', '{ sum: "▸input.total * 100",', /input has no "total"/);
sum('{ sum: input.amount,', '{ sum: ▸inptu.amount,', /unknown variable "inptu"; did you mean "input"/);
sum('{ sum: input.amount,', '{ sum: "▸\'5\'",', /an amount must be a number/);
sum('{ sum: input.amount,', '{ sum: ▸input.order,', /input\.order is text, and an amount must be a number/);

const risk = kind('an unknown name in risk');
risk('risk: "input.amount >', 'risk: "▸input.amout >', /input has no "amout"; did you mean "amount"/);
risk("? 'high'", "? ▸'hihg'", /"hihg" is not one of low, medium, high; did you mean "high"/);
risk(
  "risk: \"input.amount > 100000 ? 'high' : 'medium'\"",
  'risk: ▸hihg',
  /"hihg" is not one of low, medium, high; did you mean "high"/,
);
risk('> 100000 ?', "> ▸'100000' ?", /input\.amount is a number/);

const grants = kind('an unknown name in grants.when');
grants(
  'when: "input.environment ==',
  'when: "▸input.enviroment ==',
  /input has no "enviroment"; did you mean "environment"/,
);
grants(
  "input.environment == 'staging'",
  "input.environment == ▸'stagin'",
  /never "stagin"; did you mean "staging"/,
);
grants("input.environment == 'staging'", '▸input.environment', /a condition must be true or false/);

const from = kind('an unknown name in from');
from('from: input.owner,', 'from: ▸input.ownr,', /input has no "ownr"; did you mean "owner"/);
from('from: input.owner,', 'from: ▸owner,', /unknown variable "owner"/);
from('from: input.owner,', 'from: "▸5",', /an expression must give an email address/);
from(
  'from: input.owner,',
  'from: ▸input.count,',
  /input\.count is a number, and an expression must give an email address/,
);

const name = kind('an unknown name in a condition');
name(
  'when: "input.reason == \'fraud\'"',
  'when: "▸input.reson == \'fraud\'"',
  /input has no "reson"; did you mean "reason"/,
);
name(
  'when: "input.amount <= 5000 && now.hour',
  'when: "input.amount <= 5000 && now.▸hours',
  /now has no "hours"; did you mean "hour"/,
);
name(
  'approval: { policy: owner }',
  'approval: { policy: owner, when: "▸input.servce == \'web\'" }',
  /input has no "servce"; did you mean "service"/,
);
name(
  'approval: { policy: owner }',
  'approval: { policy: owner, when: "▸requestor == \'U0\'" }',
  /unknown variable "requestor"; did you mean "requester"/,
);
name(
  'when: "input.amount > 10000 ||',
  'when: "▸amount > 10000 ||',
  /unknown variable "amount"; write input\.amount/,
);

const unknownPolicy = kind('an unknown policy');
unknownPolicy(
  '{ policy: finance, when',
  '{ policy: ▸finanse, when',
  /there is no policy "finanse"; did you mean "finance"/,
);
unknownPolicy('policy: finance', 'policy: ▸finanse', /there is no policy "finanse"; did you mean "finance"/);
unknownPolicy(
  'approval: { policy: owner }',
  'approval: ▸ownr',
  /there is no policy "ownr"; did you mean "owner"/,
);
unknownPolicy(
  'approval: { require: never }',
  'approval: ▸nevr',
  /there is no policy "nevr"; did you mean "never"/,
);
unknownPolicy('approval: { policy: owner }', 'approval: { policy: ▸nobody }', /there is no policy "nobody"/);

const unused = kind('a policy that nothing uses');
unused(
  'limits:\n',
  `  ▸spare: { approvers: [S0APPROVE1] }\nlimits:\n`,
  /no rule and no limit uses this policy/,
);
unused('  owner:\n', '  ▸owner:\n', /no rule and no limit uses this policy/, [
  'approval: { policy: owner }',
  'approval: { policy: default }',
]);

const module = kind('a module that is not there');
module('./deploy.mjs', '▸deploy.mjs', /write \.\/deploy\.mjs/);
module('./deploy.mjs', '▸tools/deploy.ts', /there is no file \.\/tools\/deploy\.ts/);
module('./deploy.mjs', '▸./deploi.mjs', /there is no file \.\/deploi\.mjs/);
module('./deploy.mjs', '▸./broken.mjs', /Cannot find package 'left-out'.*npm install left-out/);
module('./deploy.mjs', '▸./empty.mjs', /exports no tool/);

const finder = kind('an unknown or unsafe tool that finds an approver');
finder(
  'approvers: { from: input.owner, any: [S0APPROVE1] }',
  'approvers: { from: { tool: ▸get_ordr, email: "{{output.email}}" } }',
  /there is no tool "get_ordr"; did you mean "get_order"/,
);
finder(
  'approvers: { from: input.owner, any: [S0APPROVE1] }',
  'approvers: { from: { tool: get_order, input: ▸{ order: "{{input.service}}" }, email: "{{output.email}}" } }',
  /the model gives this input, so it could choose the approver/,
);
