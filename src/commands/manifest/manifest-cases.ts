import { z } from 'zod';
import { isJsonObject, type JsonObject, toJson } from '../../agent/json.ts';
import { type GroupsOf, type ProfileOf, profileGiven } from '../../policy/condition.ts';
import { type FirstOf, firstTimesGiven } from '../../policy/first-times.ts';
import { totalsGiven, UsedLimits } from '../../policy/limits.ts';
import {
  type ApproverGroup,
  excludedInWords,
  type Policy,
  RISK_LEVELS,
  sourceInWords,
} from '../../policy/policy.ts';
import { placeFor } from '../../tools/callers.ts';
import { describeRules, groupInWords, type JudgedCall, judgeCall } from '../../tools/judge-call.ts';
import { shapeCheck } from '../../tools/manifest/checks/check-shape.ts';
import {
  type Finding,
  locateFinding,
  locateFindings,
  type ManifestProblem,
} from '../../tools/manifest/problem.ts';
import { readYaml } from '../../tools/manifest/read-yaml.ts';
import { ApproversFile } from '../../tools/manifest/schema/policies.ts';
import { Count, distinct, Group, Person, Text } from '../../tools/manifest/schema/values.ts';
import { toApprovers } from '../../tools/manifest/to-manifest.ts';
import type { OpenToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { unknownTool } from '../shared/with-toolbox.ts';

/** A person, or a caller of the door. */
const Requester = z
  .string()
  .regex(/^(?:[UW][A-Z0-9]{6,20}|caller:[a-zA-Z0-9_-]{1,64})$/)
  .meta({ title: 'the id of a person, such as U012ABCDEF, or caller:NAME' });

const GivenFile = z.strictObject({
  tool: Text.optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  requester: Requester.optional(),
  requesters: distinct(Requester, 'Everyone who asked.').min(1).optional(),
  context_authors: distinct(Person, 'Others whose words led to the call.').optional(),
  groups: distinct(Group, 'The user groups that everyone of them is in.').optional(),
  email: Text.optional().describe('The email address of everyone of them; without it nobody knows it.'),
  name: Text.optional().describe('The name of everyone of them; without it nobody knows it.'),
  first: distinct(
    z.enum(['tool', 'target', 'pair']),
    'Which of them are first times; without it nobody knows.',
  ).optional(),
  frozen: distinct(Text, 'The freezes that a tool has to say, and that hold, by name.').optional(),
  used: UsedLimits.optional().describe('What is used of limits, by name; without it nothing is.'),
  channel: z
    .string()
    .regex(/^[CGD][A-Z0-9]{6,20}$/)
    .meta({ title: 'the id of a channel, such as C012ABCDEF' })
    .optional(),
  time: z
    .string()
    .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/)
    .meta({ title: 'a time with its zone, such as 2026-11-16T09:30:00Z' })
    .optional(),
});

const ApprovalFile = z.strictObject({
  policy: Text.optional(),
  approvers: ApproversFile.optional(),
  quorum: Count.optional(),
  risk: z.enum(RISK_LEVELS).optional(),
  frozen: Text.optional().describe('The freeze for whose end it waits once it is approved.'),
});
type ExpectedApproval = z.output<typeof ApprovalFile>;

const ExpectFile = z.union([
  z.enum(['run', 'deny', 'approval']),
  z.strictObject({ deny: Text.optional(), approval: ApprovalFile.optional() }),
]);

const CasesFile = z.strictObject({
  given: GivenFile.optional(),
  cases: z
    .array(z.strictObject({ name: Text.optional(), given: GivenFile.optional(), expect: ExpectFile }))
    .min(1),
});

/** The verdict that a case expects; a part that is left out is not compared. */
type Expected =
  | { readonly outcome: 'run' }
  | { readonly outcome: 'deny'; readonly reason: string | undefined }
  | { readonly outcome: 'ask'; readonly approval: ExpectedApproval };

/** One case: a call, and what the rules must do with it. */
interface PolicyCase {
  readonly name: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string | undefined;
  readonly groupsOf: GroupsOf;
  readonly profileOf: ProfileOf;
  readonly firstOf: FirstOf;
  readonly used: UsedLimits;
  readonly frozen: readonly string[];
  readonly now: Date | undefined;
  readonly expected: Expected;
  /** Makes a problem at a part of the case, such as `given/tool`. */
  problemAt(part: string, message: string): ManifestProblem;
}

export type ParsedCases =
  | { readonly ok: true; readonly cases: readonly PolicyCase[] }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

const checkCases = shapeCheck(() => {
  const schema = toJson(z.toJSONSchema(CasesFile, { io: 'input', target: 'draft-7' }));
  if (!isJsonObject(schema)) throw new TypeError('a schema is an object');
  return schema;
});

/** Parses a file of cases. It reports every mistake at once, with line and column. */
export function parseCases(text: string, file: string): ParsedCases {
  const yaml = readYaml(text, file);
  if (!yaml.ok) return { ok: false, problems: yaml.problems };
  const { value, positions } = yaml;
  const parsed = CasesFile.safeParse(value);
  const findings = checkCases(value);
  if (parsed.success) findings.push(...checkEach(parsed.data));
  const problems = [...yaml.problems, ...locateFindings(file, findings, positions)];
  if (problems.length === 0 && parsed.success) {
    const { given = {}, cases } = parsed.data;
    const locate = (finding: Finding) => locateFinding(file, finding, positions);
    return { ok: true, cases: cases.map((each, index) => toCase(each, given, { index, locate })) };
  }
  if (problems.length > 0) return { ok: false, problems };
  const message = `it does not fit its schema: ${parsed.error?.issues[0]?.message ?? 'unknown'}`;
  return { ok: false, problems: [{ file, line: 1, column: 1, path: '', message }] };
}

type Written = z.output<typeof CasesFile>;
type Given = z.output<typeof GivenFile>;

/** Finds what a schema cannot say: who asks, and one expectation. */
function checkEach({ given: shared = {}, cases }: Written): Finding[] {
  const found: Finding[] = [];
  const add = (pointer: string, message: string) => found.push({ pointer, at: 'key', message });
  if (isBoth(shared)) add('/given', BOTH);
  cases.forEach(({ given = {}, expect }, index) => {
    const pointer = `/cases/${index}`;
    const whole = merge(shared, given);
    if (whole.tool === undefined) add(pointer, '"tool" is missing in "given"');
    if (isBoth(given)) add(`${pointer}/given`, BOTH);
    if (whole.requester === undefined && whole.requesters === undefined)
      add(pointer, 'say in "given" who asks: "requester" or "requesters"');
    if (given.time !== undefined && Number.isNaN(Date.parse(given.time)))
      add(`${pointer}/given/time`, `there is no time ${given.time}`);
    if (typeof expect === 'object' && Object.values(expect).filter((part) => part !== undefined).length !== 1)
      add(`${pointer}/expect`, 'expect one of run, deny and approval');
  });
  return found;
}

const BOTH = 'write "requester" or "requesters", not both';

function isBoth({ requester, requesters }: Given): boolean {
  return requester !== undefined && requesters !== undefined;
}

/** Fills in what a case leaves out; the people who ask are replaced together. */
function merge({ requester, requesters, ...shared }: Given, given: Given): Given {
  const names = given.requester !== undefined || given.requesters !== undefined;
  return { ...shared, ...(!names && { requester, requesters }), ...given };
}

function toCase(
  { name, given, expect }: Written['cases'][number],
  shared: Given,
  { index, locate }: { readonly index: number; readonly locate: (finding: Finding) => ManifestProblem },
): PolicyCase {
  const { tool = '', input, requester = '', requesters, channel, time, ...rest } = merge(shared, given ?? {});
  const json = toJson(input ?? {});
  return {
    name: name ?? `case ${index + 1}`,
    tool,
    input: isJsonObject(json) ? json : {},
    requesters: requesters ?? [requester],
    contextAuthors: rest.context_authors ?? [],
    channel,
    groupsOf: () => rest.groups,
    profileOf: profileGiven(rest),
    firstOf: rest.first === undefined ? () => undefined : firstTimesGiven(rest.first),
    used: rest.used ?? {},
    frozen: rest.frozen ?? [],
    now: time === undefined ? undefined : new Date(time),
    expected: toExpected(expect),
    problemAt: (part, message) => locate({ pointer: `/cases/${index}/${part}`, at: 'value', message }),
  };
}

function toExpected(written: z.output<typeof ExpectFile>): Expected {
  if (written === 'run') return { outcome: 'run' };
  if (written === 'deny') return { outcome: 'deny', reason: undefined };
  if (written === 'approval') return { outcome: 'ask', approval: {} };
  if (written.deny !== undefined) return { outcome: 'deny', reason: written.deny };
  return { outcome: 'ask', approval: written.approval ?? {} };
}

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
export async function runCase(toolbox: OpenToolbox, given: PolicyCase): Promise<CaseResult> {
  const { name, tool, input, used, problemAt } = given;
  const { limits } = toolbox.manifest;
  const judged = await judgeCall(toolbox, {
    ...given,
    ...placeFor(toolbox.callers(), given.requesters, given.channel),
    readTotals: totalsGiven(limits, used),
  });
  const refused = (part: string, message: string): CaseResult => ({
    name,
    tool,
    verdict: 'cannot be judged',
    problems: [problemAt(part, message)],
    why: '',
  });
  if (judged === undefined) return refused('given/tool', unknownTool(toolbox, tool).message);
  const unlimited = Object.keys(used).find((each) => !limits.some((limit) => limit.name === each));
  if (unlimited !== undefined) return refused('given/used', `there is no limit "${unlimited}"`);
  const fit = toolbox.find(tool)?.tool.inputSchema.parse(input);
  if (fit?.ok === false) {
    const field = fit.field === '' ? '' : `${fit.field}: `;
    return refused('given/input', `the tool does not accept this input: ${field}${fit.problem}`);
  }
  const { verdict } = judged.explanation;
  const [why = ''] =
    judged.isAllowed || verdict.outcome !== 'deny'
      ? describeRules(judged.explanation)
      : [`${verdict.reason}.`];
  const problems = differences(given, judged).map((message) => problemAt('expect', message));
  return { name, tool, verdict: inWords(judged), problems, why };
}

/** Says in a few words what happens with a call. */
function inWords({ explanation: { verdict }, policy, freeze }: JudgedCall): string {
  if (verdict.outcome === 'deny') return 'denied';
  if (verdict.outcome === 'run') return 'runs without approval';
  if (policy === undefined) return `nobody can approve (there is no policy ${verdict.policy})`;
  const { name, groups } = policy;
  const excluded = excludedInWords(policy);
  const not = excluded.length === 0 ? '' : `, not ${excluded.join(', ')}`;
  const held = freeze === undefined ? '' : `, and waits for the end of ${freeze.name}`;
  return `needs approval by ${name}: ${groups.map(groupInWords).join(' and ')}${not}${held}`;
}

function differences({ expected }: PolicyCase, judged: JudgedCall): string[] {
  const { explanation, policy } = judged;
  const { verdict } = explanation;
  if (verdict.outcome !== expected.outcome) {
    const found = verdict.outcome === 'deny' ? 'is denied' : inWords(judged);
    return [`expected ${WORDS[expected.outcome]}, but it ${found}`];
  }
  if (expected.outcome === 'deny' && verdict.outcome === 'deny') {
    const { reason = verdict.reason } = expected;
    return reason === verdict.reason
      ? []
      : [`expected the reason "${reason}", but it is "${verdict.reason}"`];
  }
  if (expected.outcome !== 'ask') return [];
  return policy === undefined ? [inWords(judged)] : approvalDifferences(expected.approval, policy, judged);
}

const WORDS = { run: 'that it runs', deny: 'that it is denied', ask: 'that it needs approval' };

function approvalDifferences(
  { policy: name, approvers, quorum, risk: expectedRisk, frozen }: ExpectedApproval,
  policy: Policy,
  { risk, freeze }: Pick<JudgedCall, 'risk' | 'freeze'>,
): string[] {
  const found: string[] = [];
  const compare = (what: string, expected: unknown, actual: unknown) => {
    if (expected !== undefined && expected !== actual)
      found.push(`expected ${what} ${String(expected)}, but it is ${String(actual)}`);
  };
  compare('the policy', name, policy.name);
  compare('a quorum of', quorum, policy.quorum);
  compare('the risk', expectedRisk, risk);
  compare('the freeze', frozen, freeze?.name ?? 'none');
  if (approvers !== undefined) {
    const written = toApprovers({ approvers, ...(quorum !== undefined && { quorum }) });
    // Where one list is written, "quorum" beside it is compared above.
    const isList = Array.isArray(approvers) || approvers.all === undefined;
    compare('the approvers', groupsText(written.groups, isList), groupsText(policy.groups, isList));
    compare('not to approve', listText(excludedInWords(written)), listText(excludedInWords(policy)));
  }
  return found;
}

/** Writes groups so that equal ones have equal texts, in whatever order they are written. */
function groupsText(groups: readonly ApproverGroup[], withoutQuorum: boolean): string {
  return groups
    .map(({ any, from, quorum }) => {
      const people = listText([
        ...any,
        ...(from === undefined ? [] : [typeof from === 'string' ? from : sourceInWords(from)]),
      ]);
      return withoutQuorum ? people : `${quorum} of ${people}`;
    })
    .sort()
    .join(' and ');
}

function listText(ids: readonly string[]): string {
  return ids.length === 0 ? 'nobody' : [...ids].sort().join(', ');
}
