import type { BrokenManifest } from './broken-manifest.ts';

/** Files that are not even a manifest. */
export const brokenFiles: readonly BrokenManifest[] = [
  {
    says: 'an empty file',
    text: '',
    rest: 'nothing',
    problems: ['1:1: the file is empty; a manifest has the keys agent, policies and tools'],
  },
  {
    says: 'a file with nothing but a comment',
    text: `# nothing yet
`,
    rest: 'nothing',
    problems: ['1:1: the file is empty; a manifest has the keys agent, policies and tools'],
  },
  {
    says: 'a file that is one word',
    text: `hello
`,
    rest: 'nothing',
    problems: ['1:1: a manifest is a mapping with the keys agent, policies and tools'],
  },
  {
    says: 'a list at the top',
    text: `- slack
- agent
`,
    rest: 'nothing',
    problems: ['1:1: a manifest is a mapping with the keys agent, policies and tools'],
  },
  {
    says: 'a tab as indentation',
    text: `agent:
\tmodel: gpt-5
`,
    rest: 'slack',
    problems: ['2:1: this is not valid YAML: Tabs are not allowed as indentation; use spaces'],
  },
  {
    says: 'a list that is not closed',
    text: `agent:
  admins: [U012ABCDEF
  model: gpt-5
`,
    rest: 'slack',
    problems: [
      '3:3: this is not valid YAML: Flow sequence in block collection must be sufficiently indented and end with a ]',
    ],
  },
  {
    says: 'a quote that is not closed',
    text: `agent:
  model: "gpt-5
`,
    rest: 'nothing',
    problems: [
      '3:1: this is not valid YAML: Missing closing "quote; check the quotes, brackets and colons here, and the indentation of this line',
    ],
  },
  {
    says: 'a colon too many',
    text: `agent:
  model: gpt: 5
`,
    rest: 'slack',
    problems: [
      '2:10: this is not valid YAML: Nested mappings are not allowed in compact mappings; put a text with ": " in quotes, or check the indentation of this line and the next',
    ],
  },
  {
    says: 'two documents',
    text: `agent: {}
---
tools: {}
`,
    rest: 'nothing',
    problems: ['2:1: a manifest is one document; remove the line "---" and everything after it'],
  },
  {
    says: 'a tag',
    text: `agent:
  model: !secret gpt-5
`,
    rest: 'slack',
    problems: ['2:10: Unresolved tag: !secret; a manifest needs no tags'],
  },
  {
    says: 'a key that appears twice',
    text: `agent:
  model: gpt-5
  model: gpt-6
`,
    rest: 'slack',
    problems: ['3:3: agent.model: "model" appears twice here; keep one'],
  },
  {
    says: 'a section that appears twice',
    text: `agent: { model: gpt-5 }
agent: { model: gpt-6 }
`,
    rest: 'slack',
    problems: ['2:1: agent: "agent" appears twice here; keep one'],
  },
  {
    says: 'an alias without an anchor',
    text: `policies:
  default: *nobody
`,
    rest: 'slack',
    problems: ['2:12: policies.default: the alias *nobody names no anchor before it'],
  },
  {
    says: 'a key that is a mapping',
    text: `tools:
  {{name}}: 1
`,
    rest: 'slack',
    problems: ['2:3: tools: a key must be plain text; put a value that begins with { in quotes'],
  },
  {
    says: 'a key that changes objects',
    text: `agent:
  __proto__: { model: gpt-5 }
`,
    rest: 'slack',
    problems: ['2:3: agent.__proto__: "__proto__" cannot be a key'],
  },
  {
    says: 'a misspelt section',
    text: `agent: {}
polices: {}
`,
    rest: 'slack',
    problems: ['2:1: polices: unknown key "polices"; did you mean "policies"?'],
  },
  {
    says: 'a section nobody knows',
    text: `agent: {}
database: {}
`,
    rest: 'slack',
    problems: [
      '2:1: database: unknown key "database"; the keys here are version, slack, agent, policies, limits, freezes, delegations, http_defaults, tools, callers, audit, retention, page',
    ],
  },
  {
    says: 'a section that is a list',
    text: `tools:
  - read_order
`,
    rest: 'slack',
    problems: ['2:3: tools: expected a mapping, but this is a list'],
  },
  {
    says: 'a section without content',
    text: `agent:
`,
    rest: 'slack',
    problems: ['1:1: agent: expected a mapping, but this is empty'],
  },
];
