import type { BrokenManifest } from './broken-manifest.ts';

/** Mistakes in the section of the agent, and secrets. */
export const brokenAgent: readonly BrokenManifest[] = [
  {
    says: 'a misspelt key',
    text: `agent:
  modle: gpt-5
`,
    rest: 'slack',
    problems: ['2:3: agent.modle: unknown key "modle"; did you mean "model"?'],
  },
  {
    says: 'a key with hyphens',
    text: `agent:
  max-steps: 5
`,
    rest: 'slack',
    problems: ['2:3: agent.max-steps: unknown key "max-steps"; did you mean "max_steps"?'],
  },
  {
    says: 'steps in words',
    text: `agent:
  max_steps: many
`,
    rest: 'slack',
    problems: ['2:14: agent.max_steps: expected a whole number, but this is "many"'],
  },
  {
    says: 'no steps',
    text: `agent:
  max_steps: 0
`,
    rest: 'slack',
    problems: ['2:14: agent.max_steps: 0 is too small; it must be at least 1'],
  },
  {
    says: 'half a step',
    text: `agent:
  max_steps: 2.5
`,
    rest: 'slack',
    problems: ['2:14: agent.max_steps: expected a whole number, but this is 2.5'],
  },
  {
    says: 'too many steps',
    text: `agent:
  max_steps: 5000
`,
    rest: 'slack',
    problems: ['2:14: agent.max_steps: 5000 is too large; it must be at most 1000'],
  },
  {
    says: 'an effort that no model knows',
    text: `agent:
  model: { reasoning_effort: hihg }
`,
    rest: 'slack',
    problems: [
      '2:30: agent.model.reasoning_effort: "hihg" is not one of none, minimal, low, medium, high, xhigh, max; did you mean "high"?',
    ],
  },
  {
    says: 'an answer that is too short for any model',
    text: `agent:
  model: { max_output_tokens: 5 }
`,
    rest: 'slack',
    problems: ['2:31: agent.model.max_output_tokens: 5 is too small; it must be at least 16'],
  },
  {
    says: 'a budget of nothing',
    text: `agent:
  model: { budgets: { per_day: 0 } }
`,
    rest: 'slack',
    problems: ['2:32: agent.model.budgets.per_day: 0 is too small; it must be at least 1'],
  },
  {
    says: 'no request at a time',
    text: `agent:
  limits: { pending_per_thread: 0 }
`,
    rest: 'slack',
    problems: ['2:33: agent.limits.pending_per_thread: 0 is too small; it must be at least 1'],
  },
  {
    says: 'a misspelt limit',
    text: `agent:
  limits: { pending_per_user: 5, pending_per_persons: 5 }
`,
    rest: 'slack',
    problems: [
      '2:13: agent.limits.pending_per_user: unknown key "pending_per_user"; did you mean "pending_per_thread"?',
      '2:34: agent.limits.pending_per_persons: unknown key "pending_per_persons"; did you mean "pending_per_person"?',
    ],
  },
  {
    says: 'a model that is a number',
    text: `agent:
  model: 5
`,
    rest: 'slack',
    problems: ['2:10: agent.model: expected text or a mapping, but this is 5'],
  },
  {
    says: 'empty instructions',
    text: `agent:
  instructions: ""
`,
    rest: 'slack',
    problems: ['2:17: agent.instructions: this must not be empty'],
  },
  {
    says: 'an admin by name',
    text: `agent:
  admins: ["@ada"]
`,
    rest: 'slack',
    problems: ['2:12: agent.admins[0]: "@ada" is not the id of a person, such as U012ABCDEF'],
  },
  {
    says: 'a group as admin',
    text: `agent:
  admins:
    - U012ABCDEF
    - S034GHIJKL
`,
    rest: 'slack',
    problems: ['4:7: agent.admins[1]: "S034GHIJKL" is not the id of a person, such as U012ABCDEF'],
  },
  {
    says: 'one admin without a list',
    text: `agent:
  admins: U012ABCDEF
`,
    rest: 'slack',
    problems: ['2:11: agent.admins: expected a list, but this is "U012ABCDEF"'],
  },
  {
    says: 'a built-in nobody knows',
    text: `agent:
  built_ins: [ask_questions]
`,
    rest: 'slack',
    problems: [
      '2:15: agent.built_ins[0]: "ask_questions" is not one of ask_question, request_form, wait_for_callback, complete_task; did you mean "ask_question"?',
    ],
  },
  {
    says: 'a built-in limited to others',
    text: `agent:
  built_ins: [request_form: requestor]
`,
    rest: 'slack',
    problems: [
      '2:29: agent.built_ins[0].request_form: "requestor" is not requester; did you mean "requester"?',
    ],
  },
  {
    says: 'keys of the model beside their section',
    text: `agent:
  fallbacks: [gpt-6-luna]
  temperature: 0.5
`,
    rest: 'slack',
    problems: [
      '2:3: agent.fallbacks: "fallbacks" is a key of "model": write "model: { name: …, fallbacks: … }"',
      '3:3: agent.temperature: "temperature" is a key of "model": write "model: { name: …, temperature: … }"',
    ],
  },
  {
    says: 'a secret in the instructions',
    text: `agent:
  instructions: Use \${API_KEY} for everything.
`,
    rest: 'slack',
    problems: [
      `2:21: agent.instructions: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
    ],
  },
  {
    says: 'a secret in the instructions of a channel',
    text: `agent:
  channels: { C012ABCDEF: { instructions: "Use \${API_KEY}." } }
`,
    rest: 'slack',
    problems: [
      `2:48: agent.channels.C012ABCDEF.instructions: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
    ],
  },
  {
    says: 'a variable that is not set',
    text: `agent:
  model: \${MODLE}
`,
    rest: 'slack',
    problems: ['2:10: agent.model: MODLE is not set in .env or the environment; did you mean "MODEL"?'],
  },
  {
    says: 'a variable with a default',
    text: `agent:
  model: \${MODEL:-gpt-5}
`,
    rest: 'slack',
    problems: [
      `2:10: agent.model: \${MODEL:-gpt-5} is not of the form \${NAME}; write $\${ for the characters themselves`,
    ],
  },
  {
    says: 'a variable that is not closed',
    text: `agent:
  model: "\${MODEL"
`,
    rest: 'slack',
    problems: [
      `2:11: agent.model: \${MODEL is not of the form \${NAME}; write $\${ for the characters themselves`,
    ],
  },
  {
    says: 'a token in a value',
    text: `agent:
  model: sk-abcdefghijklmnopqrstuvwx
`,
    rest: 'slack',
    problems: [
      `2:10: agent.model: sk-… looks like a secret; keep it in the environment and write \${NAME} here`,
    ],
  },
  {
    says: 'a token in a comment',
    text: `agent:
  model: gpt-5 # xoxb-1234567890-abcdefghij
`,
    rest: 'slack',
    problems: [
      `2:18: agent.model: xoxb-… looks like a secret; keep it in the environment and write \${NAME} here`,
    ],
  },
];
