import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { replaceTable } from './docs-table.ts';
import { exceptionFor } from './exceptions.ts';

/** Runs the client scenarios of the public conformance suite against the bot's own client, one at a time. */
const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
const folder = fileURLToPath(new URL('.', import.meta.url));
const SCENARIO_TIMEOUT_MS = 30_000;

// The suite is large and only this script needs it, so it is no part of the project's own installation.
if (!existsSync(join(folder, 'node_modules'))) {
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: folder, stdio: 'inherit' });
}
const suite = join(folder, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const node = nodeForSuite();
const workspace = mkdtempSync(join(tmpdir(), 'conformance-'));
const client = join(workspace, 'client.mjs');
await build({
  entryPoints: [join(folder, 'client.ts')],
  outfile: client,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  logLevel: 'warning',
});

interface Result {
  readonly scenario: string;
  /** What the suite says, by revision; nothing where the revision does not require the scenario. */
  readonly passed: ReadonlyMap<string, boolean>;
}

const only = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const results = new Map<string, Map<string, boolean>>();
const unexpected: string[] = [];
for (const revision of REVISIONS) {
  for (const scenario of requiredScenarios(revision)) {
    if (only.length > 0 && !only.some((part) => scenario.includes(part))) continue;
    const { passed, failedChecks } = await runScenario(scenario, revision);
    const { failing } = exceptionFor(scenario) ?? {};
    const others = failing === undefined ? [] : failedChecks.filter((check) => !failing.test(check));
    unexpected.push(
      ...others.map((check) => `fails beyond its exception: ${revision} ${scenario}: ${check}`),
    );
    console.log(`${passed ? 'pass' : 'FAIL'}  ${revision}  ${scenario}`);
    const byRevision = results.get(scenario) ?? new Map<string, boolean>();
    results.set(scenario, byRevision.set(revision, passed));
  }
}
rmSync(workspace, { recursive: true, force: true });

const rows = [...results].map(([scenario, passed]): Result => ({ scenario, passed }));
if (process.argv.includes('--write')) writeTable(rows);
const wrong = rows.filter(
  ({ scenario, passed }) => [...passed.values()].includes(false) !== (exceptionFor(scenario) !== undefined),
);
for (const { scenario } of wrong) {
  const isException = exceptionFor(scenario) !== undefined;
  console.log(isException ? `passes, but is an exception: ${scenario}` : `fails: ${scenario}`);
}
for (const line of unexpected) console.log(line);
process.exitCode = wrong.length === 0 && unexpected.length === 0 && rows.length > 0 ? 0 : 1;

/** Returns a Node that the suite runs on: this one, or else the one from npm. */
function nodeForSuite(): string {
  const [major = '0'] = process.versions.node.split('.');
  if (Number(major) >= 22) return process.execPath;
  return join(folder, `node_modules/node-${process.platform}-${process.arch}/bin/node`);
}

function requiredScenarios(revision: string): readonly string[] {
  const text = execFileSync(node, [suite, 'list', '--requirements', revision], { encoding: 'utf8' });
  const [, required = ''] = text.split('Client scenarios (test against a client):');
  const [list = ''] = required.split('Run and reported, but never scored');
  return [...list.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name);
}

async function runScenario(
  scenario: string,
  revision: string,
): Promise<{ readonly passed: boolean; readonly failedChecks: readonly string[] }> {
  const command = `${process.execPath} ${client}`;
  const options = [
    '--scenario',
    scenario,
    '--spec-version',
    revision,
    '--timeout',
    String(SCENARIO_TIMEOUT_MS),
  ];
  const isVerbose = process.argv.includes('--verbose');
  const run = spawn(
    node,
    [suite, 'client', '--command', command, ...options, ...(isVerbose ? ['--verbose'] : [])],
    {
      stdio: ['ignore', 'pipe', isVerbose ? 'inherit' : 'pipe'],
    },
  );
  let output = '';
  for (const stream of [run.stdout, run.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (isVerbose) process.stdout.write(chunk);
    });
  }
  const code = await new Promise((resolve) => run.once('close', resolve));
  const [, failed = ''] = output.split('Failed Checks:');
  return {
    passed: code === 0,
    failedChecks: [...failed.matchAll(/^ {2}- (.+)$/gm)].map(([, check = '']) => check),
  };
}

function writeTable(table: readonly Result[]): void {
  const cell = (passed: boolean | undefined) => (passed === undefined ? '–' : passed ? 'passes' : 'fails');
  const lines = table.map(({ scenario, passed }) => {
    const cells = REVISIONS.map((revision) => cell(passed.get(revision)));
    return `| ${[scenario, ...cells, exceptionFor(scenario)?.reason ?? ''].join(' | ')} |`;
  });
  const head = [`| scenario | ${REVISIONS.join(' | ')} | reason |`, '| --- | --- | --- | --- |'];
  replaceTable('conformance', [...head, ...lines]);
}
