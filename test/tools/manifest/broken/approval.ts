import type { BrokenManifest } from './broken-manifest.ts';

/** Mistakes in approval rules. */
export const brokenApproval: readonly BrokenManifest[] = [
  {
    says: 'a policy nobody made',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { policy: finance }
`,
    rest: 'slack and default policy',
    problems: ['4:25: tools.refund.approval.policy: there is no policy "finance"; the policies are default'],
  },
  {
    says: 'first times of a target that nothing names, of another kind, and a class of undoing that there is not',
    text: `tools:
  refund:
    description: Refunds.
    http: { method: POST, url: "https://a.example/refund" }
    approval:
      - when: "first.pair"
      - when: "first.person"
      - when: "tool.reversible == 'maybe'"
      - require: never
`,
    rest: 'slack and default policy',
    problems: [
      '6:16: tools.refund.approval[0].when: nothing says what a call touches; add "target", such as "{{input.customer}}"',
      '7:22: tools.refund.approval[1].when: first has no "person"; first has tool, target, pair',
      '8:35: tools.refund.approval[2].when: tool.reversible is one of yes, undo, no, and never "maybe"',
    ],
  },
  {
    says: 'a misspelt policy',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { policy: defualt }
`,
    rest: 'slack and default policy',
    problems: ['4:25: tools.refund.approval.policy: there is no policy "defualt"; did you mean "default"?'],
  },
  {
    says: 'no default policy',
    text: `tools:
  refund: { module: ./refund.ts }
`,
    rest: 'slack',
    problems: [
      '2:3: tools.refund: some calls need the policy "default", but there is none in policies; add it or name another here',
    ],
  },
  {
    says: 'a rule without a policy, and no default',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'input.amount > 100' }
policies: { finance: { approvers: [S034GHIJKL] } }
`,
    rest: 'slack',
    problems: [
      '2:3: tools.refund: some calls need the policy "default", but there is none in policies; add it or name another here',
    ],
  },
  {
    says: 'a server whose rules leave tools to the default',
    text: `tools:
  github:
    mcp: { command: node }
    approval: [{ match: "get_*", require: never }]
`,
    rest: 'slack',
    problems: [
      '2:3: tools.github: some calls need the policy "default", but there is none in policies; add it or name another here',
    ],
  },
  {
    says: 'a misspelt key',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { requires: never }
`,
    rest: 'slack and default policy',
    problems: ['4:17: tools.refund.approval.requires: unknown key "requires"; did you mean "require"?'],
  },
  {
    says: 'a misspelt key in a list',
    text: `tools:
  github:
    mcp: { command: node }
    approval:
      - { match: "get_*", require: never }
      - { mach: "*" }
`,
    rest: 'slack and default policy',
    problems: ['6:11: tools.github.approval[1].mach: unknown key "mach"; did you mean "match"?'],
  },
  {
    says: 'a requirement nobody knows',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { require: allways }
`,
    rest: 'slack and default policy',
    problems: [
      '4:26: tools.refund.approval.require: "allways" is not one of never, always, deny; did you mean "always"?',
    ],
  },
  {
    says: 'a denial without a reason',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { require: deny }
`,
    rest: 'slack and default policy',
    problems: [
      '4:15: tools.refund.approval: "reason" is missing: say why, because the requester and the model are told',
    ],
  },
  {
    says: 'a reason where nothing is denied',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { require: always, reason: Never on Fridays. }
`,
    rest: 'slack and default policy',
    problems: ['4:34: tools.refund.approval.reason: only a rule with "require: deny" has a reason'],
  },
  {
    says: 'words for approvers where nobody is asked',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { require: never, because: It is small. }
`,
    rest: 'slack and default policy',
    problems: ['4:33: tools.refund.approval.because: only a rule that asks for approval has "because"'],
  },
  {
    says: 'a part of the time that there is not',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'now.huor > 5' }
`,
    rest: 'slack and default policy',
    problems: ['4:28: tools.refund.approval.when: now has no "huor"; did you mean "hour"?'],
  },
  {
    says: 'a word in a list of rules',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: [never]
`,
    rest: 'slack and default policy',
    problems: ['4:16: tools.refund.approval[0]: expected a mapping, but this is "never"'],
  },
  {
    says: 'a condition that breaks off',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'input.amount >' }
`,
    rest: 'slack and default policy',
    problems: ['4:38: tools.refund.approval.when: this is not a valid CEL condition: it is incomplete'],
  },
  {
    says: 'a condition over something else',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'tool == "a" && inptu.amount > 1' }
`,
    rest: 'slack and default policy',
    problems: ['4:39: tools.refund.approval.when: unknown variable "inptu"; did you mean "input"?'],
  },
  {
    says: 'a condition with a variable unlike any',
    text: `tools:
  refund:
    module: ./refund.ts
    approval:
      when: environment == 'prod'
`,
    rest: 'slack and default policy',
    problems: [
      '5:13: tools.refund.approval.when: unknown variable "environment"; the variables are input, requester, requesters, context_authors, channel, tool, first, now',
    ],
  },
  {
    says: 'a condition that is a text',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: '"yes"' }
`,
    rest: 'slack and default policy',
    problems: [
      '4:24: tools.refund.approval.when: a condition must be true or false, but this is of type string',
    ],
  },
  {
    says: 'a condition with a function nobody knows',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'isLarge(input)' }
`,
    rest: 'slack and default policy',
    problems: [
      `4:24: tools.refund.approval.when: this is not a valid CEL condition: found no matching overload for 'isLarge(dyn)'`,
    ],
  },
  {
    says: 'a condition that compares a channel with a number',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'channel > 5' }
`,
    rest: 'slack and default policy',
    problems: [
      "4:24: tools.refund.approval.when: this is not a valid CEL condition: > is used for text and a number, which can't be compared; write both as the same type",
    ],
  },
  {
    says: 'a condition with a pattern that takes more than linear time',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: "input.note.matches('a(?=b)')" }
`,
    rest: 'slack and default policy',
    problems: [
      '4:35: tools.refund.approval.when: the pattern "a(?=b)" cannot be used: invalid or unsupported Perl syntax: `(?=`; patterns have the syntax of RE2, without lookarounds and backreferences',
    ],
  },
  {
    says: 'a condition whose pattern is not known before the call',
    text: `tools:
  refund:
    module: ./refund.ts
    approval: { when: 'input.note.matches(input.pattern)' }
`,
    rest: 'slack and default policy',
    problems: ['4:35: tools.refund.approval.when: the pattern of matches() must be written out as a text'],
  },
];
