import { parseArgs } from 'node:util';
import { installSuites } from './install.ts';
import { formerOutcome, HEAD, type Outcome, outcomeOf, writePage } from './page.ts';
import { GIVEN, type Given, type Suite } from './suite.ts';

/**
 * Runs the suites that others wrote, prints a table, and fails if a case fails without a listed reason, or if a suite does not notice a
 * hole. A suite from a folder runs if the folder is given, one that takes long only with `all`. `--write` writes docs/evidence/proof.md.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    write: { type: 'boolean', default: false },
    /** A part of the names of the suites to run. */
    only: { type: 'string', default: '' },
    ...mapGiven(() => ({ type: 'string' as const })),
  },
});
const isAll = positionals.includes('all');
installSuites();

const { agentDojo } = await import('./agentdojo.ts');
const { aisvs } = await import('./aisvs/aisvs.ts');
const { cel } = await import('./cel.ts');
const { jsonSchema } = await import('./json-schema.ts');
const { kubernetes } = await import('./kubernetes.ts');
const { mcp } = await import('./mcp.ts');
const { mcpDoor } = await import('./mcp-door.ts');
const { pythonBlocks } = await import('./slack/blocks.ts');
const { boltPayloads, chatPayloads, javaPayloads } = await import('./slack/payloads.ts');
const { cloudEvents, openTelemetry, prometheus, standardWebhooks } = await import('./standards.ts');
const { bipia, naughtyStrings, purpleLlama } = await import('./texts.ts');
const suites: readonly Suite[] = [
  ...[cel, jsonSchema, mcp, mcpDoor],
  ...[naughtyStrings, bipia, purpleLlama],
  ...[boltPayloads, javaPayloads, chatPayloads, pythonBlocks],
  ...[cloudEvents, standardWebhooks, openTelemetry, prometheus, kubernetes],
  ...[aisvs, agentDojo],
];

const outcomes = new Map<Suite, Outcome>();
const problems: string[] = [];
for (const suite of suites) {
  const given = suite.given === undefined ? '' : values[suite.given];
  const leftOut = suite.name.includes(values.only)
    ? reasonToLeaveOut(suite, given)
    : 'it is not named by --only';
  if (given === undefined || leftOut !== undefined) {
    console.log(`not run: ${suite.name}; ${leftOut}`);
    if (isAll && values.only === '') problems.push(`${suite.name} was not run`);
    continue;
  }
  const started = performance.now();
  const tally = await suite.run({ isLoosened: false, folder: given });
  const loosened = await suite.run({ isLoosened: true, folder: given });
  const noticed = loosened.unexpected.length - tally.unexpected.length;
  if (noticed < 1) problems.push(`${suite.name} does not notice: ${suite.hole}`);
  problems.push(...tally.unexpected.map((each) => `${suite.name}: ${each}`));
  const outcome = outcomeOf(suite, tally, noticed);
  outcomes.set(suite, outcome);
  console.log(`${outcome.row} ${((performance.now() - started) / 1_000).toFixed(0)} s`);
}

console.log([...HEAD, ...[...outcomes.values()].map(({ row }) => row)].join('\n'));
for (const [{ name }, { reasons, report }] of outcomes)
  console.log([`\n**${name}**\n`, ...reasons, ...report].join('\n'));
for (const problem of problems) console.error(problem);
if (values.write && problems.length === 0) write();
process.exitCode = problems.length === 0 ? 0 : 1;

/** Writes the page with what was run, and with what it says of the rest. */
function write(): void {
  const known = suites.map((suite) => [suite, outcomes.get(suite) ?? formerOutcome(suite)] as const);
  const options = GIVEN.map((given) => `--${given} DIR`).join(' ');
  writePage(new Map(known), `npm run proof -- all ${options} --write`);
}

/** Builds an object with a key for each option that names a folder. */
function mapGiven<Value>(make: (given: Given) => Value): Record<Given, Value> {
  return Object.fromEntries(GIVEN.map((given) => [given, make(given)])) as Record<Given, Value>;
}

function reasonToLeaveOut(suite: Suite, given: string | undefined): string | undefined {
  if (given === undefined)
    return [`check out ${suite.source} and give its folder: --${suite.given} DIR`, suite.needs ?? []]
      .flat()
      .join('\n  ');
  return suite.isLong && !isAll ? 'it takes long: npm run proof -- all' : undefined;
}
