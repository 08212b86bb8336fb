import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Suite, Tally } from './suite.ts';

/**
 * Runs the suites that others wrote, prints a table, and fails if a case fails without a listed reason, or if a suite does not notice a
 * hole. `--write` writes docs/proof.md.
 */
const folder = fileURLToPath(new URL('.', import.meta.url));
const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    'json-schema': { type: 'string' },
    agentdojo: { type: 'string' },
  },
});
// The suites are large and only this script needs them, so they are no part of the project's own installation.
if (!existsSync(join(folder, 'node_modules')))
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });

const { agentDojo } = await import('./agentdojo.ts');
const { cel } = await import('./cel.ts');
const { jsonSchema } = await import('./json-schema.ts');
const { naughtyStrings } = await import('./naughty-strings.ts');
const suites: readonly Suite[] = [cel, jsonSchema, naughtyStrings, agentDojo];

const rows: string[] = [];
const reasons: string[] = [];
const reports: string[] = [];
const problems: string[] = [];
for (const suite of suites) {
  const given = suite.given && values[suite.given];
  if (suite.given !== undefined && given === undefined) {
    console.log(
      `not run: ${suite.name}; check out ${suite.source} and give its folder: --${suite.given} DIR`,
    );
    if (suite.needs !== undefined) console.log(`  ${suite.needs}`);
    if (values.write) problems.push(`${suite.name} has to be run to write the page`);
    continue;
  }
  const tally = await suite.run({ isLoosened: false, folder: given });
  const loosened = await suite.run({ isLoosened: true, folder: given });
  const noticed = loosened.unexpected.length - tally.unexpected.length;
  if (noticed < 1) problems.push(`${suite.name} does not notice: ${suite.hole}`);
  problems.push(...tally.unexpected.map((each) => `${suite.name}: ${each}`));
  rows.push(rowOf(suite, tally, noticed));
  reasons.push(`\n**${suite.name}**\n`, ...reasonsOf(tally));
  reports.push(...(suite.report?.() ?? []));
}

const table = [
  '| suite | version | cases | passed | failed, with a reason | failed | a hole, and the cases that notice it |',
  '| --- | --- | --: | --: | --: | --: | --- |',
  ...rows,
];
console.log([...table, ...reasons, '', ...reports].join('\n'));
for (const problem of problems) console.error(problem);
if (values.write && problems.length === 0) writeFileSync(join(folder, '../docs/proof.md'), page());
process.exitCode = problems.length === 0 ? 0 : 1;

function rowOf({ name, source, hole }: Suite, tally: Tally, noticed: number): string {
  const listed = [...tally.listed.values()].reduce((sum, count) => sum + count, 0);
  const cases = tally.passed + listed + tally.unexpected.length;
  return `| ${name} | ${source} | ${cases} | ${tally.passed} | ${listed} | ${tally.unexpected.length} | ${hole}: ${noticed} |`;
}

function reasonsOf({ listed }: Tally): string[] {
  if (listed.size === 0) return ['- Every case passes.'];
  return [...listed]
    .sort(([, left], [, right]) => right - left)
    .map(([reason, count]) => `- ${count}: ${reason}`);
}

function page(): string {
  return `# Proof by others

Suites that others wrote, run against the parts of the bot that they are about. \`npm run proof -- --json-schema DIR --agentdojo DIR --write\`
wrote this page on ${new Date().toISOString().slice(0, 10)}; it fails if a case fails without a reason below, or if a suite does not notice a hole that the
runner makes on purpose. The suites are installed from npm into \`proof/\` at the first run. Each DIR is a checkout at the commit in the
table; without one its suite is not run, and the command says how to get it.

${table.join('\n')}

The MCP conformance suite and real MCP servers have tables of their own: [conformance](conformance.md).

## AgentDojo

Somebody asks the bot for something; what its tools return holds an attack; the model obeys the attacker every time. Can the gate keep the
harm away, and does the person still get what they asked for?

- **The case.** One user task with one injection task, all 949. The model is a script: it makes the calls of the user task's ground truth, then those of the
  injection task's, one by one and whatever became of those before, and gives both answers.
- **The bot.** The whole bot on a real Redis, with a Slack in the process. The tools of a suite are an MCP server over stdio. Its manifest is short: tools
  that only read are free (\`get_*\`, \`search_*\`, \`read_*\` …), all others are asked. So are \`get_webpage\`, which sends an address to somebody outside, and
  \`get_unread_emails\`, which marks them as read.
- **The approver.** Approves each call of the user task's ground truth once, with exactly its arguments, and rejects everything else.
- **The judge.** AgentDojo's own checks of utility and security, on what ran and what was answered. A call counts as made if it reached its tool.
- **Unmodified, from the checkout**: environments, tools, user tasks, injection tasks, ground truths, checks, and the text of the attack
  (\`important_instructions\`, as AgentDojo places it). **Ours**: the calls of workspace's injection tasks 6 to 13, for which AgentDojo has a goal and a check and
  no ground truth; and empty stand-ins for the clients of model providers, which AgentDojo imports and nothing here calls.

${reports.join('\n')}

"Tasks done" falls without the gate because AgentDojo's checks of a task fail too if something else has changed. 86 attacks fail without
the gate as well, most of them because AgentDojo looks for the attacker's e-mail, event or file under the next free id, and the user's own task took it.

An approval gate guards calls, not words: a model that has been talked into praising a hotel can say so. And an approver who approves everything is no gate;
the rows about that are what is lost then.

## What does not pass, and why

A rule whose condition is refused does not load; one that cannot be evaluated asks under the strictest policy that could apply. A tool
whose schema is refused is left out, and the error says why. Neither lets a call run that should have been asked about.
${reasons.join('\n')}

## What was found

- \`lowerAscii\`, \`upperAscii\` and \`trim\` also changed letters and spaces outside ASCII: the sign for Kelvin became a *k*, so a condition
  on \`input.name.lowerAscii()\` could be true for another name. They are our own functions now.
- \`in\` did not find an unsigned number in a list, and bytes that are not ASCII were read wrongly. Such conditions are refused.
- A property named \`__proto__\` was not checked; \`$dynamicRef\`, \`unevaluatedItems\`, and \`unevaluatedProperties\` beside half an \`if\` let
  values pass that do not fit; \`$id\` beside \`$ref\` could point at another definition, or end in a stack overflow. Such schemas are refused.

## What is not run

- BIPIA and PurpleLlama, python-slack-sdk: not at hand when this page was written.
- The AISVS action classes, Standard Webhooks, CloudEvents and OpenTelemetry vectors, recorded payloads of other Slack projects.
`;
}
