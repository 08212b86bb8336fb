import { z } from 'zod';
import {
  Channel,
  Count,
  Duration,
  distinct,
  Name,
  PersonOrGroup,
  Text,
  TimeOfDay,
  TimeZone,
} from './values.ts';

/** The name of a tool, or a pattern of names. */
export const Pattern = z
  .string()
  .regex(/^[a-zA-Z0-9_*?-]{1,64}$/)
  .meta({ title: 'the name of a tool, or a pattern such as "refund_*"' });

/** Periods of the calendar. */
const PERIODS = ['day', 'week', 'month'] as const;

export const LimitFile = z
  .strictObject({
    tools: Pattern.optional().describe(
      'Which tools it counts, such as "refund_*" (default: those of its name).',
    ),
    when: Text.optional().describe(
      'CEL over the call, and "approved": which calls count, such as "!approved" for those without approval (default: all).',
    ),
    sum: Text.optional().describe(
      'CEL over the call that gives its amount: "input.amount"; without it calls are counted.',
    ),
    per: z
      .enum(['requester', 'channel', 'tool'])
      .optional()
      .describe(
        'For whom it counts: each requester, each channel, or the tool as a whole (default: requester).',
      ),
    window: z
      .union([z.enum(PERIODS), Duration])
      .describe(
        'The time in which it counts: 1d moves on with the clock; day, week and month are those of the calendar in agent.time_zone.',
      ),
    max: z.number().min(0).describe('The most in that time.'),
    policy: Name.optional().describe(
      'The policy that is asked for a call over the limit (default: such a call is denied).',
    ),
  })
  .describe('How much the calls of a tool may do in a time.');
export type LimitFile = z.output<typeof LimitFile>;

const Principals = distinct(PersonOrGroup, 'Ids of people and of user groups.').min(1);
const FromTool = z
  .strictObject({
    tool: Name.describe('A tool that only reads (effect: none); over HTTP a GET.'),
    input: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(
        'Its input; "{{input.name}}" is replaced by that input of the call, "{{requester.id}}" and "{{requester.email}}" by the requester.',
      ),
    email: Text.describe('The email address of the approver: "{{output.manager.email}}".'),
  })
  .describe('A tool that finds the approver, such as the manager of the requester.');
const FromCall = z
  .union([
    Text.describe(
      'CEL over the call that gives the email address, or a list of them, of approvers: "input.owner_email".',
    ),
    FromTool,
  ])
  .describe(
    'Where the addresses of approvers come from: CEL over the call, or { tool, input, email } of a tool that only reads.',
  );
export type FromFile = z.output<typeof FromCall>;

const ApproverGroupFile = z
  .strictObject({
    any: Principals.optional(),
    from: FromCall.optional(),
    quorum: Count.optional().describe('How many of them must approve (default: 1).'),
  })
  .describe('People of whom some must approve.');

export const ApproversFile = z
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
      not: z
        .union([
          distinct(PersonOrGroup, 'Ids of people and of user groups.'),
          z.strictObject({
            from: Text.describe(
              'CEL over the call that gives the member ID or the email address of a person, or a list of them: "input.author".',
            ),
          }),
        ])
        .optional()
        .describe('Who may not approve, whatever group they are in: a list of ids, or { from } of the call.'),
    }),
  ])
  .describe('Who may approve: a list of ids, or { any, from, not } or { all, not }.');
export type ApproversFile = z.output<typeof ApproversFile>;

export const NotifyFile = z
  .strictObject({
    announce: distinct(Channel, 'Channels where the card is posted as well.').optional(),
    direct_messages: z
      .boolean()
      .optional()
      .describe('Whether each approver gets the card as a direct message (default: true).'),
    quiet_hours: z
      .strictObject({
        from: TimeOfDay.describe('When they begin: "20:00".'),
        to: TimeOfDay.describe('When they end, on the next day if it is earlier: "07:00".'),
        time_zone: TimeZone.optional().describe('The time zone of both (default: time_zone of the policy).'),
      })
      .optional()
      .describe(
        'No direct messages and no reminders in these hours; they are sent when the hours end. High risk, and what expires before, is sent at once.',
      ),
    load: z
      .strictObject({
        waiting: Count.optional().describe(
          'An approver for whom so many requests of direct messages wait gets no further one; the others do, and if nobody is left, the escalation is at once.',
        ),
        approvals_per_hour: Count.optional().describe(
          'How many requests of this policy one person may approve in an hour (default: no limit).',
        ),
        summary: z
          .strictObject({
            after: Count.describe('How many requests come as cards of their own within that time.'),
            within: Duration.describe('The time in which they are counted, at most 1d: "10m".'),
          })
          .optional()
          .describe(
            'One direct message lists what waits, instead of one message for each further request; without it, each has its own. High risk always has its own.',
          ),
      })
      .optional()
      .describe('How much one approver is asked, and may approve in an hour.'),
    remind: Duration.optional().describe('How often the approvers are reminded (default: never).'),
  })
  .describe('How approvers hear of a request: direct messages, channels, reminders, and when not.');
export type NotifyFile = z.output<typeof NotifyFile>;

export const ConfirmFile = z.union([z.boolean(), z.literal('passkey')]);

export const PolicyFile = z
  .strictObject({
    approvers: ApproversFile,
    quorum: Count.optional().describe('How many different people must approve (default: 1).'),
    veto: z.boolean().optional().describe('Whether one rejection decides (default: true).'),
    self_approval: z
      .boolean()
      .optional()
      .describe('Whether the requester may approve as well (default: false).'),
    separation: z
      .enum(['requesters', 'thread'])
      .optional()
      .describe(
        'Who may not approve: the requesters, or everyone whose words led to the call (default: thread for high risk, otherwise requesters).',
      ),
    expires: Duration.optional().describe('When a request without a decision expires (default: 1d).'),
    start_within: Duration.optional().describe(
      'How soon after the last approval the action must start (default: 15m); later it needs a new approval.',
    ),
    escalate: z
      .strictObject({
        after: Duration.describe('When the others are asked as well.'),
        to: distinct(PersonOrGroup, 'Who is asked then, and may approve from then on.').min(1),
      })
      .optional()
      .describe('Whom to ask as well if there is no decision.'),
    delegation: z
      .boolean()
      .optional()
      .describe(
        'Whether an approver may let somebody else decide for them while they are away, with /countersign delegate (default: false).',
      ),
    notify: NotifyFile.optional(),
    confirm: z
      .union([
        ConfirmFile,
        z.strictObject({
          low: ConfirmFile.optional().describe('For calls of low risk.'),
          medium: ConfirmFile.optional().describe('For calls of medium risk.'),
          high: ConfirmFile.optional().describe('For calls of high risk.'),
        }),
      ])
      .optional()
      .describe(
        'Whether Approve asks for a confirmation (default: true for high risk, otherwise false). "passkey": approvers sign with their own passkey on the page. Also by risk: { high: passkey }.',
      ),
    risk: Text.optional().describe(
      "low, medium or high, or a CEL expression that gives one of them for a call: \"input.amount > 100000 ? 'high' : 'low'\" (default: medium).",
    ),
    time_zone: TimeZone.optional().describe(
      'The time zone of "now" in the rules that name this policy (default: agent.time_zone).',
    ),
    grants: z
      .strictObject({
        for: Duration.describe('How long it holds after the approval.'),
        uses: Count.describe('How many further calls it allows.'),
        scope: z
          .enum(['thread', 'requester'])
          .optional()
          .describe(
            'Whether it holds in the same thread only, or for the same requester in any (default: thread).',
          ),
        when: Text.optional().describe(
          'CEL over the call: for which calls it holds; without it, only for the same arguments.',
        ),
      })
      .optional()
      .describe(
        'Whether approvers may also pre-approve further calls, and on what terms; never for high risk.',
      ),
    resolvers: distinct(
      PersonOrGroup,
      'Who may confirm the outcome of an action when it is unknown (default: the approvers).',
    ).optional(),
  })
  .describe('Who approves, how many of them, and within what time.');
export type PolicyFile = z.output<typeof PolicyFile>;

export const RuleFile = z
  .strictObject({
    match: Text.optional().describe('For which tools, such as "get_*" (default: all of them).'),
    require: z
      .enum(['never', 'always', 'deny'])
      .optional()
      .describe('Whether approval is needed, or the call is denied (default: always).'),
    when: Text.optional().describe(
      'CEL over input, requester, requesters, context_authors, channel, tool, tool.reversible, first and now: the rule applies to the calls of which it is true.',
    ),
    policy: Text.optional().describe('The policy whose approvers are asked (default: "default").'),
    reason: Text.max(500)
      .optional()
      .describe('With "require: deny": why; the requester and the model are told.'),
    because: Text.max(200)
      .optional()
      .describe('Why approval is needed, in words for the card, such as "refunds over $100".'),
  })
  .describe('When approval is needed, and whose.');
export type RuleFile = z.output<typeof RuleFile>;

/** The words in place of a rule that are no policy. */
export const RULE_WORDS: readonly string[] = ['never', 'deny', 'always'];

/** The words of `answers` that are no policy. */
export const ANSWERERS: readonly string[] = ['requester', 'approvers'];

/** Returns the rule that one word stands for: never, deny, or the name of a policy. */
export function toRule(word: string): RuleFile {
  if (word === 'never') return { require: 'never' };
  if (word === 'deny') return { require: 'deny', reason: 'This action is not allowed.' };
  return { policy: word };
}

export const ApprovalFile = z
  .union([Name.transform(toRule), RuleFile, z.array(RuleFile)])
  .describe(
    'never, deny, the name of a policy, one rule, or a list of rules of which the first that applies decides. Without any, the default policy is needed.',
  );
