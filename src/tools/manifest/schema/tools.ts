import { z } from 'zod';
import { EFFECTS } from '../../../agent/tool.ts';
import { REVERSIBLE } from '../../../policy/reversible.ts';
import { ApprovalFile } from './policies.ts';
import {
  AddressOrPath,
  Channel,
  Count,
  Duration,
  distinct,
  Group,
  Headers,
  HostName,
  Name,
  Person,
  PersonOrGroup,
  Text,
  texts,
  WebAddress,
} from './values.ts';

export const AuthFile = z
  .strictObject({
    as: z
      .enum(['bot', 'requester'])
      .describe(
        'In whose name calls run: bot (one identity for all) or requester (each person connects their own account).',
      ),
    token: Text.optional().describe('For bot: a bearer token, from the environment.'),
    client_id: Text.optional().describe(
      "The bot's client at the authorization server (default, only for requester: the address of the bot's client metadata document).",
    ),
    client_secret: Text.optional().describe("The client's secret, from the environment."),
    private_key: Text.optional().describe(
      "The client's private key as PEM (PKCS #8), from the environment, in place of a secret.",
    ),
    algorithm: z
      .enum(['RS256', 'PS256', 'ES256', 'EdDSA'])
      .optional()
      .describe('How the private key signs (default: RS256).'),
    issuer: WebAddress.optional().describe(
      'The authorization server that knows the client; no other gets its credentials.',
    ),
    scope: Text.optional().describe(
      'The scopes to request, separated by spaces (default: those the server asks for).',
    ),
  })
  .describe('How the bot proves who it is to a remote server (OAuth 2.1).');
export type AuthFile = z.output<typeof AuthFile>;

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
  })
  .describe(
    'What a call would change, read by another tool; shown on the card and checked again before the run.',
  );
export type PreviewFile = z.output<typeof PreviewFile>;

export const UndoFile = z
  .strictObject({
    tool: Name.describe('The tool that takes back what a call did; it has its own approval rules.'),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'Its input; "{{input.name}}" and "{{output.name}}" are replaced by values of the call, and "{{preview.before}}" by what the preview found before it.',
      ),
    within: Duration.optional().describe('How long after the run it is offered (default: 1h).'),
  })
  .describe('The call that takes back what a call did; the card of a call that succeeded offers it as Undo.');
export type UndoFile = z.output<typeof UndoFile>;

const ReversibleFile = z
  .enum(REVERSIBLE)
  .describe(
    'Whether a call can be taken back: yes (at any time), undo (by its "undo", for a while) or no. Without it: undo where there is one, yes for a tool that only reads, else no.',
  );

const CardFile = z
  .strictObject({
    match: Text.describe('For which tools, such as "write_*".'),
    ...textKeys,
    preview: PreviewFile.optional(),
    undo: UndoFile.optional(),
    reversible: ReversibleFile.optional(),
  })
  .describe('The texts for the calls of some tools of a server.');

const ElicitationFile = z
  .strictObject({
    ask: z
      .union([
        z.enum(['requester', 'approvers']),
        distinct(PersonOrGroup, 'Ids of people and of user groups.').min(1),
      ])
      .optional()
      .describe(
        "Who is asked: requester, approvers (those of the tool's policy), or a list of ids (default: requester).",
      ),
    expires: Duration.optional().describe('When a question without an answer expires (default: 7d).'),
  })
  .describe('Who is asked when the server needs input from a person in the middle of a call.');

const ErrorsFile = z
  .union([
    z.literal('final'),
    z.strictObject({
      final: z.array(Text).min(1).describe('Of which tools, such as "read_*".'),
    }),
  ])
  .describe(
    'final: a tool that reports an error (isError) has done nothing, so the call has failed; for all tools, or for some by name. Without it, such a call of a tool with effects has an unknown outcome.',
  );

const AnswersFile = z
  .union([
    z.literal('free'),
    z.strictObject({
      free: z.array(Text).min(1).describe('Of which tools, such as "search_*".'),
    }),
  ])
  .describe(
    'free: answers to questions of the server in an approved call are sent without a further approval; for all tools, or for some by name. Without it, the approvers of the call see and approve them first.',
  );

export const McpFile = z
  .strictObject({
    command: Text.optional().describe('The program of a local server, which speaks over stdio.'),
    args: z.array(z.string()).optional().describe('Its arguments.'),
    env: texts(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'the name of a variable',
      'Its environment; secrets come from ours.',
    ).optional(),
    cwd: Text.optional().describe('The folder it runs in (default: the folder of the manifest).'),
    url: WebAddress.optional().describe('The address of a remote server (streamable HTTP).'),
    headers: Headers.optional(),
    auth: AuthFile.optional(),
    allow_private: distinct(
      HostName,
      'Hosts that may be reached although their address is private.',
    ).optional(),
    timeout: Duration.optional().describe('How long a call may take (default: 60s).'),
    trust_hints: z
      .boolean()
      .optional()
      .describe('Whether the hints of the server (read-only, idempotent) are trusted (default: false).'),
    errors: ErrorsFile.optional(),
    elicitation: ElicitationFile.optional(),
    answers: AnswersFile.optional(),
    prefix: z
      .string()
      .regex(/^[a-zA-Z0-9_-]{1,32}$/)
      .meta({ title: 'up to 32 letters, digits, "_" or "-"' })
      .optional()
      .describe('A prefix for the names of its tools (default: none).'),
  })
  .meta({
    description: 'A whole MCP server: a command to start or a URL to connect to.',
    oneOf: [{ required: ['command'] }, { required: ['url'] }],
  });
export type McpFile = z.output<typeof McpFile>;

const HttpAuthFile = z
  .strictObject({
    token_url: WebAddress.describe('Where the client gets its tokens.'),
    client_id: Text.describe("The bot's client there."),
    client_secret: Text.describe("The client's secret, from the environment."),
    scope: Text.optional().describe('The scopes to request, separated by spaces.'),
  })
  .describe('OAuth 2.0 client credentials: the bot gets a token, sends it as Authorization, and renews it.');

const PollFile = z
  .strictObject({
    url: AddressOrPath.optional().describe(
      "Where the outcome is, with values such as {{output.id}} of the first answer (default: the answer's Location header).",
    ),
    every: Duration.optional().describe('How often it is asked (default: 5s).'),
    for: Duration.describe('How long; after that the outcome is unknown, and people are asked.'),
    while: z
      .record(z.string().min(1), z.array(z.union([z.string(), z.number(), z.boolean()])).min(1))
      .optional()
      .describe(
        'Values that mean that it has not ended, by their place in the answer: { status: [queued, running] }. A 202 always does.',
      ),
  })
  .describe('For a call that its server only accepts (202): asks by GET until it has ended.');

const QueryScalar = z.union([z.string(), z.number(), z.boolean()]);

export const HttpFile = z
  .strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).describe('The method of the request.'),
    url: AddressOrPath.describe(
      'The address, or a path below http_defaults.base_url; {{input.name}} is replaced by that input. The host must be fixed.',
    ),
    headers: Headers.optional(),
    auth: HttpAuthFile.optional(),
    poll: PollFile.optional(),
    query: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(QueryScalar)]))
      .optional()
      .describe('Parameters of the query; {{input.name}} is replaced by that input.'),
    body: z.unknown().optional().describe('The JSON to send; "{{input.name}}" is replaced by that input.'),
    select: Text.optional().describe(
      'The part of the response that the model gets, such as data.items.0.id (default: all).',
    ),
    timeout: Duration.optional().describe('How long the call may take (default: 30s).'),
    max_bytes: Count.optional().describe('The size limit of a response (default: 1048576).'),
    allow_private: distinct(
      HostName,
      'Hosts that may be reached although their address is private.',
    ).optional(),
  })
  .describe('An HTTP call made from a template.');
export type HttpFile = z.output<typeof HttpFile>;

export const HttpDefaultsFile = z
  .strictObject({
    base_url: WebAddress.describe('What the paths of HTTP tools start from.'),
    headers: Headers.optional(),
    auth: HttpAuthFile.optional(),
    timeout: Duration.optional().describe('How long a call may take (default: 30s).'),
    allow_private: distinct(
      HostName,
      'Hosts that may be reached although their address is private.',
    ).optional(),
  })
  .describe(
    'What the HTTP tools share whose url is a path; a tool with an address of its own gets none of it.',
  );

/** The places that images of a tool's results go to. */
const IMAGE_PLACES = ['both', 'model', 'thread'] as const;
export type ImagePlace = (typeof IMAGE_PLACES)[number];

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
    code: z.literal(true).optional().describe('For a tool of this name that a program gives to createBot.'),
    mcp: McpFile.optional(),
    http: HttpFile.optional(),
    description: Text.optional().describe('For http: what the tool does, for the model.'),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('For http: a JSON Schema (2020-12) of the input, of type object.'),
    approval: ApprovalFile.optional(),
    answers: Name.optional().describe(
      'For a module: who answers when the tool asks. requester (default of a question), approvers (of the policy that its rules name; default of a yes or no in the middle of a call), or the name of a policy.',
    ),
    effect: z
      .enum(EFFECTS)
      .optional()
      .describe(
        'none: it only reads; idempotent: a second run with the same idempotency key has no further effect; once: it must never run twice. Without it, what the tool says of itself, none for an HTTP GET, else once.',
      ),
    timeout: Duration.optional().describe(
      'For module: how long a call may take (default: the timeoutMs of its definition, else no limit).',
    ),
    max_attempts: Count.max(20)
      .optional()
      .describe('How often an idempotent action is attempted within an hour (default: 3).'),
    allow: z
      .strictObject({
        channels: distinct(Channel, 'Only in these channels.').min(1).optional(),
        people: distinct(Person, 'Only for these people.').min(1).optional(),
        groups: distinct(Group, 'Only for the members of these user groups, and for "people".')
          .min(1)
          .optional(),
      })
      .optional()
      .describe('Where and for whom the model may use it (default: everywhere and for everybody).'),
    max_output: Count.optional().describe('The limit of its output in characters (default: 100000).'),
    images: z
      .enum(IMAGE_PLACES)
      .optional()
      .describe(
        'Where images of its results go: model (it sees them), thread (people do), or both (the default).',
      ),
    ...textKeys,
    preview: PreviewFile.optional(),
    undo: UndoFile.optional(),
    reversible: ReversibleFile.optional(),
    cards: z
      .array(CardFile)
      .optional()
      .describe(
        'Texts by the names of tools, for a server or a module with several; the first match counts.',
      ),
  })
  .meta({
    description: 'Something the agent may do: exactly one of module, code, mcp and http.',
    oneOf: [{ required: ['module'] }, { required: ['code'] }, { required: ['mcp'] }, { required: ['http'] }],
  });
export type ToolFile = z.output<typeof ToolFile>;
