import { replaceTable } from './docs-table.ts';
import { exceptionFor } from './exceptions.ts';
import { REVISIONS, runScenarios } from './scenarios.ts';

/** Runs the client scenarios of the public conformance suite, and fails if a result differs from docs/evidence/conformance.md. */
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isVerbose = process.argv.includes('--verbose');
/** The suite's verdict on each scenario, by revision; none where the revision does not require it. */
const results = new Map<string, Map<string, boolean>>();
const problems: string[] = [];
for await (const { scenario, revision, passed, unexpected } of runScenarios({ only, isVerbose })) {
  problems.push(
    ...unexpected.map((check) => `fails beyond its exception: ${revision} ${scenario}: ${check}`),
  );
  console.log(`${passed ? 'pass' : 'FAIL'}  ${revision}  ${scenario}`);
  results.set(scenario, (results.get(scenario) ?? new Map()).set(revision, passed));
}
for (const [scenario, passed] of results) {
  const isException = exceptionFor(scenario) !== undefined;
  const hasFailed = [...passed.values()].includes(false);
  if (isException && !hasFailed) problems.push(`passes, but is an exception: ${scenario}`);
  if (!isException && hasFailed) problems.push(`fails: ${scenario}`);
}
if (process.argv.includes('--write')) writeTable();
for (const problem of problems) console.log(problem);
process.exitCode = problems.length === 0 && results.size > 0 ? 0 : 1;

function writeTable(): void {
  const cell = (passed: boolean | undefined) => (passed === undefined ? '–' : passed ? 'passes' : 'fails');
  const lines = [...results].map(([scenario, passed]) => {
    const cells = REVISIONS.map((revision) => cell(passed.get(revision)));
    return `| ${[scenario, ...cells, exceptionFor(scenario)?.reason ?? ''].join(' | ')} |`;
  });
  const head = [`| scenario | ${REVISIONS.join(' | ')} | reason |`, '| --- | --- | --- | --- |'];
  replaceTable('conformance', [...head, ...lines]);
}
