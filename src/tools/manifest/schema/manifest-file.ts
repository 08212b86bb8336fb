import { z } from 'zod';
import { isJsonObject, type JsonObject, toJson } from '../../../agent/json.ts';
import { AgentFile } from './agent.ts';
import { CallerFile } from './callers.ts';
import { LimitFile, Pattern, PolicyFile } from './policies.ts';
import { slackSectionSchema } from './slack.ts';
import { HttpDefaultsFile, ToolFile } from './tools.ts';
import {
  Duration,
  distinct,
  Headers,
  LOCAL_DATE,
  LOCAL_DATE_TIME,
  Name,
  named,
  Person,
  PersonOrGroup,
  Text,
  TimeZone,
  WEEKLY_TIME,
  WebAddress,
} from './values.ts';

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

export const PageFile = z
  .strictObject({
    client_id: Text.describe('The client id of the Slack app, or of the client at `issuer`.'),
    client_secret: Text.describe('Its secret, from the environment.'),
    issuer: WebAddress.optional().describe(
      "The company's own OpenID Connect provider, which must give a verified email address (default: Sign in with Slack).",
    ),
    auditors: distinct(
      PersonOrGroup,
      'People and user groups who see every request and the log beside the admins; anyone else sees what they asked for or may decide.',
    ).optional(),
    passkey_wait: Duration.optional().describe(
      'How long a new passkey waits before it counts; an admin can confirm it earlier (default: 1d).',
    ),
  })
  .describe('The page beside Slack, at PUBLIC_URL/page; without it there is none.');
export type PageFile = z.output<typeof PageFile>;

export const RetentionFile = z
  .strictObject({
    threads: Duration.optional().describe('How long an idle thread stays in Redis (default: 30d).'),
    requests: Duration.optional().describe('How long an ended request stays in Redis (default: 30d).'),
  })
  .describe('How long what has ended stays in Redis; the audit log has audit.retention.');
export type RetentionFile = z.output<typeof RetentionFile>;

const FreezeTime = z
  .string()
  .regex(new RegExp(`${LOCAL_DATE_TIME.source}|${WEEKLY_TIME.source}`))
  .meta({ title: 'a date or a day of the week with a time, such as "2026-11-26 18:00" or "friday 14:00"' });

export const FreezeFile = z
  .strictObject({
    name: Text.describe('What people read: Black Friday.'),
    from: FreezeTime.optional().describe(
      'When it begins: "2026-11-26 18:00", or each week at "friday 14:00".',
    ),
    to: FreezeTime.optional().describe('When it ends, in the same form.'),
    while: z
      .strictObject({
        tool: Name.describe('A tool that only reads (effect: none); over HTTP a GET.'),
        input: z.record(z.string(), z.unknown()).optional().describe('Its input.'),
        when: Text.describe('CEL over its output, true while the freeze holds: "output.open > 0".'),
      })
      .optional()
      .describe('In place of times: it holds while a tool says so, and while the tool does not answer.'),
    tools: z
      .array(Pattern)
      .min(1)
      .optional()
      .describe('Which tools, such as "deploy_*" (default: every tool with effects).'),
    time_zone: TimeZone.optional().describe('Of both times (default: that of the agent).'),
  })
  .describe('A time in which no action of some tools starts; what is approved waits for its end.');
export type FreezeFile = z.output<typeof FreezeFile>;

export const DelegationFile = z
  .strictObject({
    from: Person.describe('The approver who is away.'),
    to: Person.describe('Who decides for them.'),
    until: z
      .string()
      .regex(LOCAL_DATE)
      .meta({ title: 'a date such as 2026-12-01, or with a time: "2026-12-01 18:00"' })
      .describe('The last day, or the time of its end, in agent.time_zone.'),
    policies: distinct(Name, 'For which policies (default: all with "delegation").').min(1).optional(),
  })
  .describe('A person who decides for an approver, as /countersign delegate does; passkeys do not count it.');
export type DelegationFile = z.output<typeof DelegationFile>;

/** The manifest as it is written; durations come out in milliseconds. */
export const ManifestFile = z
  .strictObject({
    version: z
      .literal(1)
      .meta({ title: 'the version that this Countersign reads' })
      .optional()
      .describe('The version of the manifest (default: 1).'),
    slack: z.record(z.string(), z.unknown()).optional(),
    agent: AgentFile.optional(),
    policies: named(PolicyFile, 'Who approves; "default" is for the tools without a rule.').optional(),
    limits: z
      .record(Pattern, LimitFile)
      .optional()
      .describe(
        'How much the calls of a tool may do in a time, by a name for count("…") and sum("…"): that of the tool, a pattern such as "refund_*", or another with "tools".',
      ),
    freezes: z
      .array(FreezeFile)
      .optional()
      .describe(
        'The times in which nothing may change; tools that only read still run, and approvals count.',
      ),
    delegations: z
      .array(DelegationFile)
      .optional()
      .describe('Who decides for an approver who is away, as an admin sets it.'),
    http_defaults: HttpDefaultsFile.optional(),
    tools: named(ToolFile, 'What the agent may do, by the name that the model uses.').optional(),
    callers: named(
      CallerFile,
      'Other agents, CI jobs and scripts that may ask through the door, by name.',
    ).optional(),
    audit: AuditFile.optional(),
    retention: RetentionFile.optional(),
    page: PageFile.optional(),
  })
  .describe('The Slack app, the agent, the policies and the tools of Countersign.');
export type ManifestFile = z.output<typeof ManifestFile>;

/** Builds the JSON Schema of a manifest, for editors and for the check; its section `slack` is Slack's own schema. */
export function manifestJsonSchema(): JsonObject {
  const written = toJson(z.toJSONSchema(ManifestFile, { io: 'input', target: 'draft-7' }));
  const { section: slack, definitions } = slackSectionSchema();
  if (!isJsonObject(written) || !isJsonObject(written.properties))
    throw new TypeError('a schema is an object');
  return {
    ...written,
    title: 'The manifest of Countersign',
    properties: { ...written.properties, slack },
    definitions,
  };
}

/** Builds the part of that schema that is Slack's, and not made from our types. */
export function slackOnlyJsonSchema(): JsonObject {
  const { section: slack, definitions } = slackSectionSchema();
  return { type: 'object', properties: { slack }, definitions };
}
