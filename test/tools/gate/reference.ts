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
  /** The first times of each person, as far as they are known. */
  readonly first?: Readonly<Record<string, Readonly<Record<string, boolean | undefined>>>>;
}

export interface ReferenceTool {
  readonly rules: readonly ReferenceRule[];
  readonly allow: {
    readonly people?: readonly string[] | undefined;
    readonly channels?: readonly string[] | undefined;
  };
}

/** Verdict that must follow: `run`, `deny`, or the names of the policies that must all be satisfied. */
export type ReferenceVerdict = { readonly ask: readonly string[] } | 'run' | 'deny';

/** The rules of the manifest as the documentation states them, without a thought for speed. */
export function referenceVerdict({ rules, allow }: ReferenceTool, call: ReferenceCall): ReferenceVerdict {
  const everyone = [...call.requesters, ...call.contextAuthors];
  if (allow.people !== undefined && everyone.some((person) => !allow.people?.includes(person))) return 'deny';
  if (allow.channels !== undefined && !allow.channels.includes(call.channel)) return 'deny';
  const verdicts = everyone.map((person) => forPerson(rules, call, person));
  if (verdicts.includes('deny')) return 'deny';
  const asked = new Set(verdicts.flatMap((verdict) => (typeof verdict === 'object' ? verdict.ask : [])));
  return asked.size === 0 ? 'run' : { ask: [...asked] };
}

function forPerson(rules: readonly ReferenceRule[], call: ReferenceCall, person: string): ReferenceVerdict {
  const own = rules.filter(({ match = '*' }) => matches(match, call.tool));
  const doubted: string[] = [];
  let isDoubtful = false;
  for (const { require = 'always', when, policy } of own) {
    const holds = when === undefined ? true : when.holds(call, person);
    if (holds === false) continue;
    if (require === 'deny') return 'deny';
    if (holds === true) {
      if (require === 'always') return { ask: [...doubted, policy ?? 'default'] };
      if (!isDoubtful) return 'run';
      return { ask: doubted.length === 0 ? ['default'] : doubted };
    }
    isDoubtful = true;
    if (require === 'always') doubted.push(policy ?? 'default');
    else if (policy !== undefined) doubted.push(policy);
  }
  return { ask: [...doubted, 'default'] };
}

/** Only patterns with one star at the end are used. */
function matches(pattern: string, tool: string): boolean {
  return pattern.endsWith('*') ? tool.startsWith(pattern.slice(0, -1)) : pattern === tool;
}
