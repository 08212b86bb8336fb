import { z } from 'zod';
import { isJsonObject, type JsonObject, toJson } from '../../agent/json.ts';
import { RISK_LEVELS } from '../../tools/gate/risk.ts';
import { shapeCheck } from '../../tools/manifest/checks/check-shape.ts';
import {
  type Finding,
  locateFinding,
  locateFindings,
  type ManifestProblem,
} from '../../tools/manifest/problem.ts';
import { ApproversFile } from '../../tools/manifest/schema/policies.ts';
import { Count, distinct, Person, Text } from '../../tools/manifest/schema/values.ts';
import { readYaml } from '../../tools/manifest/yaml/read-yaml.ts';

const GivenFile = z.strictObject({
  tool: Text.optional(),
  input: z.record(z.string(), z.unknown()).optional(),
  requester: Person.optional(),
  requesters: distinct(Person, 'Everyone who asked.').min(1).optional(),
  context_authors: distinct(Person, 'Others whose words led to the call.').optional(),
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
});
export type ExpectedApproval = z.output<typeof ApprovalFile>;

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
export type Expected =
  | { readonly outcome: 'run' }
  | { readonly outcome: 'deny'; readonly reason: string | undefined }
  | { readonly outcome: 'ask'; readonly approval: ExpectedApproval };

/** One case: a call, and what the rules must do with it. */
export interface PolicyCase {
  readonly name: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly requesters: readonly string[];
  readonly contextAuthors: readonly string[];
  readonly channel: string;
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
    channel: channel ?? '',
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
