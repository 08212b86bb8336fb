import { CAST, CHANNELS } from '../../../playground/slack/default-cast.ts';

/** The start of the good manifest: Slack's section as the package ships it, with the scopes that the rest needs. */
export const SLACK = `slack:
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
    notify: { remind: 1h }
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
      required: [order, amount, reason]
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
