import { replaceTable } from '../docs-table.ts';
import { differencesOf, reasonFor } from './exceptions.ts';
import { type DoorScenario, REVISION, runDoorScenarios } from './scenarios.ts';

/** Runs the scenarios of a server against the door, and fails if a check fails that is not listed, or a listed one passes. */
const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isVerbose = process.argv.includes('--verbose');
const results: DoorScenario[] = [];
for await (const result of runDoorScenarios({ only, isVerbose })) {
  console.log(`${describe(result)}  ${result.scenario}`);
  results.push(result);
}
if (process.argv.includes('--write')) {
  const lines = results.map((result) => {
    const { scenario, failed } = result;
    return `| ${[scenario, describe(result), failed.length === 0 ? '' : reasonFor(scenario)].join(' | ')} |`;
  });
  replaceTable('door', [`| scenario | ${REVISION} | reason |`, '| --- | --- | --- |', ...lines]);
}
const differences = results.flatMap(differencesOf);
for (const difference of differences) console.log(difference);
process.exit(differences.length === 0 && results.length > 0 ? 0 : 1);

function describe({ passed, failed, warnings }: DoorScenario): string {
  if (passed === 0) return 'no result';
  if (failed.length > 0) return `${passed} of ${passed + failed.length} checks`;
  return warnings === 0 ? 'passes' : `passes, with ${warnings} warnings`;
}
