import { parse } from 'yaml';
import type { compareManifests } from '../../../../src/tools/manifest/compare/compare-manifests.ts';

const ALL = { any: ['S0FINANCE1'], quorum: 2 };
export const BASE = {
  agent: {
    admins: ['U0ADMIN001'],
    askers: { people: ['U0GUEST001'] },
    built_ins: { request_form: { limit_to: 'requester' } },
  },
  policies: {
    default: {
      approvers: ['S0APPROVE1', 'U0ANN00001'],
      quorum: 2,
      expires: '4h',
      start_within: '10m',
      risk: 'medium',
    },
    finance: {
      approvers: { all: [ALL, { any: ['S0SECURIT1'] }], not: ['U0TREASURE'] },
      risk: 'high',
      resolvers: ['U0ADMIN001'],
    },
    slow: { approvers: ['S0APPROVE1'], escalate: { after: '2h', to: ['U0ADMIN001'] } },
  },
  tools: {
    pay: {
      description: 'Pays.',
      input: { type: 'object', properties: { amount: { type: 'number' } } },
      http: { method: 'POST', url: 'https://example.com/pay' },
      title: 'Pay',
      effect: 'once',
      allow: { people: ['U0ANN00001', 'U0BEN00002'], channels: ['C0MONEY001'] },
      approval: [
        { require: 'deny', when: 'input.amount > 1000', reason: 'Too much.' },
        { policy: 'finance', when: 'input.amount > 100' },
        { require: 'never', when: 'input.amount < 5' },
        {},
      ],
    },
    files: {
      mcp: { command: 'node', args: ['server.js'] },
      approval: [{ match: 'read_*', require: 'never' }, { match: '*' }],
    },
  },
  audit: { file: './audit.jsonl' },
};
type Base = typeof BASE;

/** Changes one value, by its path. */
export function having(path: string, value: unknown): object {
  const copy = structuredClone(BASE) as Record<string, unknown>;
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  let at = copy;
  for (const key of keys) at = at[key] as Record<string, unknown>;
  if (value === undefined) delete at[last];
  else at[last] = value;
  return copy;
}
const rules = (change: (list: Base['tools']['pay']['approval'][number][]) => object[]) =>
  having('tools.pay.approval', change(structuredClone(BASE.tools.pay.approval)));
const [DENY, FINANCE, , ASK] = BASE.tools.pay.approval;
const mail = (from: string) => ({ approvers: { any: ['S0APPROVE1'], from } });

type Verdict = ReturnType<typeof compareManifests>['verdict'];
export const PAIRS: readonly [
  what: string,
  next: object,
  verdict: Verdict,
  words?: RegExp | undefined,
  former?: object,
][] = [
  ['nothing', BASE, 'equal'],
  ['the instructions', having('agent.instructions', 'Be kind.'), 'equal'],
  ['who is reminded and told', having('policies.default.remind', '1h'), 'equal'],
  ['the order of approvers', having('policies.default.approvers', ['U0ANN00001', 'S0APPROVE1']), 'equal'],
  [
    'the spelling of a condition',
    rules(([a, , c, d]) => [a, { ...FINANCE, when: 'input.amount>100' }, c, d] as object[]),
    'equal',
  ],
  [
    'a lower quorum',
    having('policies.default.quorum', 1),
    'weaker',
    /^policies\.default: approvers: 2 of .* before, 1 of .* now$/,
  ],
  ['a higher quorum', having('policies.default.quorum', 3), 'stronger'],
  [
    'one more approver',
    having('policies.default.approvers', ['S0APPROVE1', 'U0ANN00001', 'U0EVE00009']),
    'weaker',
    /U0EVE00009/,
  ],
  ['one approver less', having('policies.default.approvers', ['S0APPROVE1']), 'stronger'],
  ['other approvers', having('policies.default.approvers', ['S0OTHERS01']), 'weaker', /S0OTHERS01/],
  [
    'one of several groups is gone',
    having('policies.finance.approvers.all', [ALL]),
    'weaker',
    /2 of S0FINANCE1 and 1 of S0SECURIT1 before/,
  ],
  [
    'one more group',
    having('policies.finance.approvers.all', [ALL, { any: ['S0SECURIT1'] }, { any: ['S0LEGAL001'] }]),
    'stronger',
  ],
  [
    'groups in another order',
    having('policies.finance.approvers.all', [{ any: ['S0SECURIT1'] }, ALL]),
    'equal',
  ],
  [
    'groups as one list',
    having('policies.finance.approvers', { any: ['S0FINANCE1', 'S0SECURIT1'], not: ['U0TREASURE'] }),
    'weaker',
  ],
  [
    'somebody may approve again',
    having('policies.finance.approvers.not', undefined),
    'weaker',
    /who may not approve: U0TREASURE removed/,
  ],
  [
    'one more may not approve',
    having('policies.finance.approvers.not', ['U0TREASURE', 'U0BEN00002']),
    'stronger',
  ],
  [
    'approvers from another input',
    having('policies.slow', mail('input.boss')),
    'incomparable',
    /the person of input\.boss/,
    having('policies.slow', mail('input.owner')),
  ],
  [
    'no approver from the input any more',
    having('policies.slow', { approvers: ['S0APPROVE1'] }),
    'incomparable',
    undefined,
    having('policies.slow', mail('input.owner')),
  ],
  [
    'self-approval',
    having('policies.default.self_approval', true),
    'weaker',
    /people may approve their own requests/,
  ],
  [
    'delegation',
    having('policies.default.delegation', true),
    'weaker',
    /approvers may let others decide for them/,
  ],
  ['no delegation any more', BASE, 'stronger', undefined, having('policies.default.delegation', true)],
  ['quiet hours', having('policies.default.quiet_hours', { from: '20:00', to: '07:00' }), 'equal'],
  ['a digest', having('policies.default.load', { digest: { after: 3, within: '10m' } }), 'equal'],
  ['limits of what one approver does', having('policies.default.load', { waiting: 3 }), 'incomparable'],
  ['separation of the thread', having('policies.default.separation', 'thread'), 'stronger'],
  [
    'less separation',
    having('policies.finance.separation', 'requesters'),
    'weaker',
    /people whose words led to the call may approve it/,
  ],
  ['no veto', having('policies.default.veto', false), 'weaker', /one rejection is no longer enough/],
  ['a later expiry', having('policies.default.expires', '1d'), 'weaker', /expires after: 4h before, 1d now/],
  ['an earlier expiry', having('policies.default.expires', '1h'), 'stronger'],
  [
    'approvals that hold longer',
    having('policies.default.start_within', '1h'),
    'weaker',
    /an approval holds for: 10m before, 1h now/,
  ],
  ['a lower risk', having('policies.default.risk', 'low'), 'weaker', /risk: medium before, low now/],
  [
    'a risk that depends',
    having('policies.default.risk', "input.amount > 5 ? 'high' : 'low'"),
    'incomparable',
    /risk: medium before/,
  ],
  [
    'no confirmation',
    having('policies.finance.confirm', false),
    'weaker',
    /asks less often for a confirmation/,
  ],
  [
    'an escalation',
    having('policies.default.escalate', { after: '1h', to: ['U0ADMIN001'] }),
    'weaker',
    /U0ADMIN001 may approve after 1h/,
  ],
  [
    'an earlier escalation',
    having('policies.slow.escalate.after', '1h'),
    'weaker',
    /others may approve after 1h \(was 2h\)/,
  ],
  ['no escalation', having('policies.slow.escalate', undefined), 'stronger'],
  [
    'more people confirm outcomes',
    having('policies.finance.resolvers', ['U0ADMIN001', 'U0EVE00009']),
    'weaker',
    /U0EVE00009 added/,
  ],
  [
    'never instead of always',
    rules(([a, b, c]) => [a, b, c, { require: 'never' }] as object[]),
    'weaker',
    /calls that needed approval by "default" now run without approval, where no condition is true/,
  ],
  ['always instead of never', rules(([a, b, , d]) => [a, b, d] as object[]), 'stronger'],
  [
    'deny is removed',
    rules(([, b, c, d]) => [b, c, d] as object[]),
    'weaker',
    /calls that were denied now .*"amount" is more than 1000/,
  ],
  [
    'one more deny',
    rules((list) => [{ require: 'deny', when: "channel == 'C0MONEY001'", reason: 'No.' }, ...list]),
    'stronger',
  ],
  [
    'rules in another order',
    rules(([a, b, c, d]) => [a, c, b, d] as object[]),
    'weaker',
    /calls that needed approval by "finance" now run/,
  ],
  [
    'an order that is stricter',
    having('tools.pay.approval', [FINANCE, DENY, ASK]),
    'stronger',
    undefined,
    having('tools.pay.approval', [FINANCE, ASK]),
  ],
  [
    'another condition',
    rules(([a, , c, d]) => [a, { ...FINANCE, when: 'input.amount > 200' }, c, d] as object[]),
    'incomparable',
    /"amount" is more than/,
  ],
  [
    'a weaker policy',
    rules(([a, , c, d]) => [a, { ...FINANCE, policy: 'slow' }, c, d] as object[]),
    'weaker',
  ],
  [
    'another time zone of a condition',
    having('agent.time_zone', 'Asia/Tokyo'),
    'incomparable',
    /now/,
    { ...rules(() => [{ require: 'never', when: 'now.hour > 8' }, ASK ?? {}]) },
  ],
  [
    'one more person may use it',
    having('tools.pay.allow.people', ['U0ANN00001', 'U0BEN00002', 'U0EVE00009']),
    'weaker',
    /people who may use it: U0EVE00009 added/,
  ],
  ['everybody may use it', having('tools.pay.allow.people', undefined), 'weaker', /anyone now/],
  ['channels are named', BASE, 'stronger', undefined, having('tools.pay.allow.channels', undefined)],
  [
    'another address',
    having('tools.pay.http.url', 'https://example.org/pay'),
    'incomparable',
    /what it runs has changed/,
  ],
  [
    'other words on the card',
    having('tools.pay.title', 'Read'),
    'incomparable',
    /the words on its cards have changed/,
  ],
  ['a weaker effect', having('tools.pay.effect', 'none'), 'weaker', /effect: once before, none now/],
  [
    'a new tool',
    having('tools.more', { module: './more.ts' }),
    'weaker',
    /it is new; every call needs approval by "default"/,
  ],
  ['a tool less', having('tools.files', undefined), 'stronger'],
  [
    'a wider pattern',
    having('tools.files.approval', [{ match: 'r*', require: 'never' }, { match: '*' }]),
    'weaker',
    /the tool is r\*/,
  ],
  ['hints are trusted', having('tools.files.mcp', { ...BASE.tools.files.mcp, trust_hints: true }), 'equal'],
  [
    'hints decide',
    having('tools.files', { mcp: { ...BASE.tools.files.mcp, trust_hints: true } }),
    'weaker',
    /needed approval by "default" now run/,
    having('tools.files', { mcp: BASE.tools.files.mcp }),
  ],
  ['more people may ask', having('agent.askers.guests', true), 'weaker', /all guests may ask/],
  [
    'one more admin',
    having('agent.admins', ['U0ADMIN001', 'U0EVE00009']),
    'weaker',
    /admins: U0EVE00009 added/,
  ],
  [
    'anyone may answer',
    having('agent.built_ins', {}),
    'weaker',
    /who may answer request_form: the requester before, anyone now/,
  ],
  ['no audit file', having('audit', {}), 'weaker', /no longer written to \.\/audit\.jsonl/],
  [
    'another address of the audit log, whose secrets are not in the words',
    having('audit.http', { url: 'https://audit.example.com/new' }),
    'weaker',
    /no longer written to its former address at audit\.example\.com$/,
    having('audit.http', { url: `https://audit.example.com/in/key-4711?token=\${AUDIT_TOKEN}` }),
  ],
  ['a new limit', having('limits', { pay: { window: '1d', max: 5 } }), 'stronger'],
  [
    'a new limit with a policy',
    having('limits', parse('pay: { window: 1d, max: 5, then: policy slow }')),
    'incomparable',
    /"slow" approves what is over it/,
  ],
  [
    'a limit less',
    BASE,
    'weaker',
    /the limit "pay" is gone/,
    having('limits', { pay: { window: '1d', max: 5 } }),
  ],
  [
    'a higher limit',
    having('limits', { pay: { window: '1d', max: 6 } }),
    'weaker',
    /the limit "pay": 5 before, 6 now/,
    having('limits', { pay: { window: '1d', max: 5 } }),
  ],
  [
    'another window of a limit',
    having('limits', { pay: { window: '2d', max: 5 } }),
    'incomparable',
    /the limit "pay" has changed/,
    having('limits', { pay: { window: '1d', max: 5 } }),
  ],
  [
    'others may end a freeze',
    having('agent.unfreeze', { approvers: ['U0ADMIN001', 'U0EVE00009'] }),
    'weaker',
    /who may unfreeze: U0EVE00009 added/,
  ],
  [
    'more tools in a channel',
    having('agent.channels', { C0MONEY001: { tools: ['pay', 'files'] } }),
    'incomparable',
    /channels has changed/,
    having('agent.channels', { C0MONEY001: { tools: ['pay'] } }),
  ],
];
