import { timeOf } from '../../audit/export-line.ts';
import { showLine } from '../../bot/views/texts/show-text.ts';
import { formatTable } from '../shared/command.ts';
import { type RuleStats, secondsInWords } from './decisions.ts';
import { CHANGES } from './judge-logged.ts';
import type { ReplayResult, Unknown } from './replay.ts';

/** The candidate and the log of a replay, beside its result. */
export interface ReplayedLog {
  /** Rows of the log that are not in Redis any more. */
  readonly trimmed: number;
  /** Problems of the candidate's tools, such as a server that does not answer. */
  readonly problems: readonly string[];
}

/** Writes the result of a replay for people. */
export function describeReplay(result: ReplayResult, log: ReplayedLog): string {
  const { calls, from, until, changes } = result;
  if (calls === 0) return `There is no call on the log in this time.\n${unknownPart(result, log)}`;
  const span = from === undefined || until === undefined ? '' : `, ${timeOf(from)} to ${timeOf(until)}`;
  const counts = Object.entries(CHANGES).map(([change, words]) => [
    words,
    String(new Map(Object.entries(changes)).get(change) ?? 0),
  ]);
  const parts = [
    `${calls === 1 ? '1 call' : `${calls} calls`} of the audit log${span}\n`,
    lines(formatTable(counts, [1])),
    ...changePart(result),
    ...rulePart(result.rules),
    ...considerPart(result),
    unknownPart(result, log),
  ];
  return parts.join('\n');
}

function changePart({ groups }: ReplayResult): string[] {
  const changed = groups.filter(({ change }) => change !== 'same');
  if (changed.length === 0) return [];
  const rows = changed.map(({ change, tool, before, after, calls, first }) =>
    [String(calls), CHANGES[change], tool, before, after, `${timeOf(first.at)} ${first.subject}`].map(
      showLine,
    ),
  );
  const headings = ['calls', 'change', 'tool', 'then', 'with the candidate', 'first of them'];
  return [`What would change\n${lines(formatTable([headings, ...rows], [0]))}`];
}

function rulePart(rules: readonly RuleStats[]): string[] {
  if (rules.length === 0) return [];
  const rows = rules.map(({ tool, rule, policy, requests, approved, rejected, expired, medianSeconds }) => [
    ...[tool, rule, policy].map(showLine),
    ...[requests, approved, rejected, expired].map(String),
    medianSeconds === undefined ? '' : secondsInWords(medianSeconds),
  ]);
  const headings = ['tool', 'rule', 'policy', 'requests', 'approved', 'rejected', 'expired', 'median time'];
  return [`How people decided\n${lines(formatTable([headings, ...rows], [3, 4, 5, 6, 7]))}`];
}

function considerPart({ consider }: ReplayResult): string[] {
  if (consider.length === 0) return [];
  const all = consider.map(({ tool, rule, words }) =>
    showLine(`  ${tool}${rule === '' ? '' : `, ${rule}`}: ${words}`),
  );
  return [`Rules to consider\n${lines(all)}`];
}

/** Lists what a replay of this log cannot know: what it met, and what is so for every log. */
export function limitsOf({ unknown, missingTools }: ReplayResult, log: ReplayedLog): string[] {
  const met = Object.entries(MET).flatMap(([key, words]) => {
    const count = new Map(Object.entries(unknown)).get(key) ?? 0;
    if (count === 0) return [];
    const named = key === 'no-tool' ? ` (${missingTools.join(', ')})` : '';
    return [`${count === 1 ? '1 call' : `${count} calls`}: ${words}${named}`];
  });
  const trimmed =
    log.trimmed === 0
      ? []
      : [`${log.trimmed} rows have left Redis; replay an export (--from) to include them`];
  const problems = log.problems.map((problem) => `a tool of the candidate does not work here: ${problem}`);
  return [...met, ...trimmed, ...problems, ...ALWAYS];
}

const MET: Readonly<Record<Unknown, string>> = {
  'no-tool': 'the candidate has no such tool',
  'no-arguments': 'the arguments are redacted or missing',
  'other-arguments': "the candidate's tool does not accept the arguments",
  unreadable: 'the row is erased or cannot be read',
  'grant-holds': 'it ran under a grant; the replay assumes that the candidate would have had it too',
  'approvers-of-call': 'approvers come from the arguments; only the others are compared',
  'denied-by-rule':
    'it was denied; the log does not say whether by a rule or by the tool itself, which may deny it again',
};

const ALWAYS = [
  'user groups are compared by their ids; nobody knows who was in them then',
  'calls of tools without an effect are on the log only if people were asked',
  'limits count what the candidate would have let run; what it would ask about counts if it ran then',
  'first times count what started and did not fail since the log begins; what was done before it is not known',
  'rows of denied calls do not name the people whose words the model only read',
];

function unknownPart(result: ReplayResult, log: ReplayedLog): string {
  return `What this cannot know\n${lines(limitsOf(result, log).map((each) => showLine(`  ${each}`)))}`;
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
