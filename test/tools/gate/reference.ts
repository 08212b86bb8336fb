/** A condition with its meaning in plain code; `undefined` where it cannot be evaluated. */
export interface Condition {
  readonly cel: string;
  readonly holds: (call: ReferenceCall, requester: string) => boolean | undefined;
}

export interface ReferenceRule {
  readonly match?: string | undefined;
  readonly require?: 'never' | 'always' | 'deny' | undefined;
  readonly when?: Condition | undefined;
  readonly policy?: string | undefined;
}

export interface ReferencePolicy {
  readonly groups: readonly { readonly any: readonly string[]; readonly quorum: number }[];
  readonly excluded: readonly string[];
  readonly selfApproval: boolean;
  readonly separation: 'requesters' | 'thread';
}

export interface ReferenceCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
}

export interface ReferenceTool {
  readonly rules: readonly ReferenceRule[];
  readonly allow: {
    readonly people?: readonly string[] | undefined;
    readonly channels?: readonly string[] | undefined;
  };
}

/** What must happen: `run`, `deny`, or the name of the policy that is asked. */
export type ReferenceVerdict = { readonly ask: string } | 'run' | 'deny';

/** The rules of the manifest as the documentation states them, without a thought for speed. */
export function referenceVerdict(
  { rules, allow }: ReferenceTool,
  policies: ReadonlyMap<string, ReferencePolicy>,
  call: ReferenceCall,
): ReferenceVerdict {
  const everyone = [...call.requesters, ...call.contextAuthors];
  if (allow.people !== undefined && everyone.some((person) => !allow.people?.includes(person))) return 'deny';
  if (allow.channels !== undefined && !allow.channels.includes(call.channel)) return 'deny';
  const verdicts = everyone.map((person) => forPerson(rules, call, person));
  if (verdicts.includes('deny')) return 'deny';
  const asked = verdicts.flatMap((verdict) => (typeof verdict === 'object' ? [verdict.ask] : []));
  const [first, ...others] = asked;
  if (first === undefined) return 'run';
  let strictest = first;
  for (const name of others) if (isStricter(policies.get(name), policies.get(strictest))) strictest = name;
  return { ask: strictest };
}

function forPerson(rules: readonly ReferenceRule[], call: ReferenceCall, person: string): ReferenceVerdict {
  const own = rules.filter(({ match = '*' }) => matches(match, call.tool));
  for (const { require = 'always', when, policy = 'default' } of own) {
    const holds = when === undefined ? true : when.holds(call, person);
    if (holds === false) continue;
    if (require === 'deny') return 'deny';
    if (require === 'never' && holds === true) return 'run';
    return { ask: policy };
  }
  return own.some(({ require = 'always' }) => require === 'always') ? 'run' : { ask: 'default' };
}

/** Only patterns with one star at the end are used. */
function matches(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
}

function isStricter(one: ReferencePolicy | undefined, other: ReferencePolicy | undefined): boolean {
  if (one === undefined || other === undefined) return one === undefined && other !== undefined;
  const quorum = ({ groups }: ReferencePolicy) => groups.reduce((sum, group) => sum + group.quorum, 0);
  if (quorum(one) !== quorum(other)) return quorum(one) > quorum(other);
  if (one.groups.length !== other.groups.length) return one.groups.length > other.groups.length;
  if (one.selfApproval !== other.selfApproval) return !one.selfApproval;
  return one.separation === 'thread' && other.separation !== 'thread';
}
