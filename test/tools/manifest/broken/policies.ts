import type { BrokenManifest } from './broken-manifest.ts';

/** Mistakes in policies. */
export const brokenPolicies: readonly BrokenManifest[] = [
  {
    says: 'quiet hours that never end, in a time zone that is none, or at no time of day',
    text: `policies:
  default: { approvers: [U012ABCDEF], notify: { quiet_hours: { from: "20:00", to: "20:00", time_zone: Europe/Berln } } }
  other: { approvers: [U012ABCDEF], notify: { quiet_hours: { from: "24:00", to: "07:00" } } }
`,
    rest: 'slack',
    problems: [
      '2:62: policies.default.notify.quiet_hours: these hours have no end: "from" and "to" are the same',
      '2:103: policies.default.notify.quiet_hours.time_zone: there is no time zone "Europe/Berln"',
      '3:68: policies.other.notify.quiet_hours.from: "24:00" is not a time of day in quotes, such as "20:00"',
    ],
  },
  {
    says: 'a digest that counts for longer than a day',
    text: `policies:
  default: { approvers: [U012ABCDEF], notify: { load: { summary: { after: 3, within: 2d } } } }
`,
    rest: 'slack',
    problems: ['2:86: policies.default.notify.load.summary.within: "within" can be at most 1d'],
  },
  {
    says: 'a manifest of a later version',
    text: `version: 2
policies: { default: { approvers: [U012ABCDEF] } }
`,
    rest: 'slack',
    problems: ['1:10: version: 2 is not 1, the version that this Countersign reads'],
  },
  {
    says: 'notifications beside their section',
    text: `policies:
  default: { approvers: [U012ABCDEF], remind: 1h, quiet_hours: { from: "20:00", to: "07:00" } }
`,
    rest: 'slack',
    problems: [
      '2:39: policies.default.remind: "remind" is a key of "notify": write "notify: { remind: … }"',
      '2:51: policies.default.quiet_hours: "quiet_hours" is a key of "notify": write "notify: { quiet_hours: … }"',
    ],
  },
  {
    says: 'an approver found by a tool that is asked for values that are not there, or that the model chooses',
    text: `policies:
  default: { approvers: [U012ABCDEF] }
  manager: { approvers: { from: { tool: get_manager, input: { of: "{{output.id}}" }, email: "{{input.email}}" } } }
  owner: { approvers: { from: { tool: get_owner, input: { of: "{{input.group}}" }, email: "{{output.email}}" } } }
  both: { approvers: { all: [{ from: { tool: get_owner, input: { of: "{{input.group}}" }, email: "{{output.email}}" } }, { any: [U012ABCDEF] }] } }
`,
    rest: 'slack',
    problems: [
      '3:68: policies.manager.approvers.from.input.of: there is no {{output.…}} here',
      '3:94: policies.manager.approvers.from.email: there is no {{input.…}} here',
      '4:57: policies.owner.approvers.from.input: the model gives this input, so it could choose the approver: write this group under "all", beside one with only "any"',
    ],
  },
  {
    says: 'the total of a limit that there is not',
    text: `policies: { default: { approvers: [U012ABCDEF], risk: "sum('refund') > 9.0 ? 'high' : 'low'" } }
limits: { pay: { window: 1d, max: 3 }, pay-2: { tools: pay, window: 1d, max: 9 }, all: { tools: pay, window: 1d, max: 9 } }
tools:
  pay:
    description: Pays.
    http: { method: POST, url: "https://pay.example.com" }
    approval:
      - { policy: default, when: 'count("apy") > 2 || count("pay-2") > 1 || count("all") > 1' }
      - { policy: default, when: "tool != 'count(\\"none\\")'" }
      - { policy: default }
`,
    rest: 'slack',
    problems: [
      '1:56: policies.default.risk: there is no limit "refund"; the limits are pay, pay-2, all',
      '8:35: tools.pay.approval[0].when: there is no limit "apy"; did you mean "pay"?',
    ],
  },
  {
    says: 'a policy without approvers',
    text: `policies:
  default: { quorum: 1 }
`,
    rest: 'slack',
    problems: ['2:3: policies.default: "approvers" is missing'],
  },
  {
    says: 'a policy without content',
    text: `policies:
  default:
`,
    rest: 'slack',
    problems: ['2:3: policies.default: expected a mapping, but this is empty'],
  },
  {
    says: 'nobody in the list',
    text: `policies:
  default: { approvers: [] }
`,
    rest: 'slack',
    problems: ['2:25: policies.default.approvers: this list must not be empty'],
  },
  {
    says: 'a grant of a high-risk policy, and a condition of one that is none',
    text: `policies:
  default: { approvers: [U012ABCDEF], risk: high, grants: { for: 2h, uses: 5 } }
  other: { approvers: [U012ABCDEF], grants: { for: 2h, uses: 5, when: requester } }
`,
    rest: 'slack',
    problems: [
      '2:59: policies.default.grants: a high-risk call is never allowed beforehand; remove "grants" or lower the risk',
      '3:71: policies.other.grants.when: a condition must be true or false, but this is of type string',
    ],
  },
  {
    says: 'policies with names that are words of "approval" and "answers"',
    text: `policies:
  default: { approvers: [U012ABCDEF] }
  never: { approvers: [U012ABCDEF] }
  approvers: { approvers: [U012ABCDEF] }
`,
    rest: 'slack',
    problems: [
      '3:3: policies.never: "approval: never" would not ask this policy; give it another name',
      '4:3: policies.approvers: "answers: approvers" would not ask this policy; give it another name',
    ],
  },
  {
    says: 'a limit of an unknown policy and an amount that is no number',
    text: `policies: { default: { approvers: [U012ABCDEF] } }
limits:
  refund_order: { sum: requester, window: 1d, max: 5, policy: defualt }
`,
    rest: 'slack',
    problems: [
      '3:24: limits.refund_order.sum: an amount must be a number, but this is of type string',
      '3:63: limits.refund_order.policy: there is no policy "defualt"; did you mean "default"?',
    ],
  },
  {
    says: 'more people to unfreeze than there are',
    text: `agent: { unfreeze: { approvers: [U012ABCDEF], quorum: 2 } }
`,
    rest: 'slack',
    problems: [
      '1:55: agent.unfreeze.quorum: 2 must approve, but only 1 can: name more approvers or lower the quorum',
    ],
  },
  {
    says: 'a time zone that there is not',
    text: `policies:
  default: { approvers: [U012ABCDEF], time_zone: Europe/Berln }
agent: { time_zone: Mars/Olympus }
`,
    rest: 'slack',
    problems: [
      '2:50: policies.default.time_zone: there is no time zone "Europe/Berln"',
      '3:21: agent.time_zone: there is no time zone "Mars/Olympus"',
    ],
  },
  {
    says: 'approvers of two forms at once',
    text: `policies:
  default: { approvers: { any: [U012ABCDEF], all: [{ any: [S034GHIJKL] }] } }
`,
    rest: 'slack',
    problems: ['2:25: policies.default.approvers: write either "all" or "any" and "from", not both'],
  },
  {
    says: 'approvers of no form',
    text: `policies:
  default: { approvers: { not: [U012ABCDEF] } }
`,
    rest: 'slack',
    problems: [
      '2:25: policies.default.approvers: name the approvers: one of "any", "from" and "all" is missing',
    ],
  },
  {
    says: 'a group of nobody',
    text: `policies:
  default: { approvers: { all: [{ any: [S034GHIJKL] }, { quorum: 2 }] } }
`,
    rest: 'slack',
    problems: [
      '2:56: policies.default.approvers.all[1]: name the people of this group: "any" or "from" is missing',
    ],
  },
  {
    says: 'a quorum beside groups that have their own',
    text: `policies:
  default: { approvers: { all: [{ any: [S034GHIJKL] }] }, quorum: 2 }
`,
    rest: 'slack',
    problems: [
      '2:67: policies.default.quorum: with "all" each group has a quorum of its own; write it there',
    ],
  },
  {
    says: 'one person in two groups',
    text: `policies:
  default: { approvers: { all: [{ any: [U012ABCDEF] }, { any: [U012ABCDEF] }] } }
`,
    rest: 'slack',
    problems: [
      '2:25: policies.default.approvers: 2 must approve, but only 1 can: name more approvers or lower the quorum',
    ],
  },
  {
    says: 'an approver who is excluded',
    text: `policies:
  default: { approvers: { any: [U012ABCDEF], not: [U012ABCDEF] } }
`,
    rest: 'slack',
    problems: [
      '2:25: policies.default.approvers: 1 must approve, but only 0 can: name more approvers or lower the quorum',
    ],
  },
  {
    says: 'who may not approve: nobody, an id in place of an argument, a number, and an unknown variable',
    text: `policies:
  default: { approvers: { any: [S034GHIJKL], not: {} } }
  named: { approvers: { any: [S034GHIJKL], not: { from: U012ABCDEF } } }
  number: { approvers: { any: [S034GHIJKL], not: { from: "size(requesters)" } } }
  typo: { approvers: { any: [S034GHIJKL], not: { from: inptu.author } } }
`,
    rest: 'slack',
    problems: [
      '2:46: policies.default.approvers.not: "from" is missing',
      '3:57: policies.named.approvers.not.from: this is an id and no argument of the call; write not: [U012ABCDEF]',
      '4:59: policies.number.approvers.not.from: an expression must give a member ID or an email address, or a list of them, but this is of type int',
      '5:56: policies.typo.approvers.not.from: unknown variable "inptu"; did you mean "input"?',
    ],
  },
  {
    says: 'delegations to oneself, twice of one person, and for policies that are not there or allow none',
    text: `policies:
  default: { approvers: [S034GHIJKL], delegation: true }
  finance: { approvers: [S034GHIJKL] }
delegations:
  - { from: U012ABCDEF, to: U012ABCDEF, until: "2099-01-01" }
  - { from: U012ABCDEF, to: U034GHIJKL, until: "2099-01-01 18:00" }
  - { from: U056MNOPQR, to: U034GHIJKL, until: "2099-01-01", policies: [defualt, finance] }
  - { from: U078STUVWX, to: U034GHIJKL, until: Friday }
`,
    rest: 'slack',
    problems: [
      '5:29: delegations[0].to: nobody decides for themselves; name another person',
      '6:13: delegations[1].from: delegation 1 is of this person already, and everyone has one at a time',
      '7:73: delegations[2].policies[0]: there is no policy "defualt"; did you mean "default"?',
      '7:82: delegations[2].policies[1]: the policy "finance" allows no delegation; set delegation: true there',
      '8:48: delegations[3].until: "Friday" is not a date such as 2026-12-01, or with a time: "2026-12-01 18:00"',
    ],
  },
  {
    says: 'an expression for approvers that gives a number',
    text: `policies:
  default: { approvers: { from: "size(requesters)" } }
  other: { approvers: { all: [{ any: [S034GHIJKL] }, { from: "inptu.owner" }] } }
`,
    rest: 'slack',
    problems: [
      '2:34: policies.default.approvers.from: an expression must give an email address or a list of them, but this is of type int',
      '3:63: policies.other.approvers.all[1].from: unknown variable "inptu"; did you mean "input"?',
    ],
  },
  {
    says: 'an approver by name',
    text: `policies:
  default:
    approvers: [U012ABCDEF, alice]
`,
    rest: 'slack',
    problems: [
      '3:29: policies.default.approvers[1]: "alice" is not the id of a person (U012ABCDEF) or of a user group (S034GHIJKL)',
    ],
  },
  {
    says: 'a channel as approver',
    text: `policies:
  default:
    approvers: [C012ABCDEF]
`,
    rest: 'slack',
    problems: [
      '3:17: policies.default.approvers[0]: "C012ABCDEF" is not the id of a person (U012ABCDEF) or of a user group (S034GHIJKL)',
    ],
  },
  {
    says: 'the same person twice',
    text: `policies:
  default:
    approvers: [U012ABCDEF, U012ABCDEF]
`,
    rest: 'slack',
    problems: ['3:29: policies.default.approvers[1]: "U012ABCDEF" appears twice in this list'],
  },
  {
    says: 'more signatures than people',
    text: `policies:
  default:
    approvers: [U012ABCDEF, U034GHIJKL]
    quorum: 3
`,
    rest: 'slack',
    problems: [
      '4:13: policies.default.quorum: 3 must approve, but only 2 can: name more approvers or lower the quorum',
    ],
  },
  {
    says: 'a quorum of none',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    quorum: 0
`,
    rest: 'slack',
    problems: ['4:13: policies.default.quorum: 0 is too small; it must be at least 1'],
  },
  {
    says: 'a misspelt key',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    expire: 4h
`,
    rest: 'slack',
    problems: ['4:5: policies.default.expire: unknown key "expire"; did you mean "expires"?'],
  },
  {
    says: 'a duration in words',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    expires: 4 hours
`,
    rest: 'slack',
    problems: ['4:14: policies.default.expires: "4 hours" is not a duration such as 30s, 15m, 4h or 2d'],
  },
  {
    says: 'a duration without unit',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    expires: 30
`,
    rest: 'slack',
    problems: [
      '4:14: policies.default.expires: expected a duration such as 30s, 15m, 4h or 2d, but this is 30',
    ],
  },
  {
    says: 'a duration of nothing',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    expires: 0s
`,
    rest: 'slack',
    problems: ['4:14: policies.default.expires: "0s" is not a duration such as 30s, 15m, 4h or 2d'],
  },
  {
    says: 'a reminder after the end',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    expires: 1h
    notify: { remind: 2h }
`,
    rest: 'slack',
    problems: ['5:23: policies.default.notify.remind: nobody would be reminded: the request expires by then'],
  },
  {
    says: 'a reminder after the end that is the default',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    notify: { remind: 2d }
`,
    rest: 'slack',
    problems: [
      '4:23: policies.default.notify.remind: nobody would be reminded: the request expires after 1d, the default',
    ],
  },
  {
    says: 'an escalation at the end',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    expires: 2h
    escalate: { after: 2h, to: [S0ONCALL] }
`,
    rest: 'slack',
    problems: ['5:24: policies.default.escalate.after: nobody would be asked: the request expires by then'],
  },
  {
    says: 'an escalation to nobody',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    escalate: { after: 2h }
`,
    rest: 'slack',
    problems: ['4:5: policies.default.escalate: "to" is missing'],
  },
  {
    says: 'an announcement by channel name',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    notify: { announce: ["#releases"] }
`,
    rest: 'slack',
    problems: [
      '4:26: policies.default.notify.announce[0]: "#releases" is not the id of a channel, such as C012ABCDEF',
    ],
  },
  {
    says: 'a risk nobody knows',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    risk: hihg
`,
    rest: 'slack',
    problems: ['4:11: policies.default.risk: "hihg" is not one of low, medium, high; did you mean "high"?'],
  },
  {
    says: 'a risk that is computed wrongly',
    text: `policies:
  default: { approvers: [S034GHIJKL], risk: "inptu.amount > 5 ? 'high' : 'low'" }
  other: { approvers: [S034GHIJKL], risk: "input.amount > 5" }
`,
    rest: 'slack',
    problems: [
      '2:46: policies.default.risk: unknown variable "inptu"; did you mean "input"?',
      '3:44: policies.other.risk: an expression must give one of low, medium, high, but this is of type bool',
    ],
  },
  {
    says: 'a switch in words',
    text: `policies:
  default:
    approvers: [S034GHIJKL]
    veto: "yes"
`,
    rest: 'slack',
    problems: ['4:11: policies.default.veto: expected true or false, but this is "yes"'],
  },
  {
    says: 'a name with a blank',
    text: `policies:
  the boss: { approvers: [S034GHIJKL] }
`,
    rest: 'slack',
    problems: ['2:3: policies.the boss: "the boss" is not a name of 1 to 64 letters, digits, "_" or "-"'],
  },
];
