import { z } from 'zod';
import { EFFECTS } from '../../agent/tool.ts';

const UNITS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

export const DURATION = /^[1-9][0-9]{0,5}[smhd]$/;

/** Converts a duration such as `30s`, `15m`, `4h` or `2d` to milliseconds; the text must match `DURATION`. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * (UNITS.get(text.slice(-1)) ?? Number.NaN);
}

/** The name of a tool or a policy; models refuse tool names of any other form. */
export const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

// The title of a schema appears in messages as what was expected.
const Name = z.string().regex(NAME).meta({ title: 'a name of 1 to 64 letters, digits, "_" or "-"' });
const Duration = z
  .string()
  .regex(DURATION)
  .meta({ title: 'a duration such as 30s, 15m, 4h or 2d' })
  .transform(durationMs);
const Person = z
  .string()
  .regex(/^[UW][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a person, such as U012ABCDEF' });
const PersonOrGroup = z
  .string()
  .regex(/^[UWS][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a person (U012ABCDEF) or of a user group (S034GHIJKL)' });
const Group = z
  .string()
  .regex(/^S[A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a user group, such as S034GHIJKL' });
const Bot = z
  .string()
  .regex(/^[BUW][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a bot (B012ABCDEF) or of its user (U012ABCDEF)' });
const Channel = z
  .string()
  .regex(/^[CG][A-Z0-9]{6,20}$/)
  .meta({ title: 'the id of a channel, such as C012ABCDEF' });
const HostName = z
  .string()
  .regex(/^[A-Za-z0-9._:[\]-]{1,253}$/)
  .meta({ title: 'a host name, with ":port" where only one port is meant' });
const WebAddress = z
  .string()
  .regex(/^https?:\/\/\S+$/)
  .meta({ title: 'a URL that begins with https:// or http://' });
const Text = z.string().min(1);
const TimeZone = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9+_/-]{1,60}$/)
  .meta({ title: 'a time zone such as Europe/Berlin' });
const Count = z.int().min(1);

/** A list without duplicates. */
function distinct<Item extends z.ZodType>(item: Item, description: string) {
  return z.array(item).meta({ uniqueItems: true, description });
}

function named<Value extends z.ZodType>(value: Value, description: string) {
  return z.record(Name, value).meta({ description });
}

/** Texts by header or variable name. */
function texts(key: RegExp, title: string, description: string) {
  return z.record(z.string().regex(key).meta({ title }), z.string()).meta({ description });
}

const Headers = texts(
  /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/,
  'the name of a header',
  'Headers to send; secrets come from the environment.',
);

const BuiltIn = z
  .union([
    z.boolean(),
    z.strictObject({
      limit_to: z.enum(['requester']).describe('Only the requester may answer.'),
    }),
  ])
  .describe('true, false to switch it off, or { limit_to: requester }.');

export const BUILT_IN_NAMES = ['ask_question', 'request_form', 'wait_for_callback', 'complete_task'] as const;

const ContextMode = z.enum(['thread', 'mention']);

export const ChannelFile = z
  .strictObject({ context: ContextMode.optional().describe('What the agent reads of threads here.') })
  .describe('The settings of one channel.');
export type ChannelFile = z.output<typeof ChannelFile>;

export const AgentFile = z
  .strictObject({
    model: Text.optional().describe('The model to use; OPENAI_MODEL where it is left out.'),
    fallback_models: distinct(
      Text,
      'Models to ask in this order when the one before is down, retired or rate limited.',
    ).optional(),
    api: z
      .enum(['auto', 'responses', 'chat'])
      .optional()
      .describe(
        'The API of the model; auto is Responses at OpenAI and Azure, and Chat Completions elsewhere.',
      ),
    reasoning_effort: z
      .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
      .optional()
      .describe('How much the model thinks before it answers; its own default.'),
    verbosity: z.enum(['low', 'medium', 'high']).optional().describe('How long answers are.'),
    temperature: z.number().min(0).max(2).optional().describe('Most reasoning models refuse it.'),
    max_output_tokens: Count.min(16).optional().describe('The longest answer, reasoning included.'),
    parallel_tool_calls: z.boolean().optional().describe('Whether the model may call several tools at once.'),
    service_tier: z
      .enum(['auto', 'default', 'flex', 'scale', 'priority'])
      .optional()
      .describe('The tier at the provider.'),
    headers: Headers.optional(),
    query: texts(/^\S+$/, 'the name of a parameter', 'Query parameters of every model request.').optional(),
    timeout: Duration.optional().describe(
      'How long the model may send nothing before the request is given up; MODEL_SILENCE_SECONDS.',
    ),
    budgets: z
      .strictObject({
        per_turn: Count.optional().describe('For one task, from a message to its answer.'),
        per_thread: Count.optional().describe('For one thread in a day.'),
        per_person: Count.optional().describe('For what one person asks for in a day.'),
        per_day: Count.optional().describe('For the whole bot in a day.'),
      })
      .optional()
      .describe('The most tokens to spend; a day is one in UTC. Without one there is no limit.'),
    instructions: Text.optional().describe('What the agent is told before every task.'),
    time_zone: TimeZone.optional().describe('The time zone of "now" in conditions; UTC.'),
    max_steps: Count.max(1000).optional().describe('How often the model may be called for one task; 20.'),
    context_budget: Count.optional().describe(
      "How many tokens of history the model gets at most, estimated at three bytes each; by default the model's known window.",
    ),
    context: ContextMode.optional().describe(
      'What the agent reads when it is mentioned in a thread: thread (all of it since it last did, as quoted context) or mention (the message alone); thread.',
    ),
    channels: z
      .record(Channel, ChannelFile)
      .optional()
      .describe('Settings of single channels, by id, in place of those of the agent.'),
    limits: z
      .strictObject({
        pending_per_thread: Count.optional().describe('Per thread; 10.'),
        pending_per_person: Count.optional().describe('Per requester, over all threads; 25.'),
      })
      .optional()
      .describe('How many requests may wait for people at a time; further ones are not asked.'),
    askers: z
      .strictObject({
        people: distinct(Person, 'Guests and people of other organisations who may ask.').optional(),
        groups: distinct(Group, 'User groups whose members may ask.').optional(),
        channels: distinct(
          Channel,
          'Channels in which guests and people of other organisations may ask.',
        ).optional(),
        guests: z.boolean().optional().describe('Whether all guests may ask; false.'),
        external: z
          .boolean()
          .optional()
          .describe('Whether all people of other organisations may ask; false.'),
        bots: distinct(Bot, 'Other bots that may ask.').optional(),
      })
      .optional()
      .describe('Who may ask beside the full members of the workspace; nobody.'),
    admins: distinct(
      Person,
      'People who are told about errors of a changed manifest, budgets and failures of the model.',
    ).optional(),
    built_ins: z
      .strictObject({
        ask_question: BuiltIn.optional(),
        request_form: BuiltIn.optional(),
        wait_for_callback: BuiltIn.optional(),
        complete_task: BuiltIn.optional(),
      })
      .optional()
      .describe('The ways in which the agent may ask people; all are on by default.'),
  })
  .describe('The agent: its model, its instructions and its limits.');
export type AgentFile = z.output<typeof AgentFile>;

const Principals = distinct(PersonOrGroup, 'Ids of people and of user groups.').min(1);
const FromCall = Text.describe(
  'CEL over the call that gives the email address, or a list of them, of approvers: "input.owner_email".',
);

const ApproverGroupFile = z
  .strictObject({
    any: Principals.optional(),
    from: FromCall.optional(),
    quorum: Count.optional().describe('How many of them must approve; 1.'),
  })
  .describe('People of whom some must approve.');

const ApproversFile = z
  .union([
    Principals,
    z.strictObject({
      any: Principals.optional(),
      from: FromCall.optional(),
      all: z
        .array(ApproverGroupFile)
        .min(1)
        .optional()
        .describe('Groups that must all approve; nobody counts for two of them.'),
      not: distinct(PersonOrGroup, 'Who may not approve, whatever group they are in.').optional(),
    }),
  ])
  .describe('Who may approve: a list of ids, or { any, from, not } or { all, not }.');
export type ApproversFile = z.output<typeof ApproversFile>;

export const PolicyFile = z
  .strictObject({
    approvers: ApproversFile,
    quorum: Count.optional().describe('How many different people must approve; 1.'),
    veto: z.boolean().optional().describe('Whether one rejection decides; true.'),
    self_approval: z.boolean().optional().describe('Whether the requester may approve as well; false.'),
    separation: z
      .enum(['requesters', 'thread'])
      .optional()
      .describe(
        'Who may not approve: the requesters, or everyone whose words led to the call; thread for high risk, otherwise requesters.',
      ),
    expires: Duration.optional().describe('When a request without a decision expires; 1d.'),
    start_within: Duration.optional().describe(
      'How soon after the last approval the action must start; later it is asked anew; 15m.',
    ),
    remind: Duration.optional().describe('How often the approvers are reminded; never.'),
    escalate: z
      .strictObject({
        after: Duration.describe('When the others are asked as well.'),
        to: distinct(PersonOrGroup, 'Who is asked then, and may approve from then on.').min(1),
      })
      .optional()
      .describe('Whom to ask as well if there is no decision.'),
    announce: distinct(Channel, 'Channels where the card is posted as well.').optional(),
    direct_messages: z
      .boolean()
      .optional()
      .describe('Whether each approver gets the card as a direct message; true.'),
    confirm: z
      .boolean()
      .optional()
      .describe('Whether Approve asks for a confirmation; true for high risk, otherwise false.'),
    risk: Text.optional().describe(
      "low, medium or high, or a CEL expression that gives one of them for a call: \"input.amount > 100000 ? 'high' : 'low'\"; medium.",
    ),
    time_zone: TimeZone.optional().describe(
      'The time zone of "now" in the rules that name this policy; agent.time_zone.',
    ),
    resolvers: distinct(
      PersonOrGroup,
      'Who may confirm the outcome of an action when it is unknown; the approvers.',
    ).optional(),
  })
  .describe('Who approves, how many of them, and within what time.');
export type PolicyFile = z.output<typeof PolicyFile>;

export const RuleFile = z
  .strictObject({
    match: Text.optional().describe('For which tools, such as "get_*"; all of them.'),
    require: z
      .enum(['never', 'always', 'deny'])
      .optional()
      .describe('Whether approval is needed, or the call is denied; always.'),
    when: Text.optional().describe(
      'CEL over input, requester, requesters, context_authors, channel, tool and now: the rule applies to the calls of which it is true.',
    ),
    policy: Text.optional().describe('The policy whose approvers are asked; "default".'),
    reason: Text.max(500)
      .optional()
      .describe('With "require: deny": why; the requester and the model are told.'),
  })
  .describe('When approval is needed, and whose.');
export type RuleFile = z.output<typeof RuleFile>;

const Template = Text.meta({ title: 'a text with values such as {{input.name}}' });
const textKeys = {
  title: Template.optional().describe(
    "What a call will do, for people: \"Refund {{input.amount | money('USD', 'cents')}} of order {{input.orderId}}\".",
  ),
  done: Template.optional().describe('The title after success: "Refunded …".'),
  target: Template.optional().describe('The one value that says what a call touches: "{{input.orderId}}".'),
  fields: z
    .record(z.string().min(1).max(60), Template)
    .optional()
    .describe('Values to show below the title, by label.'),
};

export const PreviewFile = z
  .strictObject({
    tool: Name.describe('A tool that only reads (effect: none); over HTTP a GET.'),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Its input; "{{input.name}}" is replaced by that input of the call.'),
    before: Template.describe('What is there now, with values such as {{output.name}}.'),
    after: Template.describe('What will be there, with values of {{input.name}} and {{output.name}}.'),
    timeout: Duration.optional().describe('How long it may take; 5s.'),
  })
  .describe(
    'What a call would change, read by another tool; shown on the card and checked again before the run.',
  );
export type PreviewFile = z.output<typeof PreviewFile>;

export const CardFile = z
  .strictObject({
    match: Text.describe('For which tools, such as "write_*".'),
    ...textKeys,
    preview: PreviewFile.optional(),
  })
  .describe('The texts for the calls of some tools of a server.');
export type CardFile = z.output<typeof CardFile>;

export const McpFile = z
  .strictObject({
    command: Text.optional().describe('The program of a local server, which speaks over stdio.'),
    args: z.array(z.string()).optional().describe('Its arguments.'),
    env: texts(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'the name of a variable',
      'Its environment; secrets come from ours.',
    ).optional(),
    cwd: Text.optional().describe('The folder it runs in; the folder of the manifest.'),
    url: WebAddress.optional().describe('The address of a remote server (streamable HTTP).'),
    headers: Headers.optional(),
    allow_private: distinct(
      HostName,
      'Hosts that may be reached although their address is private.',
    ).optional(),
    timeout: Duration.optional().describe('How long a call may take; 60s.'),
    trust_hints: z
      .boolean()
      .optional()
      .describe('Whether the hints of the server (read-only, idempotent) are trusted; false.'),
    prefix: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,32}$/)
      .meta({ title: 'up to 32 letters, digits, "_" or "-"' })
      .optional()
      .describe('A prefix for the names of its tools; none.'),
  })
  .meta({
    description: 'A whole MCP server: a command to start or a URL to connect to.',
    oneOf: [{ required: ['command'] }, { required: ['url'] }],
  });
export type McpFile = z.output<typeof McpFile>;

const QueryScalar = z.union([z.string(), z.number(), z.boolean()]);

export const HttpFile = z
  .strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).describe('The method of the request.'),
    url: WebAddress.describe(
      'The address; {{input.name}} is replaced by that input. The host must be fixed.',
    ),
    headers: Headers.optional(),
    query: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(QueryScalar)]))
      .optional()
      .describe('Parameters of the query; {{input.name}} is replaced by that input.'),
    body: z.unknown().optional().describe('The JSON to send; "{{input.name}}" is replaced by that input.'),
    select: Text.optional().describe(
      'The part of the response that the model gets, such as data.items.0.id; all.',
    ),
    timeout: Duration.optional().describe('How long the call may take; 30s.'),
    max_bytes: Count.optional().describe('The size limit of a response; 1048576.'),
    allow_private: distinct(
      HostName,
      'Hosts that may be reached although their address is private.',
    ).optional(),
  })
  .describe('An HTTP call made from a template.');
export type HttpFile = z.output<typeof HttpFile>;

export const ToolFile = z
  .strictObject({
    module: z
      .string()
      .regex(
        /^(\.{0,2}\/\S+\.(ts|mts|js|mjs)|(@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*(\/[^\s/]+)*)$/,
      )
      .meta({ title: 'a path such as ./tools/refund.ts, or the name of a package' })
      .optional()
      .describe('A TypeScript or JavaScript file beside the manifest, or a package, that exports the tool.'),
    mcp: McpFile.optional(),
    http: HttpFile.optional(),
    description: Text.optional().describe('For http: what the tool does, for the model.'),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('For http: a JSON Schema (2020-12) of the input, of type object.'),
    approval: z
      .union([RuleFile, z.array(RuleFile)])
      .optional()
      .describe(
        'One rule or a list; the first that applies decides. Without any, the default policy is needed.',
      ),
    effect: z
      .enum(EFFECTS)
      .optional()
      .describe(
        'none: it only reads; idempotent: a second run with the same idempotency key has no further effect; once: it must never run twice. Without it, what the tool says of itself, none for an HTTP GET, else once.',
      ),
    max_attempts: Count.max(20).optional().describe('How often an idempotent action is attempted; 3.'),
    retry_for: Duration.optional().describe('For how long it is retried; 1h.'),
    allow: z
      .strictObject({
        channels: distinct(Channel, 'Only in these channels.').min(1).optional(),
        people: distinct(Person, 'Only for these people.').min(1).optional(),
      })
      .optional()
      .describe('Where and for whom the model may use it; everywhere and for everybody.'),
    max_output: Count.optional().describe('The limit of its output in characters; 100000.'),
    ...textKeys,
    preview: PreviewFile.optional(),
    cards: z
      .array(CardFile)
      .optional()
      .describe(
        'Texts by the names of tools, for a server or a module with several; the first match counts.',
      ),
  })
  .meta({
    description: 'Something the agent may do: exactly one of module, mcp and http.',
    oneOf: [{ required: ['module'] }, { required: ['mcp'] }, { required: ['http'] }],
  });
export type ToolFile = z.output<typeof ToolFile>;

export const AuditFile = z
  .strictObject({
    file: Text.optional().describe('A JSON Lines file to append every row to; relative to the manifest.'),
    http: z
      .strictObject({
        url: WebAddress.describe('The address that gets every row as a CloudEvents event.'),
        headers: Headers.optional(),
      })
      .optional()
      .describe('An HTTP endpoint to send every row to.'),
    retention: Duration.optional().describe(
      'How long rows stay in Redis once every sink has them; without it they stay.',
    ),
  })
  .describe('Where the audit log is exported to, and for how long it stays in Redis.');
export type AuditFile = z.output<typeof AuditFile>;

export const RetentionFile = z
  .strictObject({
    threads: Duration.optional().describe('How long an idle thread stays in Redis; 30d.'),
    requests: Duration.optional().describe('How long an ended request stays in Redis; 30d.'),
  })
  .describe('How long what has ended stays in Redis; the audit log has audit.retention.');
export type RetentionFile = z.output<typeof RetentionFile>;

/** The manifest as it is written; durations come out in milliseconds. */
export const ManifestFile = z
  .strictObject({
    slack: z.record(z.string(), z.unknown()),
    agent: AgentFile.optional(),
    policies: named(PolicyFile, 'Who approves; "default" is for the tools without a rule.').optional(),
    tools: named(ToolFile, 'What the agent may do, by the name that the model uses.').optional(),
    audit: AuditFile.optional(),
    retention: RetentionFile.optional(),
  })
  .describe('The Slack app, the agent, the policies and the tools of Countersign.');
export type ManifestFile = z.output<typeof ManifestFile>;
