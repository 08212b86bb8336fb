import type { ApproverGroup, Policy } from '../../tools/gate/policy.ts';
import type { ManifestProblem } from '../../tools/manifest/problem.ts';
import { toApprovers } from '../../tools/manifest/to-manifest.ts';
import type { OpenToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { describeRules, NOT_ALLOWED } from '../explain.ts';
import { type JudgedCall, judgeCall, unknownTool } from '../shared/judge-call.ts';
import type { ExpectedApproval, PolicyCase } from './case-file.ts';

/** The result of a case: what the rules do, and each difference from what is expected, with its place. */
export interface CaseResult {
  readonly name: string;
  readonly tool: string;
  /** Says in words what the rules do with the call. */
  readonly verdict: string;
  readonly problems: readonly ManifestProblem[];
  /** Says which rule decides. */
  readonly why: string;
}

/** Judges the call of a case by the rules and compares the verdict with the one expected. Nothing runs. */
export function runCase(toolbox: OpenToolbox, given: PolicyCase): CaseResult {
  const { name, tool, input, problemAt } = given;
  const judged = judgeCall(toolbox, given);
  const refused = (part: string, message: string): CaseResult => ({
    name,
    tool,
    verdict: 'cannot be judged',
    problems: [problemAt(part, message)],
    why: '',
  });
  if (judged === undefined) return refused('given/tool', unknownTool(toolbox, tool).message);
  const fit = toolbox.find(tool)?.tool.inputSchema.parse(input);
  if (fit?.ok === false) {
    const field = fit.field === '' ? '' : `${fit.field}: `;
    return refused('given/input', `the tool does not accept this input: ${field}${fit.problem}`);
  }
  const [why = ''] = judged.isAllowed ? describeRules(judged.explanation) : [`${NOT_ALLOWED}.`];
  const problems = differences(given, judged).map((message) => problemAt('expect', message));
  return { name, tool, verdict: inWords(judged), problems, why };
}

/** Says in a few words what happens with a call. */
export function inWords({ explanation: { verdict }, isAllowed, policy }: JudgedCall): string {
  if (!isAllowed || verdict.outcome === 'deny') return 'denied';
  if (verdict.outcome === 'run') return 'runs without approval';
  if (policy === undefined) return `nobody can approve (there is no policy ${verdict.policy})`;
  return `needs approval by ${policy.name}: ${approversInWords(policy)}`;
}

/** Names the approvers of a policy with their quorums. */
export function approversInWords({ groups, excluded }: Policy): string {
  const all = groups.map(({ any, from, quorum }) => {
    const people = [...any, ...(from === undefined ? [] : [`the person of ${from}`])];
    return `${quorum} of ${people.join(', ')}`;
  });
  return `${all.join(' and ')}${excluded.length === 0 ? '' : `, not ${excluded.join(', ')}`}`;
}

function differences({ expected }: PolicyCase, judged: JudgedCall): string[] {
  const { explanation, isAllowed, policy } = judged;
  const { verdict } = explanation;
  const outcome = isAllowed ? verdict.outcome : 'deny';
  if (outcome !== expected.outcome) return [`expected ${WORDS[expected.outcome]}, but it ${inWords(judged)}`];
  if (expected.outcome === 'deny' && expected.reason !== undefined) {
    const reason = isAllowed && verdict.outcome === 'deny' ? verdict.reason : NOT_ALLOWED;
    return reason === expected.reason
      ? []
      : [`expected the reason "${expected.reason}", but it is "${reason}"`];
  }
  if (expected.outcome !== 'ask') return [];
  if (policy === undefined) return [inWords(judged)];
  return approvalDifferences(expected.approval, policy, judged.risk);
}

const WORDS = { run: 'that it runs', deny: 'that it is denied', ask: 'that it needs approval' };

function approvalDifferences(
  { policy: name, approvers, quorum, risk: expectedRisk }: ExpectedApproval,
  policy: Policy,
  risk: string | undefined,
): string[] {
  const found: string[] = [];
  const compare = (what: string, expected: unknown, actual: unknown) => {
    if (expected !== undefined && expected !== actual)
      found.push(`expected ${what} ${String(expected)}, but it is ${String(actual)}`);
  };
  compare('the policy', name, policy.name);
  compare('a quorum of', quorum, policy.quorum);
  compare('the risk', expectedRisk, risk);
  if (approvers !== undefined) {
    const written = toApprovers({ approvers, ...(quorum !== undefined && { quorum }) });
    // Where one list is written, "quorum" beside it is compared above.
    const isList = Array.isArray(approvers) || approvers.all === undefined;
    compare('the approvers', groupsText(written.groups, isList), groupsText(policy.groups, isList));
    compare('not to approve', listText(written.excluded), listText(policy.excluded));
  }
  return found;
}

/** Writes groups so that equal ones have equal texts, in whatever order they are written. */
function groupsText(groups: readonly ApproverGroup[], withoutQuorum: boolean): string {
  return groups
    .map(({ any, from, quorum }) => {
      const people = listText([...any, ...(from === undefined ? [] : [from])]);
      return withoutQuorum ? people : `${quorum} of ${people}`;
    })
    .sort()
    .join(' and ');
}

function listText(ids: readonly string[]): string {
  return ids.length === 0 ? 'nobody' : [...ids].sort().join(', ');
}
