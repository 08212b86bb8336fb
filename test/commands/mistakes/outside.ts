import { CAST } from '../../../playground/slack/default-cast.ts';
import { collect } from './mistake.ts';

const { mistakes, kind } = collect();

/** What only others know, and what nobody can. */
export const outside = mistakes;

const doctor = kind('what only others know', 'doctor');
doctor(
  'approvers: [S0APPROVE1]\n',
  'approvers: [S0APPROVE1, ▸U0NOBODY99]\n',
  /there is nobody with the id U0NOBODY99/,
);
doctor('to: [S0APPROVE1]', 'to: [▸S0NOGROUP1]', /there is no user group S0NOGROUP1/);
doctor('args: [./crm.mjs]', 'args: [./nothing.mjs]', /tool crm: /);
doctor('"http://localhost:9/refunds"', '▸"http://localhost:1/refunds"', /localhost:1 does not answer/);
doctor(
  `    mcp:\n      command: node\n      args: [./crm.mjs]\n      env: { CRM_TOKEN: "\${SHOP_KEY}" }`,
  '    mcp: { url: "http://localhost:9/mcp", allow_private: [localhost] }',
  /refuses the bot \(401\).*headers or auth/,
);
doctor(
  '"http://localhost:9/refunds"',
  '▸"http://nothing.invalid/refunds"',
  /"nothing\.invalid" cannot be resolved/,
  [`      headers: { authorization: "Bearer \${SHOP_KEY}" }\n`, ''],
);

doctor('allow: { people:', 'allow: { groups: [▸S0NOGROUP1], people:', /there is no user group S0NOGROUP1/);

const nobody = kind('what is possible', 'nobody');
nobody('max: 50000', 'max: 500000', /never/);
nobody(`approvers: [${CAST.alice}, ${CAST.admin}]`, `approvers: [${CAST.alice}, ${CAST.requester}]`, /never/);
