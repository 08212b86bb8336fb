import { collect } from './mistake.ts';

const { mistakes, kind } = collect();

/** What is sent and shown: inputs of previews and undos, secrets, placeholders. */
export const contents = mistakes;

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

const path = kind('a path that starts nowhere');
path('"http://localhost:9/refunds"', '▸/refunds', /a path needs the address that it starts from/);
path(
  '      allow_private: [localhost]\n  deploy:',
  '      allow_private: [localhost]\n      poll: { for: 10m, url: "/refunds/▸{output.id}" }\n  deploy:',
  /write \{\{output\.id\}\}/,
);
