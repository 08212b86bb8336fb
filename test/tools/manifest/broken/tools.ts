import type { BrokenManifest } from './broken-manifest.ts';

/** Mistakes in modules and servers. */
export const brokenTools: readonly BrokenManifest[] = [
  {
    says: 'a tool of no kind',
    text: `tools:
  refund: { effect: idempotent }
`,
    rest: 'slack and default policy',
    problems: ['2:3: tools.refund: a tool needs one of module, code, mcp and http'],
  },
  {
    says: 'a tool of two kinds',
    text: `tools:
  refund:
    module: ./refund.ts
    mcp: { command: node }
`,
    rest: 'slack and default policy',
    problems: [
      '4:5: tools.refund.mcp: a tool is one of module, code, mcp and http; this one has module as well',
    ],
  },
  {
    says: 'answers of a policy nobody made, and of a misspelt one',
    text: `tools:
  refund: { module: ./refund.ts, answers: finance }
  pay: { module: ./pay.ts, answers: defualt }
  ask: { module: ./ask.ts, answers: requestor }
`,
    rest: 'slack and default policy',
    problems: [
      '2:43: tools.refund.answers: there is no policy "finance"; name requester, approvers or default',
      '3:37: tools.pay.answers: there is no policy "defualt"; did you mean "default"?',
      '4:37: tools.ask.answers: there is no policy "requestor"; did you mean "requester"?',
    ],
  },
  {
    says: 'answers of approvers that no policy names',
    text: `tools:
  refund: { module: ./refund.ts, approval: never, answers: approvers }
`,
    rest: 'slack',
    problems: [
      '2:60: tools.refund.answers: the rules of the tool name no policy, and there is no policy "default"; add it, or name one here',
    ],
  },
  {
    says: 'answers beside a server and an HTTP call',
    text: `tools:
  files:
    mcp: { command: node }
    answers: approvers
  refund:
    description: Refunds.
    http: { method: POST, url: "https://a.example/refund" }
    answers: default
`,
    rest: 'slack and default policy',
    problems: [
      '4:5: tools.files.answers: "answers" here is for a module; a server asks who requested the call, and "answers" below "mcp" says whether approvers see it first',
      '8:5: tools.refund.answers: "answers" is for a module; an HTTP call asks nobody, so name who decides in "approval"',
    ],
  },
  {
    says: 'a misspelt kind',
    text: `tools:
  refund:
    modul: ./refund.ts
`,
    rest: 'slack and default policy',
    problems: ['3:5: tools.refund.modul: unknown key "modul"; did you mean "module"?'],
  },
  {
    says: 'a name with a dot',
    text: `tools:
  order.refund: { module: ./refund.ts }
`,
    rest: 'slack and default policy',
    problems: [
      '2:3: tools.order.refund: "order.refund" is not a name of 1 to 64 letters, digits, "_" or "-"',
    ],
  },
  {
    says: 'a name that is too long',
    text: `tools:
  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: { module: ./refund.ts }
`,
    rest: 'slack and default policy',
    problems: [
      '2:3: tools.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is not a name of 1 to 64 letters, digits, "_" or "-"',
    ],
  },
  {
    says: 'the name of a built-in',
    text: `tools:
  ask_question: { module: ./ask.ts }
`,
    rest: 'slack and default policy',
    problems: ['2:3: tools.ask_question: "ask_question" is the name of a built-in; give this tool another'],
  },
  {
    says: 'a module that is no program',
    text: `tools:
  refund: { module: ./refund.py }
`,
    rest: 'slack and default policy',
    problems: [
      '2:21: tools.refund.module: "./refund.py" is not a path such as ./tools/refund.ts, or the name of a package',
    ],
  },
  {
    says: 'a description beside a module',
    text: `tools:
  refund:
    module: ./refund.ts
    description: Refunds.
`,
    rest: 'slack and default policy',
    problems: [
      '4:5: tools.refund.description: "description" is only for http; a tool from code or a server brings its own',
    ],
  },
  {
    says: 'attempts of what may run once',
    text: `tools:
  refund:
    module: ./refund.ts
    effect: once
    max_attempts: 3
`,
    rest: 'slack and default policy',
    problems: [
      '5:5: tools.refund.max_attempts: only an idempotent action is tried again; add "effect: idempotent" if it is one',
    ],
  },
  {
    says: 'an undo by a tool that is not there, and with a text that is no placeholder',
    text: `tools:
  open_ticket:
    description: Opens.
    http: { method: POST, url: "https://a.example/open" }
    undo: { tool: close_tickets, input: { id: "{{outptu.id}}" } }
  close_ticket:
    description: Closes.
    http: { method: POST, url: "https://a.example/close" }
`,
    rest: 'slack and default policy',
    problems: [
      '5:19: tools.open_ticket.undo.tool: there is no tool "close_tickets"; did you mean "close_ticket"?',
      '5:48: tools.open_ticket.undo.input.id: "{{outptu.id}}" is not a placeholder; write {{input.name}} or {{input.name | format}}',
    ],
  },
  {
    says: 'a word about undoing that contradicts the undo, the effect or both',
    text: `tools:
  open_ticket:
    description: Opens.
    http: { method: POST, url: "https://a.example/open" }
    reversible: undo
  close_ticket:
    description: Closes.
    http: { method: POST, url: "https://a.example/close" }
    undo: { tool: open_ticket }
    reversible: yes
  drop_ticket:
    description: Drops.
    http: { method: POST, url: "https://a.example/drop" }
    undo: { tool: open_ticket }
    reversible: no
  read_ticket:
    description: Reads.
    http: { method: GET, url: "https://a.example/read" }
    reversible: no
  server:
    mcp: { url: "https://a.example/mcp" }
    cards: [{ match: "a_*", reversible: undo }]
  module: { module: ./may-have-its-own.ts, reversible: undo }
`,
    rest: 'slack and default policy',
    problems: [
      '5:17: tools.open_ticket.reversible: nothing says how a call is undone, so it counts as "no"; add "undo", or write "reversible: no"',
      '10:17: tools.close_ticket.reversible: "reversible: yes" contradicts its undo, which is offered for a while; write "reversible: undo", or remove the undo',
      '15:17: tools.drop_ticket.reversible: "reversible: no" contradicts its undo, which is offered for a while; write "reversible: undo", or remove the undo',
      '19:17: tools.read_ticket.reversible: a tool that only reads leaves nothing to take back; remove "reversible"',
      '22:41: tools.server.cards[0].reversible: nothing says how a call is undone, so it counts as "no"; add "undo", or write "reversible: no"',
    ],
  },
  {
    says: 'an undo to a value that no preview finds',
    text: `tools:
  set_status:
    description: Sets the status.
    input: { type: object, properties: { to: { type: string } } }
    title: "{{preview.before}}"
    undo: { tool: set_status, input: { to: "{{preview.before}}" } }
    http: { method: PUT, url: "https://example.com/status" }
`,
    rest: 'slack and default policy',
    problems: [
      '5:13: tools.set_status.title: only the undo of a tool with a preview can use {{preview.before}}',
      '6:45: tools.set_status.undo.input.to: only the undo of a tool with a preview can use {{preview.before}}',
    ],
  },
  {
    says: 'an undo whose input its tool does not take',
    text: `tools:
  open_ticket:
    description: Opens.
    http: { method: POST, url: "https://a.example/open" }
    undo: { tool: close_ticket, input: { ids: "{{output.id}}", why: "{{input.why}}" } }
  close_ticket:
    description: Closes.
    input: { type: object, properties: { id: { type: string } }, required: [id] }
    http: { method: POST, url: "https://a.example/close/{{input.id}}" }
`,
    rest: 'slack and default policy',
    problems: [
      '5:5: tools.open_ticket.undo: "close_ticket" needs the input "id"',
      '5:42: tools.open_ticket.undo.input.ids: "close_ticket" has no input "ids"; did you mean "id"?',
      '5:64: tools.open_ticket.undo.input.why: "close_ticket" has no input "why"',
      '5:70: tools.open_ticket.undo.input.why: the input has no "why"',
    ],
  },
  {
    says: 'a channel by name',
    text: `tools:
  refund:
    module: ./refund.ts
    allow: { channels: ["#finance"] }
`,
    rest: 'slack and default policy',
    problems: [
      '4:25: tools.refund.allow.channels[0]: "#finance" is not the id of a channel, such as C012ABCDEF',
    ],
  },
  {
    says: 'a group among the people',
    text: `tools:
  refund:
    module: ./refund.ts
    allow: { people: [S034GHIJKL] }
`,
    rest: 'slack and default policy',
    problems: [
      '4:23: tools.refund.allow.people[0]: "S034GHIJKL" is not the id of a person, such as U012ABCDEF',
    ],
  },
  {
    says: 'an output limit in words',
    text: `tools:
  refund:
    module: ./refund.ts
    max_output: 10kB
`,
    rest: 'slack and default policy',
    problems: ['4:17: tools.refund.max_output: expected a whole number, but this is "10kB"'],
  },
  {
    says: "a module's time limit in a unit that is none, and beside a server",
    text: `tools:
  refund:
    module: ./refund.ts
    timeout: 30 seconds
  github:
    mcp: { command: node }
    timeout: 30s
`,
    rest: 'slack and default policy',
    problems: [
      '4:14: tools.refund.timeout: "30 seconds" is not a duration such as 30s, 15m, 4h or 2d',
      '7:5: tools.github.timeout: "timeout" here is for a module; write it below "mcp"',
    ],
  },
  {
    says: 'a server that cannot be reached',
    text: `tools:
  github:
    mcp: { timeout: 5s }
`,
    rest: 'slack and default policy',
    problems: ['3:5: tools.github.mcp: a server needs a command to start it or a url to reach it'],
  },
  {
    says: 'a server with command and url',
    text: `tools:
  github:
    mcp: { command: node, url: "https://mcp.example.com" }
`,
    rest: 'slack and default policy',
    problems: ['3:27: tools.github.mcp.url: a server has a command or a url, not both'],
  },
  {
    says: 'arguments for a url',
    text: `tools:
  github:
    mcp:
      url: https://mcp.example.com
      args: [--fast]
`,
    rest: 'slack and default policy',
    problems: ['5:7: tools.github.mcp.args: "args" is only for a server with a command'],
  },
  {
    says: 'headers for a command',
    text: `tools:
  github:
    mcp:
      command: node
      headers: { x-team: shop }
`,
    rest: 'slack and default policy',
    problems: ['5:7: tools.github.mcp.headers: "headers" is only for a server with a url'],
  },
  {
    says: 'a url without scheme',
    text: `tools:
  github:
    mcp: { url: mcp.example.com }
`,
    rest: 'slack and default policy',
    problems: [
      '3:17: tools.github.mcp.url: "mcp.example.com" is not a URL that begins with https:// or http://',
    ],
  },
  {
    says: 'a server whose token is not set',
    text: `tools:
  github:
    mcp:
      command: node
      env: { TOKEN: "\${GITHUB_TOKEN}" }
`,
    rest: 'slack and default policy',
    problems: ['5:22: tools.github.mcp.env.TOKEN: GITHUB_TOKEN is not set in .env or the environment'],
  },
  {
    says: 'a token of a server',
    text: `tools:
  github:
    mcp:
      command: node
      env: { TOKEN: ghp_abcdefghijklmnopqrstuvwxyz0123 }
`,
    rest: 'slack and default policy',
    problems: [
      `5:21: tools.github.mcp.env.TOKEN: ghp_… looks like a secret; keep it in the environment and write \${NAME} here`,
    ],
  },
  {
    says: 'a password in a url',
    text: `tools:
  github:
    mcp: { url: "https://bot:hunter22@mcp.example.com" }
`,
    rest: 'slack and default policy',
    problems: [
      `3:26: tools.github.mcp.url: bot:… looks like a secret; keep it in the environment and write \${NAME} here`,
    ],
  },
  {
    says: 'texts with an unknown format, an unknown input, and no placeholder',
    text: `tools:
  ping:
    description: Pings.
    input: { type: object, properties: { orderId: { type: string }, amount: { type: integer } } }
    http: { method: GET, url: "https://example.com" }
    title: "Refund {{input.amount | mony('USD')}} of {{input.ordrId}}"
    done: "Refunded {{amount}}"
    target: "{{output.id}}"
    fields: { Amount: "{{input.amount | money('dollars')}}", Size: "{{input.amount | bytes('KB')}}" }
`,
    rest: 'slack and default policy',
    problems: [
      '6:37: tools.ping.title: there is no format "mony"; did you mean "money"?',
      '6:54: tools.ping.title: the input has no "ordrId"; did you mean "orderId"?',
      '7:21: tools.ping.done: "{{amount}}" is not a placeholder; write {{input.name}} or {{input.name | format}}',
      '8:14: tools.ping.target: there is no output yet; only a preview can show one',
      '9:41: tools.ping.fields.Amount: "dollars" is not a currency code such as USD',
      '9:86: tools.ping.fields.Size: bytes takes no arguments',
    ],
  },
  {
    says: 'a preview that writes',
    text: `tools:
  save:
    description: Saves.
    http: { method: POST, url: "https://example.com" }
    preview: { tool: save, before: "{{output.a}}", after: "{{input.b | nmber}}" }
`,
    rest: 'slack and default policy',
    problems: [
      '5:22: tools.save.preview.tool: a preview can only read, and this tool is a POST',
      '5:60: tools.save.preview.after: the input has no "b"',
      '5:72: tools.save.preview.after: there is no format "nmber"; did you mean "number"?',
    ],
  },
  {
    says: 'names of tools that do not exist, in limits, channels, previews and undos',
    text: `agent:
  channels: { C012ABCDEF: { tools: [read_ordr, ask_question, "read_*"] } }
limits:
  refnd_order: { window: 1d, max: 5 }
  "deploy_*": { window: 1d, max: 5 }
  refund_order: { window: 1d, max: 5 }
tools:
  read_order: { description: Reads., http: { method: GET, url: "https://api.example.com/orders" } }
  refund_order:
    description: Refunds.
    http: { method: POST, url: "https://api.example.com/refunds" }
    preview: { tool: read_oder, before: "0", after: "1" }
    undo: { tool: unrefund }
    cards: [{ match: "*", title: Refund, preview: { tool: read_orders, before: "0", after: "1" } }]
`,
    rest: 'slack and default policy',
    problems: [
      '2:37: agent.channels.C012ABCDEF.tools[0]: there is no tool "read_ordr"; did you mean "read_order"?',
      '4:3: limits.refnd_order: there is no tool "refnd_order"; did you mean "refund_order"?',
      '5:3: limits.deploy_*: there is no tool "deploy_*"',
      '12:22: tools.refund_order.preview.tool: there is no tool "read_oder"; did you mean "read_order"?',
      '13:19: tools.refund_order.undo.tool: there is no tool "unrefund"',
      '14:59: tools.refund_order.cards[0].preview.tool: there is no tool "read_orders"; did you mean "read_order"?',
    ],
  },
];
