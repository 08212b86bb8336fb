import type { BrokenManifest } from './broken-manifest.ts';

const KEY = 'k'.repeat(43);

/** Mistakes in callers. */
export const brokenCallers: readonly BrokenManifest[] = [
  {
    says: 'a caller without a proof, with two, and with one that everybody has',
    text: `policies:
  default: { approvers: [U012ABCDEF] }
callers:
  none: { owner: U012ABCDEF, channel: C012ABCDEF, tools: ["*"], identity: {} }
  any: { owner: U012ABCDEF, channel: C012ABCDEF, tools: ["*"], identity: { oidc: { issuer: "https://ci.example", audience: us, claims: {} } } }
  open: { owner: U012ABCDEF, channel: C012ABCDEF, tools: ["*"], identity: { oidc: { issuer: "http://ci.example", audience: us, claims: { a: b } } } }
`,
    rest: 'slack',
    problems: [
      '4:65: callers.none.identity: write either "key" or "oidc"',
      '5:136: callers.any.identity.oidc.claims: name at least one claim; without one everybody with a token of this issuer gets in',
      '6:93: callers.open.identity.oidc.issuer: an issuer has an https:// address',
    ],
  },
  {
    says: 'a key that stands in the file',
    text: `policies:
  default: { approvers: [U012ABCDEF] }
callers:
  job: { owner: U012ABCDEF, channel: C012ABCDEF, tools: ["*"], identity: { key: ${KEY} } }
`,
    rest: 'slack',
    problems: [
      `4:81: callers.job.identity.key: a key is a secret; keep it in the environment and write "\${NAME}" here`,
    ],
  },
  {
    says: 'a webhook without https, and one whose secret stands in the file',
    text: `policies:
  default: { approvers: [U012ABCDEF] }
callers:
  open: { owner: U012ABCDEF, channel: C012ABCDEF, tools: ["*"], identity: { oidc: { issuer: "https://ci.example", audience: us, claims: { a: b } } }, webhook: { url: "http://ci.example", secret: "whsec_${'k'.repeat(40)}" } }
`,
    rest: 'slack',
    problems: [
      '4:167: callers.open.webhook.url: a webhook has an https:// address',
      `4:196: callers.open.webhook.secret: a key is a secret; keep it in the environment and write "\${NAME}" here`,
    ],
  },
  {
    says: 'a caller that may do nothing, and one that asks under a policy that is not there',
    text: `policies:
  default: { approvers: [U012ABCDEF] }
callers:
  idle: { owner: U012ABCDEF, channel: C012ABCDEF, identity: { oidc: { issuer: "https://ci.example", audience: us, claims: { a: b } } } }
  twin: { owner: U012ABCDEF, channel: C012ABCDEF, ask: [defualt], identity: { oidc: { issuer: "https://ci.example", audience: us, claims: { a: b } } } }
`,
    rest: 'slack',
    problems: [
      '4:3: callers.idle: it may do nothing: name "tools" or "ask" policies',
      '5:57: callers.twin.ask[0]: there is no policy "defualt"; did you mean "default"?',
      '5:77: callers.twin.identity: "idle" has the same identity; each caller needs its own',
    ],
  },
];
