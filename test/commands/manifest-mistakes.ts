import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';

/** The start of the good manifest: Slack's section as the package ships it, with the scopes that the rest needs. */
const SLACK = `slack:
  display_information: { name: Countersign }
  features:
    app_home: { home_tab_enabled: true, messages_tab_enabled: true, messages_tab_read_only_enabled: false }
    bot_user: { display_name: countersign }
    agent_view:
    slash_commands:
      - { command: /countersign, description: Your approvals, should_escape: true }
  oauth_config:
    scopes:
      bot: [app_mentions:read, channels:history, channels:read, chat:write, commands, files:read, files:write, im:history, im:write, usergroups:read, users:read, users:read.email]
  settings:
    event_subscriptions:
      bot_events: [app_home_opened, app_mention, message.channels, message.im]
    interactivity: { is_enabled: true }
    socket_mode_enabled: true
`;

/** A manifest of every kind of tool in which neither check nor doctor finds a mistake. HOST is a server of the test. */
export const GOOD_MANIFEST = `${SLACK}
agent:
  admins: [${CAST.admin}]
  time_zone: Europe/Berlin
  channels:
    ${CHANNELS.general}: { tools: [get_order, refund_order, ask_question] }

policies:
  default:
    approvers: [S0APPROVE1]
    quorum: 1
    expires: 4h
    remind: 1h
  finance:
    approvers: [${CAST.alice}, ${CAST.admin}]
    expires: 8h
    escalate: { after: 4h, to: [S0APPROVE1] }
    risk: "input.amount > 100000 ? 'high' : 'medium'"
  owner:
    approvers: { from: input.owner, any: [S0APPROVE1] }
    grants: { for: 1h, uses: 3, when: "input.environment == 'staging'" }

limits:
  refund_order: { sum: input.amount, window: 1d, max: 50000, policy: finance }

tools:
  get_order:
    description: Reads an order.
    input: { type: object, properties: { order: { type: string }, full: { type: boolean } }, required: [order] }
    http:
      method: GET
      url: "http://localhost:9/orders/{{input.order}}"
      headers: { x-api-key: "\${SHOP_KEY}" }
      allow_private: [localhost]
    approval: { require: never }
  refund_order:
    description: Refunds an order.
    input:
      type: object
      properties:
        order: { type: string }
        amount: { type: integer, minimum: 1 }
        reason: { type: string, enum: [late, broken, fraud] }
      required: [order, amount]
    http:
      method: POST
      url: "http://localhost:9/refunds"
      headers: { authorization: "Bearer \${SHOP_KEY}" }
      body: { order: "{{input.order}}", amount: "{{input.amount}}" }
      allow_private: [localhost]
    title: "Refund {{input.amount | money('USD', 'cents')}} of order {{input.order}}"
    preview: { tool: get_order, input: { order: "{{input.order}}" }, before: "{{output.total}}", after: "{{input.amount}}" }
    undo: { tool: cancel_refund, input: { refund: "{{output.id}}", amount: "{{input.amount}}" } }
    approval:
      - { require: deny, when: "input.reason == 'fraud'", reason: Fraud is for Finance. }
      - { policy: finance, when: "input.amount > 10000 || now.weekday in ['saturday', 'sunday']" }
      - { require: never, when: "input.amount <= 5000 && now.hour >= 8" }
      - { policy: default }
  cancel_refund:
    description: Cancels a refund.
    input: { type: object, properties: { refund: { type: string }, amount: { type: integer } }, required: [refund] }
    http:
      method: DELETE
      url: "http://localhost:9/refunds/{{input.refund}}"
      allow_private: [localhost]
  deploy:
    module: ./deploy.mjs
    title: "Deploy {{input.service}}"
    allow: { people: [${CAST.alice}, ${CAST.requester}] }
    approval: { policy: owner }
  crm:
    mcp:
      command: node
      args: [./crm.mjs]
      env: { CRM_TOKEN: "\${SHOP_KEY}" }
    cards:
      - { match: update_contact, title: "Update {{input.contact}}" }
    approval:
      - { match: "get_*", require: never }
      - { match: "*", policy: default }

audit:
  file: ./audit.jsonl
`;

/** One mistake: a small change of the good manifest. `▸` in the new text marks where it must be reported. */
export interface Mistake {
  readonly kind: string;
  readonly from: string;
  readonly to: string;
  /** The words of the report. */
  readonly says: RegExp;
  readonly by: 'check' | 'doctor' | 'nobody';
  /** A further change that is no mistake by itself. */
  readonly also?: readonly [from: string, to: string];
}

const all: Mistake[] = [];
const kind =
  (name: string, by: Mistake['by'] = 'check') =>
  (from: string, to: string, says: RegExp, also?: Mistake['also']): void => {
    all.push({ kind: name, from, to, says, by, ...(also && { also }) });
  };

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

const types = kind('a wrong type in a condition');
types(
  '"input.amount > 10000 ||',
  "\"input.amount > ▸'10000' ||",
  /input\.amount is a number, but '10000' is text; write it without quotes/,
);
types('"input.amount <= 5000 &&', '"input.order <= ▸5000 &&', /input\.order is text, but 5000 is a number/);
types('now.hour >= 8"', "▸now.hour >= '8'\"", />= is used for a number and text/);
types(
  'approval: { policy: owner }',
  'approval: { policy: owner, when: "input.count == ▸\'3\'" }',
  /input\.count is a number, but '3' is text/,
);
types(
  '"input.amount > 10000 ||',
  "\"▸input.amount.startsWith('1') ||",
  /input\.amount is a number, and startsWith is for text/,
);
types('"input.amount > 10000 ||', '"input.amount ▸= 10000 ||', /write == to compare/);
types('"input.amount <= 5000 &&', '"input.amount <= 5000 ▸and', /write && for and/);
types(
  '"input.amount > 10000 ||',
  '"▸input.amount ||',
  /input\.amount is a number, and \|\| is for conditions/,
);
types('"input.amount <= 5000 && now.hour >= 8"', '▸input.amount', /a condition must be true or false/);

const values = kind('a value that cannot match');
values(
  "input.reason == 'fraud'",
  "input.reason == ▸'frud'",
  /input\.reason is one of late, broken, fraud, and never "frud"; did you mean "fraud"/,
);
values(
  "input.reason == 'fraud'",
  "input.reason in ['fraud', ▸'Broken']",
  /never "Broken"; did you mean "broken"/,
);
values(
  "['saturday', 'sunday']",
  "['saturday', ▸'Sunday']",
  /now\.weekday .*never "Sunday"; did you mean "sunday"/,
);
values("['saturday', 'sunday']", "[▸'sat', 'sunday']", /never "sat"; did you mean "saturday"/);
values("now.weekday in ['saturday', 'sunday']", "now.weekday == ▸'weekend'", /never "weekend"/);
values(
  "now.weekday in ['saturday', 'sunday']",
  "now.date == ▸'24.12.2026'",
  /now\.date is written as "2026-11-16"/,
);
values(
  'approval: { policy: owner }',
  'approval: { policy: owner, when: "input.environment != ▸\'prod\'" }',
  /never "prod"/,
);
values(
  "now.weekday in ['saturday', 'sunday']",
  "requester == ▸'alice'",
  /requester is the id of a person, such as U012ABCDEF/,
);
values(
  "now.weekday in ['saturday', 'sunday']",
  "channel == ▸'#general'",
  /channel is the id of a channel, such as C012ABCDEF/,
);

const range = kind('a time that never is');
range('now.hour >= 8"', '▸now.hour >= 24"', /now\.hour is from 0 to 23, so this is never true/);
range('now.hour >= 8"', '▸now.hour == 60"', /never true/);
range('now.hour >= 8"', '▸now.minute > 59"', /now\.minute is from 0 to 59/);
range('now.hour >= 8"', '▸now.hour < 24"', /so this is always true/);
range(
  '"input.amount <= 5000 &&',
  '"▸input.amount < 1 &&',
  /input\.amount is at least 1, so this is never true/,
);

const contradiction = kind('a contradiction');
contradiction(
  '"input.amount <= 5000 &&',
  '"▸input.amount <= 5000 && input.amount > 6000 &&',
  /can never be true: .*exclude each other/,
);
contradiction(
  '"input.amount <= 5000 && now.hour >= 8"',
  '"▸now.hour < 8 && now.hour >= 18"',
  /can never be true/,
);
contradiction(
  "input.reason == 'fraud'",
  "▸input.reason == 'fraud' && input.reason == 'late'",
  /can never be true/,
);
contradiction(
  "\"input.amount > 10000 || now.weekday in ['saturday', 'sunday']\"",
  "\"▸now.weekday != 'saturday' || now.weekday != 'sunday'\"",
  /always true.*write &&/,
);
contradiction(
  "\"input.amount > 10000 || now.weekday in ['saturday', 'sunday']\"",
  '"▸input.amount > 10000 || input.amount < 20000"',
  /always true/,
);

const gap = kind('a gap between rules');
const RULES = /approval:\n( {6}- .*\n){4}/.exec(GOOD_MANIFEST)?.[0] ?? '';
const rules = (...lines: string[]): string =>
  `approval:\n${lines.map((line) => `      - ${line}\n`).join('')}`;
gap(
  RULES,
  rules(
    '{ policy: finance, when: "input.amount > 10000" }',
    '▸{ require: never, when: "input.amount < 10000" }',
  ),
  /input\.amount == 10000 fits no rule/,
);
gap(
  RULES,
  rules(
    '{ policy: finance, when: "input.amount >= 10000" }',
    '▸{ require: never, when: "input.amount <= 5000" }',
  ),
  /input\.amount from 5001 to 9999 fits no rule/,
);
gap(
  RULES,
  rules(
    '{ require: never, when: "input.amount < 1000" }',
    '{ policy: default, when: "input.amount > 1000 && input.amount < 5000" }',
    '▸{ policy: finance, when: "input.amount >= 5000" }',
  ),
  /input\.amount == 1000 fits no rule/,
);

const unreachable = kind('a rule that no call reaches');
unreachable(
  RULES,
  rules('{ policy: finance }', '▸{ require: never, when: "input.amount < 1000" }'),
  /rule 1 before it decides every call/,
);
unreachable(
  RULES,
  rules(
    '{ policy: finance, when: "input.amount > 100" }',
    '▸{ require: never, when: "input.amount > 1000" }',
    '{ policy: default }',
  ),
  /rule 1 before it decides/,
);
unreachable(
  '- { policy: default }\n  cancel',
  '- { policy: default, match: ▸"refunds" }\n  cancel',
  /"refunds" does not match "refund_order"/,
);
unreachable('{ match: "get_*", require', '{ match: ▸"fetch_*", require', /"fetch_\*" matches none of/);

const previewInput = kind("an input that a preview's tool does not take");
previewInput(
  'input: { order: "{{input.order}}" }, before',
  'input: { ▸ordr: "{{input.order}}" }, before',
  /"get_order" has no input "ordr"; did you mean "order"/,
);
previewInput(
  'preview: { tool: get_order, input: { order: "{{input.order}}" }',
  '▸preview: { tool: get_order',
  /"get_order" needs the input "order"/,
);
previewInput(
  'input: { order: "{{input.order}}" }, before',
  'input: { order: "▸{{input.ordr}}" }, before',
  /the input has no "ordr"; did you mean "order"/,
);
previewInput(
  'input: { order: "{{input.order}}" }, before',
  'input: { order: ▸5 }, before',
  /"order" of "get_order" is text, but this is a number/,
);
previewInput(
  'input: { order: "{{input.order}}" }, before',
  'input: { order: "{{input.order}}", full: "▸{{input.amount}}" }, before',
  /"full" of "get_order" is true or false, but input\.amount is a number/,
);

const undoInput = kind("an input that an undo's tool does not take");
undoInput(
  'refund: "{{output.id}}", amount:',
  '▸refnd: "{{output.id}}", amount:',
  /"cancel_refund" has no input "refnd"; did you mean "refund"/,
);
undoInput(
  'input: { refund: "{{output.id}}", amount: "{{input.amount}}" }',
  'input: { amount: ▸many, refund: "{{output.id}}" }',
  /"amount" of "cancel_refund" is a number, but this is text/,
);
undoInput(
  'undo: { tool: cancel_refund, input: { refund: "{{output.id}}", amount: "{{input.amount}}" } }',
  '▸undo: { tool: cancel_refund }',
  /"cancel_refund" needs the input "refund"/,
);
undoInput(
  'amount: "{{input.amount}}" } }',
  'amount: "▸{{input.reason}}" } }',
  /"amount" of "cancel_refund" is a number, but input\.reason is text/,
);

const self = kind('approvers who are the only requesters');
const DEPLOY = `allow: { people: [${CAST.alice}, ${CAST.requester}] }\n    approval: { policy: owner }`;
const deploy = (people: string, policy: string): string =>
  `allow: { people: [${people}] }\n    approval: { policy: ${policy} }`;
const SOLO = `  solo: { approvers: ▸[${CAST.alice}] }\n`;
self(
  'limits:\n',
  `${SOLO}limits:\n`,
  /only U\w+ may use "deploy", and nobody approves their own request: 1 must approve, but only 0 can/,
  [DEPLOY, deploy(CAST.alice, 'solo')],
);
self(
  'limits:\n',
  `  solo: { approvers: [${CAST.alice}, ${CAST.requester}], quorum: ▸2 }\nlimits:\n`,
  /nobody approves their own request: 2 must approve, but only 1 can/,
  [DEPLOY, deploy(`${CAST.alice}, ${CAST.requester}`, 'solo')],
);

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
unknownPolicy('policy: finance }\n\ntools', '▸then: policy finance }\n\ntools', /"then" is now "policy"/);
unknownPolicy('approval: { policy: owner }', 'approval: { policy: ▸nobody }', /there is no policy "nobody"/);

const secret = kind('a literal secret');
secret(`"Bearer \${SHOP_KEY}"`, '▸"Bearer opensesame"', /"authorization" holds a secret as plain text/);
secret(`x-api-key: "\${SHOP_KEY}"`, 'x-api-key: ▸opensesame', /"x-api-key" holds a secret as plain text/);
secret(`CRM_TOKEN: "\${SHOP_KEY}"`, 'CRM_TOKEN: ▸opensesame', /"CRM_TOKEN" holds a secret/);
secret(
  'body: { order: "{{input.order}}",',
  'body: { client_secret: ▸opensesame, order: "{{input.order}}",',
  /"client_secret" holds a secret/,
);
secret(
  'http:\n      method: DELETE',
  'http:\n      query: { access_token: ▸opensesame }\n      method: DELETE',
  /"access_token" holds a secret/,
);
secret(
  `    mcp:\n      command: node\n      args: [./crm.mjs]\n      env: { CRM_TOKEN: "\${SHOP_KEY}" }`,
  '    mcp: { url: "https://crm.example.com", auth: { as: bot, token: ▸opensesame } }',
  /"token" holds a secret/,
);
secret(
  '  file: ./audit.jsonl',
  '  http: { url: "https://audit.example.com", headers: { Authorization: ▸opensesame } }',
  /"Authorization" holds a secret/,
);
secret(`"Bearer \${SHOP_KEY}"`, '"Bearer ▸sk_live_0123456789abcdefghij"', /sk_live_… looks like a secret/);
secret('localhost:9/refunds"', '▸user:opensesame@localhost:9/refunds"', /looks like a secret/);

const plain = kind('a secret over http://');
plain(
  '"http://localhost:9/refunds"',
  '"▸http://shop.example.com/refunds"',
  /a secret would be sent unencrypted; use https:\/\//,
);
plain(
  '"http://localhost:9/orders/{{input.order}}"',
  '"▸http://shop.example.com/orders/{{input.order}}"',
  /a secret would be sent unencrypted/,
);
plain(
  `    mcp:\n      command: node\n      args: [./crm.mjs]\n      env: { CRM_TOKEN: "\${SHOP_KEY}" }`,
  `    mcp: { url: "▸http://crm.example.com", headers: { authorization: "Bearer \${SHOP_KEY}" } }`,
  /a secret would be sent unencrypted/,
);
plain(
  '  file: ./audit.jsonl',
  `  http: { url: "▸http://audit.example.com", headers: { authorization: "Bearer \${SHOP_KEY}" } }`,
  /a secret would be sent unencrypted/,
);

const placeholder = kind('what looks like a placeholder');
placeholder(
  `"Bearer \${SHOP_KEY}"`,
  '"Bearer ▸$SHOP_KEY"',
  /\$SHOP_KEY is sent as it stands; write \$\{SHOP_KEY\}/,
);
placeholder(`CRM_TOKEN: "\${SHOP_KEY}"`, 'CRM_TOKEN: ▸$SHOP_KEY', /write \$\{SHOP_KEY\}/);
placeholder(
  `"Bearer \${SHOP_KEY}"`,
  `"Bearer ▸\${SHOP_KYE}"`,
  /SHOP_KYE is not set.*did you mean "SHOP_KEY"/,
);
placeholder(
  'amount: "{{input.amount}}" }\n',
  'amount: "▸{input.amount}" }\n',
  /\{input\.amount\} is sent as it stands; write \{\{input\.amount\}\}/,
);
placeholder(
  'of order {{input.order}}"',
  'of order ▸{input.order}"',
  /is shown as it stands; write \{\{input\.order\}\}/,
);
placeholder('of order {{input.order}}"', `of order ▸\${input.order}"`, /write \{\{input\.order\}\}/);
placeholder('refunds/{{input.refund}}"', 'refunds/▸{input.refund}"', /write \{\{input\.refund\}\}/);
placeholder(
  '"Deploy {{input.service}}"',
  '"Deploy ▸{{input.servce}}"',
  /has no "servce"; did you mean "service"/,
);
placeholder(
  '"Deploy {{input.service}}"',
  '"Deploy ▸{{service}}"',
  /is not a placeholder; write \{\{input\.name\}\}/,
);
placeholder("money('USD', 'cents')", "▸money('USD')", /money needs a currency and a unit/);
placeholder(
  "money('USD', 'cents')",
  "▸mony('USD', 'cents')",
  /there is no format "mony"; did you mean "money"/,
);

const slack = kind("what Slack's section lacks");
slack(
  'interactivity: { is_enabled: true }',
  'interactivity:',
  /"interactivity" is not enabled, so no button works/,
);
slack('interactivity: { is_enabled: true }', 'interactivity: { is_enabled: ▸false }', /so no button works/);
slack(
  'bot_events: [app_home_opened, app_mention, ',
  'bot_events: ▸[app_home_opened, ',
  /the event app_mention is missing/,
);
slack('bot_events: [app_home_opened, app', 'bot_events: ▸[app', /the event app_home_opened is missing/);
slack(', message.im]', ']', /the event message\.im is missing/);
slack(/bot: \[.*\]/.exec(SLACK)?.[0] ?? '', 'bot: ▸[]', /the scope chat:write is missing/);
slack('chat:write, ', '', /the scope chat:write is missing/);
slack('commands, ', '', /the scope commands is missing; the bot needs it for the slash command/);
slack(', users:read.email', '', /users:read\.email is missing/);
slack('bot_user: { display_name: countersign }', 'bot_user:', /"bot_user" is missing/);

const module = kind('a module that is not there');
module('./deploy.mjs', '▸deploy.mjs', /write \.\/deploy\.mjs/);
module('./deploy.mjs', '▸tools/deploy.ts', /there is no file \.\/tools\/deploy\.ts/);
module('./deploy.mjs', '▸./deploi.mjs', /there is no file \.\/deploi\.mjs/);
module('./deploy.mjs', '▸./broken.mjs', /Cannot find package 'left-out'.*npm install left-out/);
module('./deploy.mjs', '▸./empty.mjs', /exports no tool/);

const indent = kind('indentation');
indent('    quorum: 1\n', '  quorum: ▸1\n', /check the indentation of this line and the next/);
indent('  owner:\n', '▸owner:\n', /it looks like a policy; indent it under "policies"/);
indent('    risk: "', '   ▸risk: "', /indent it with as many spaces as the lines beside it/);
indent('    title: "Deploy', '▸\ttitle: "Deploy', /use spaces/);
indent(
  '    approval: { policy: owner }',
  '  ▸approval: { policy: owner }',
  /"approval" is a key of a tool; indent it/,
);
indent(
  '      allow_private: [localhost]\n  deploy:',
  '    ▸allow_private: [localhost]\n  deploy:',
  /unknown key "allow_private"; it is a key of http: indent it/,
);
indent(
  `agent:\n  admins: [${CAST.admin}]\n`,
  `▸admins: [${CAST.admin}]\nagent:\n`,
  /unknown key "admins"; it is a key of agent: indent it/,
);
indent('    remind: 1h\n', '  ▸remind: 1h\n', /"remind" is a key of a policy; indent it further/);

const keys = kind('a wrong key or value');
keys('    expires: 4h', '    ▸expire: 4h', /did you mean "expires"/);
keys('expires: 4h', 'expires: ▸4 hours', /is not a duration such as 30s/);
keys('quorum: 1', 'quorum: ▸one', /expected a whole number/);
keys('- { policy: default }\n  cancel', '- { ▸polcy: default }\n  cancel', /did you mean "policy"/);
keys('Europe/Berlin', '▸Europe/Berln', /there is no time zone "Europe\/Berln"/);
keys('    remind: 1h', '    remind: ▸5h', /nobody would be reminded/);
keys('escalate: { after: 4h', 'escalate: { after: ▸9h', /nobody would be asked/);
keys(
  `approvers: [${CAST.alice}, ${CAST.admin}]`,
  `approvers: [${CAST.alice}, ▸"@admin"]`,
  /the id of a person/,
);
keys(
  `approvers: [${CAST.alice}, ${CAST.admin}]`,
  `approvers: [${CAST.alice}, ${CAST.admin}]\n    quorum: ▸3`,
  /3 must approve, but only 2 can/,
);
keys('method: DELETE', 'method: ▸REMOVE', /is not one of GET/);
keys(
  'require: deny, when: "input.reason == \'fraud\'", reason: Fraud is for Finance.',
  'require: deny, when: "input.reason == \'fraud\'"',
  /"reason" is missing/,
);
keys('"http://localhost:9/refunds/', '▸"http://10.0.0.8:9/refunds/', /is a private address/);
keys('      command: node', '      command: ▸nodee', /there is no command "nodee"/);

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

const nobody = kind('what is possible', 'nobody');
nobody('max: 50000', 'max: 500000', /never/);
nobody(`approvers: [${CAST.alice}, ${CAST.admin}]`, `approvers: [${CAST.alice}, ${CAST.requester}]`, /never/);

/** At least 128 mistakes of more than 24 kinds. */
export const MISTAKES: readonly Mistake[] = all;
