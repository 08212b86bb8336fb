import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';

export const GONE = 'U0GONE0007';
export const ROBOT = 'U0ROBOT008';
export const CLOSED_GROUP = 'S0CLOSED02';
export const EMPTY_GROUP = 'S0EMPTY003';

/** A manifest in which every check passes. */
export const SOUND = `slack:
  oauth_config: { scopes: { bot: [app_mentions:read, assistant:write, channels:history, channels:read, chat:write, commands, files:read, files:write, groups:history, im:history, im:write, mpim:history, reactions:write, usergroups:read, users:read] } }
agent: { admins: [${CAST.admin}] }
policies:
  default: { approvers: [S0APPROVE1], quorum: 2, notify: { announce: [${CHANNELS.general}] } }
tools:
  report: { module: ./report.mjs, approval: { when: "input.severity > 2" } }
  status:
    description: Reads the status.
    input: { type: object, properties: { severity: { type: integer } }, required: [severity] }
    http: { method: GET, url: "http://localhost/status", allow_private: [localhost] }
    approval: { when: "input.severity > 2" }
audit: { file: ./audit.jsonl }
`;

/** One mistake: what is changed, and the words with which it is found. */
export interface PlantedMistake {
  readonly name: string;
  /** Replaces a text of the manifest. */
  readonly change?: readonly [from: string, to: string];
  /** Replaces the module. */
  readonly module?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly redis?: Readonly<Record<string, string>>;
  /** The words of `manifest check`, where it can know. */
  readonly check?: RegExp;
  readonly doctor: RegExp;
}

const APPROVERS = 'approvers: [S0APPROVE1], quorum: 2';
const approver = (id: string) => [APPROVERS, `approvers: [S0APPROVE1, ${id}], quorum: 2`] as const;
const ADMINS = `admins: [${CAST.admin}]`;
const agent = (more: string) => [ADMINS, `${ADMINS}, ${more}`] as const;
const policy = (more: string) => [APPROVERS, `${APPROVERS}, ${more}`] as const;
const announce = (id: string) =>
  [`notify: { announce: [${CHANNELS.general}] }`, `notify: { announce: [${id}] }`] as const;
const tool = (text: string) => ['tools:\n', `tools:\n  planted: ${text}\n`] as const;
const scope = (name: string) => [`${name}, `, ''] as const;
const AT = 'manifest\\.yml:\\d+:\\d+: ';

export const PLANTED: readonly PlantedMistake[] = [
  {
    name: 'an approver who does not exist',
    change: approver('U0NOBODY99'),
    doctor: new RegExp(`${AT}policies\\.default\\.approvers\\[1\\]: there is nobody with the id U0NOBODY99`),
  },
  {
    name: 'an approver who has left',
    change: approver(GONE),
    doctor: /the account of U0GONE0007 is deactivated/,
  },
  { name: 'an approver that is a bot', change: approver(ROBOT), doctor: /U0ROBOT008 is a bot/ },
  {
    name: 'an approver who is a guest',
    change: approver(CAST.guest),
    doctor: /is a guest and cannot approve/,
  },
  {
    name: 'an approver of another workspace',
    change: approver(CAST.outsider),
    doctor: /is of another workspace and cannot approve/,
  },
  {
    name: 'a user group that does not exist',
    change: approver('S0NOGROUP1'),
    doctor: /there is no user group S0NOGROUP1/,
  },
  {
    name: 'a user group that is disabled',
    change: approver(CLOSED_GROUP),
    doctor: /the user group S0CLOSED02 is disabled/,
  },
  {
    name: 'a user group without people',
    change: approver(EMPTY_GROUP),
    doctor: /nobody is in the user group S0EMPTY003/,
  },
  {
    name: 'a quorum that the group cannot reach',
    change: ['quorum: 2', 'quorum: 3'],
    doctor: new RegExp(`${AT}policies\\.default\\.quorum: 3 must approve, but only 2 of the approvers can`),
  },
  {
    name: 'a quorum that the people named cannot reach',
    change: ['[S0APPROVE1], quorum: 2', `[${CAST.alice}], quorum: 2`],
    check: /2 must approve, but only 1 can/,
    doctor: /2 must approve, but only 1 can/,
  },
  {
    name: 'groups that one person would have to approve for twice',
    change: [APPROVERS, 'approvers: { all: [{ any: [S0APPROVE1], quorum: 2 }, { any: [S0APPROVE1] }] }'],
    doctor: new RegExp(
      `${AT}policies\\.default\\.approvers: 3 must approve, but only 2 of the approvers can`,
    ),
  },
  {
    name: 'an approver of a group who does not exist',
    change: [APPROVERS, 'approvers: { all: [{ any: [S0APPROVE1] }, { any: [U0NOBODY99, S0APPROVE1] }] }'],
    doctor: /policies\.default\.approvers\.all\[1\]\.any\[0\]: there is nobody with the id U0NOBODY99/,
  },
  {
    name: 'approvers by email without the scope',
    change: [APPROVERS, 'approvers: { any: [S0APPROVE1], from: input.owner }'],
    check: /the scope users:read\.email is missing/,
    doctor: /the scope users:read\.email is missing/,
  },
  {
    name: 'addresses of requesters without the scope',
    change: ['"input.severity > 2" } }', '"requester.email.endsWith(\'@shop.example\')" } }'],
    check: /the scope users:read\.email is missing; the bot needs it for requester\.email in rules/,
    doctor: /the scope users:read\.email is missing/,
  },
  {
    name: 'an author of the wrong name who may not approve',
    change: [APPROVERS, 'approvers: { any: [S0APPROVE1], not: { from: input.autor } }'],
    check: /policies\.default\.approvers\.not\.from: input has no "autor"/,
    doctor: /input has no "autor"/,
  },
  {
    name: 'an author by address who may not approve, without the scope',
    change: [APPROVERS, 'approvers: { any: [S0APPROVE1], not: { from: "string(input.severity)" } }'],
    check: /users:read\.email is missing; the bot needs it to find those who may not approve/,
    doctor: /the scope users:read\.email is missing/,
  },
  {
    name: 'a delegation to somebody who has left',
    change: [
      `${APPROVERS}, notify: { announce: [${CHANNELS.general}] } }`,
      `${APPROVERS}, delegation: true }\ndelegations: [{ from: ${CAST.alice}, to: ${GONE}, until: "2099-01-01" }]`,
    ],
    doctor: /delegations\[0\]\.to: the account of U0GONE0007 is deactivated/,
  },
  {
    name: 'a delegation that is over',
    change: [
      `${APPROVERS}, notify: { announce: [${CHANNELS.general}] } }`,
      `${APPROVERS}, delegation: true }\ndelegations: [{ from: ${CAST.alice}, to: ${CAST.bruno}, until: "2020-01-01" }]`,
    ],
    check: /delegations\[0\]\.until: this delegation is over; remove it/,
    doctor: /warning.*this delegation is over/,
  },
  {
    name: 'a preview path that the answer does not have',
    change: [
      'allow_private: [localhost] }\n',
      'allow_private: [localhost] }\n    preview: { tool: report, input: {}, before: "{{output.totl}}", after: "{{output.rows.0.sum}}" }\n',
    ],
    module: `export const report = {
      kind: 'tool', name: 'report', description: 'Reports.', effect: 'none', run: async () => 'done', matches: () => false,
      inputSchema: { jsonSchema: { type: 'object', properties: { severity: { type: 'integer' } } } },
      outputSchema: { jsonSchema: { type: 'object', properties: {
        total: { type: 'number' },
        rows: { type: 'array', items: { type: 'object', properties: { amount: { type: 'number' } } } },
      } } },
    };`,
    check: new RegExp(
      `${AT}tools\\.status\\.preview\\.before: the answer of "report" has no "totl"; did you mean "total"`,
    ),
    doctor: /tools\.status\.preview\.after: the answer of "report" has no "rows\.0\.sum"; it has amount/,
  },
  {
    name: 'an admin who does not exist',
    change: [CAST.admin, 'U0NOBODY99'],
    doctor: /agent\.admins\[0\]: there is nobody/,
  },
  {
    name: 'an admin who has left',
    change: [CAST.admin, GONE],
    doctor: /agent\.admins\[0\]: the account of U0GONE0007 is deactivated/,
  },
  {
    name: 'an approver of policy changes who does not exist',
    change: agent(
      `policy_changes: { approvers: [U0NOBODY99, S0APPROVE1], quorum: 2, channel: ${CHANNELS.general} }`,
    ),
    doctor: new RegExp(
      `${AT}agent\\.policy_changes\\.approvers\\[0\\]: there is nobody with the id U0NOBODY99`,
    ),
  },
  {
    name: 'an approver of policy changes who has left',
    change: agent(
      `policy_changes: { approvers: [S0APPROVE1, ${GONE}], quorum: 2, channel: ${CHANNELS.general} }`,
    ),
    doctor: /agent\.policy_changes\.approvers\[1\]: the account of U0GONE0007 is deactivated/,
  },
  {
    name: 'an approver of policy changes that is a bot',
    change: agent(
      `policy_changes: { approvers: [S0APPROVE1, ${ROBOT}], quorum: 2, channel: ${CHANNELS.general} }`,
    ),
    doctor: /agent\.policy_changes\.approvers\[1\]: U0ROBOT008 is a bot/,
  },
  {
    name: 'a quorum of policy changes that the group cannot reach',
    change: agent(`policy_changes: { approvers: [S0APPROVE1], quorum: 3, channel: ${CHANNELS.general} }`),
    doctor: new RegExp(
      `${AT}agent\\.policy_changes\\.quorum: 3 must approve, but only 2 of the approvers can`,
    ),
  },
  {
    name: 'a channel of policy changes that does not exist',
    change: agent('policy_changes: { approvers: [S0APPROVE1], quorum: 2, channel: C0NOWHERE1 }'),
    doctor: /agent\.policy_changes\.channel: there is no channel C0NOWHERE1/,
  },
  {
    name: 'a person who may unfreeze and does not exist',
    change: agent('unfreeze: { approvers: [U0NOBODY99, S0APPROVE1] }'),
    doctor: /agent\.unfreeze\.approvers\[0\]: there is nobody with the id U0NOBODY99/,
  },
  {
    name: 'a person who may unfreeze and has left',
    change: agent(`unfreeze: { approvers: [S0APPROVE1, ${GONE}] }`),
    doctor: /agent\.unfreeze\.approvers\[1\]: the account of U0GONE0007 is deactivated/,
  },
  {
    name: 'a bot that may unfreeze',
    change: agent(`unfreeze: { approvers: [S0APPROVE1, ${ROBOT}] }`),
    doctor: /agent\.unfreeze\.approvers\[1\]: U0ROBOT008 is a bot/,
  },
  {
    name: 'a quorum to unfreeze that the group cannot reach',
    change: agent('unfreeze: { approvers: [S0APPROVE1], quorum: 3 }'),
    doctor: new RegExp(`${AT}agent\\.unfreeze\\.quorum: 3 must approve, but only 2 of the approvers can`),
  },
  {
    name: 'an admin that is a user group',
    change: [CAST.admin, 'S0APPROVE1'],
    check: /agent\.admins\[0\]: .*the id of a person/,
    doctor: /agent\.admins\[0\]: .*the id of a person/,
  },
  {
    name: 'a channel that does not exist',
    change: announce('C0NOWHERE9'),
    doctor: /there is no channel C0NOWHERE9/,
  },
  {
    name: 'a channel that is archived',
    change: announce(CHANNELS.archived),
    doctor: /the channel \S+ is archived/,
  },
  {
    name: 'a channel without the bot',
    change: announce(CHANNELS.withoutBot),
    doctor: /the bot is not in the channel \S+; invite the bot/,
  },
  {
    name: 'a person where a channel belongs',
    change: announce(CAST.alice),
    check: /the id of a channel/,
    doctor: /the id of a channel/,
  },
  {
    name: 'an escalation to somebody who does not exist',
    change: policy('escalate: { after: 1h, to: [U0NOBODY99] }'),
    doctor: /escalate\.to\[0\]: there is nobody/,
  },
  {
    name: 'a quorum that only the escalation can fill',
    change: ['quorum: 2', `quorum: 3, escalate: { after: 1h, to: [${CAST.admin}] }`],
    doctor: /warning.*3 must approve, but only 2 can before the escalation/,
  },
  {
    name: 'a page without its address',
    change: ['audit:', `page: { client_id: "1.2", client_secret: "\${PAGE_SECRET}" }\naudit:`],
    environment: { PAGE_SECRET: 's'.repeat(40) },
    doctor: new RegExp(`${AT}page: PUBLIC_URL is not set, so nobody but this machine reaches the page`),
  },
  {
    name: 'a page whose redirect URL Slack does not know',
    change: ['audit:', `page: { client_id: "1.2", client_secret: "\${PAGE_SECRET}" }\naudit:`],
    environment: { PAGE_SECRET: 's'.repeat(40), PUBLIC_URL: 'https://bot.example.com' },
    doctor: /the redirect URL https:\/\/bot\.example\.com\/page\/signed-in is missing/,
  },
  {
    name: 'an escalation after the request has expired',
    change: policy('expires: 30m, escalate: { after: 1h, to: [S0APPROVE1] }'),
    check: /nobody would be asked/,
    doctor: /nobody would be asked/,
  },
  {
    name: 'a resolver who has left',
    change: policy(`resolvers: [${GONE}]`),
    doctor: /resolvers\[0\]: the account/,
  },
  {
    name: 'a tool for somebody who does not exist',
    change: tool('{ module: ./report.mjs, allow: { people: [U0NOBODY99] } }'),
    doctor: /allow\.people\[0\]: there is nobody/,
  },
  {
    name: 'a bot that may ask and is none',
    change: ['agent: {', `agent: { askers: { bots: [${CAST.alice}] },`],
    doctor: /askers\.bots\[0\]: \S+ is not a bot/,
  },
  {
    name: 'a placeholder',
    change: approver('U0REPLACEME'),
    check: /"U0REPLACEME" is a placeholder/,
    doctor: /"U0REPLACEME" is a placeholder/,
  },
  {
    name: 'no scope to see the members of a user group',
    change: scope('usergroups:read'),
    check: /the scope usergroups:read is missing; the bot needs it to see who is in S0APPROVE1/,
    doctor: /the scope usergroups:read is missing/,
  },
  {
    name: 'no scope to write directly',
    change: scope('im:write'),
    check: /the scope im:write is missing/,
    doctor: /the scope im:write is missing/,
  },
  {
    name: 'no scope to read files',
    change: scope('files:read'),
    check: /the scope files:read is missing; the bot needs it to read files that people attach/,
    doctor: /warning.* the scope files:read is missing/,
  },
  {
    name: 'an event without its scope',
    change: scope('app_mentions:read'),
    check: /app_mentions:read is missing; the bot needs it for the event app_mention/,
    doctor: /app_mentions:read is missing/,
  },
  {
    name: 'a scope that is not installed',
    change: ['users:read]', 'users:read, pins:read]'],
    doctor: /slack scopes: missing: pins:read/,
  },
  {
    name: 'a wrong name in a condition of an HTTP tool',
    change: [
      'allow_private: [localhost] }\n    approval: { when: "input.severity',
      'allow_private: [localhost] }\n    approval: { when: "input.sevrity',
    ],
    check: new RegExp(
      `${AT}tools\\.status\\.approval\\.when: input has no "sevrity"; did you mean "severity"`,
    ),
    doctor: /input has no "sevrity"/,
  },
  {
    name: 'a wrong name in a condition of a module',
    change: ['approval: { when: "input.severity > 2" } }', 'approval: { when: "input.sevrity > 2" } }'],
    check: /input has no "sevrity"; did you mean "severity"/,
    doctor: new RegExp(
      `tool report: \\S+${AT}tools\\.report\\.approval\\.when: input has no "sevrity"; did you mean "severity"`,
    ),
  },
  {
    name: 'an unknown variable in a condition',
    change: ['"input.severity > 2" } }', '"inptu.severity > 2" } }'],
    check: /unknown variable "inptu"; did you mean "input"/,
    doctor: /unknown variable "inptu"/,
  },
  {
    name: 'a condition that is no condition',
    change: ['"input.severity > 2" } }', '"1 + 1" } }'],
    check: /a condition must be true or false/,
    doctor: /a condition must be true or false/,
  },
  {
    name: 'a policy that does not exist',
    change: tool('{ module: ./report.mjs, approval: { policy: defualt } }'),
    check: /there is no policy "defualt"; did you mean "default"/,
    doctor: /there is no policy "defualt"/,
  },
  {
    name: 'a rule for no tool of the module',
    change: ['approval: { when: "input.severity > 2" } }', 'approval: { match: "delete_*" } }'],
    check: /this rule is never used: "delete_\*" matches none of report/,
    doctor: /this rule is never used: "delete_\*" matches none of report/,
  },
  {
    name: 'a module file that is not there',
    change: tool('{ module: ./reprot.mjs }'),
    check: new RegExp(`${AT}tools\\.planted\\.module: there is no file \\./reprot\\.mjs`),
    doctor: /there is no file \.\/reprot\.mjs/,
  },
  {
    name: 'a module that throws',
    module: 'throw new Error("no database");',
    check: /tools\.report\.module: .*no database/,
    doctor: /tool report: .*no database/,
  },
  {
    name: 'a module without a tool',
    module: 'export const nothing = 1;',
    check: /exports no tool/,
    doctor: /exports no tool/,
  },
  {
    name: 'a module whose tool has another name',
    change: ['report: { module', 'reports: { module'],
    doctor: /warning +tool reports: .*the module exports report and no tool named reports/,
  },
  {
    name: 'a package that is not installed',
    change: tool('{ module: no-such-package }'),
    check: /run "npm install no-such-package"/,
    doctor: /run "npm install no-such-package"/,
  },
  {
    name: 'an MCP command that is not there',
    change: tool('{ mcp: { command: no-such-command } }'),
    check: /there is no command "no-such-command" on this machine/,
    doctor: /there is no command "no-such-command"/,
  },
  {
    name: 'an MCP server that ends at once',
    change: tool('{ mcp: { command: node, args: [-e, "process.exit(3)"] } }'),
    doctor: /tool planted: .*check its command or url, and that it runs/,
  },
  {
    name: 'a folder of an MCP server that is not there',
    change: tool('{ mcp: { command: node, cwd: ./nowhere } }'),
    check: /there is no folder \.\/nowhere/,
    doctor: /there is no folder \.\/nowhere/,
  },
  {
    name: 'a private address',
    change: ['"http://localhost/status", allow_private: [localhost]', '"http://10.1.2.3/status"'],
    check: /"10\.1\.2\.3" is a private address/,
    doctor: /"10\.1\.2\.3" is a private address.*allow_private/,
  },
  {
    name: 'a name of this machine',
    change: [', allow_private: [localhost]', ''],
    check: /"localhost" is a private address/,
    doctor: /"localhost" is a private address/,
  },
  {
    name: 'a host that does not resolve',
    change: ['http://localhost/status', 'http://nothing.invalid/status'],
    doctor: /"nothing\.invalid" cannot be resolved/,
  },
  {
    name: 'a secret that is not set',
    change: ['method: GET', `method: GET, headers: { a: "\${NO_SUCH_SECRET}" }`],
    check: /NO_SUCH_SECRET is not set in \.env/,
    doctor: /NO_SUCH_SECRET is not set/,
  },
  {
    name: 'an audit file in a folder that is not there',
    change: ['./audit.jsonl', './nowhere/audit.jsonl'],
    doctor: new RegExp(`${AT}audit\\.file: \\S+nowhere cannot be written`),
  },
  {
    name: 'an audit endpoint that does not answer',
    change: ['file: ./audit.jsonl', 'http: { url: "http://127.0.0.1:1/rows" }'],
    doctor: /audit\.http\.url: 127\.0\.0\.1:1 does not answer/,
  },
  {
    name: 'an audit key that is not there',
    environment: { AUDIT_KEY_FILE: '/nowhere.pem' },
    doctor: /AUDIT_KEY_FILE: \/nowhere\.pem cannot be read/,
  },
  {
    name: 'a Redis that evicts',
    redis: { 'maxmemory-policy': 'allkeys-lru' },
    doctor: /warning +redis: .*set it to noeviction/,
  },
  {
    name: 'a Redis that keeps nothing',
    redis: { appendonly: 'no' },
    doctor: /warning +redis: .*set appendonly to yes/,
  },
  {
    name: 'a Redis that is not there',
    environment: { REDIS_URL: 'redis://127.0.0.1:1' },
    doctor: /FAILED +redis: .*ECONNREFUSED/,
  },
  {
    name: 'a wrong bot token',
    environment: { SLACK_BOT_TOKEN: 'xoxb-wrong' },
    doctor: /Slack rejects SLACK_BOT_TOKEN/,
  },
  {
    name: 'a wrong app token',
    environment: { SLACK_APP_TOKEN: 'xapp-wrong' },
    doctor: /Slack rejects SLACK_APP_TOKEN/,
  },
  {
    name: 'an app token in place of the bot token',
    environment: { SLACK_BOT_TOKEN: 'xapp-1' },
    doctor: /SLACK_BOT_TOKEN: must start with xoxb-/,
  },
];
