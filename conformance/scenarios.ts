import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { exceptionFor } from './exceptions.ts';
import { installSuite, nodeForSuite, SUITE } from './install.ts';

export const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
export type Revision = (typeof REVISIONS)[number];

const folder = fileURLToPath(new URL('.', import.meta.url));
const SCENARIO_TIMEOUT_MS = 30_000;

export interface ScenarioResult {
  readonly scenario: string;
  readonly revision: Revision;
  readonly passed: boolean;
  /** The failed checks that no exception allows. */
  readonly unexpected: readonly string[];
}

export interface ScenarioOptions {
  /** The parts of names of which a scenario must have one; without any, all are run. */
  readonly only?: readonly string[];
  readonly isVerbose?: boolean;
  /** Lets the client believe any issuer that answers, so that the suite has something to notice. */
  readonly isLoosened?: boolean;
}

/** Runs the client scenarios that the revisions require against the bot's own client, one at a time. */
export async function* runScenarios(options: ScenarioOptions = {}): AsyncGenerator<ScenarioResult> {
  installSuite();
  const { only = [] } = options;
  const workspace = mkdtempSync(join(tmpdir(), 'conformance-'));
  try {
    const client = await buildClient(workspace);
    for (const revision of REVISIONS) {
      for (const scenario of requiredScenarios(revision)) {
        if (only.length > 0 && !only.some((part) => scenario.includes(part))) continue;
        const { passed, failedChecks } = await runScenario(client, scenario, revision, options);
        const exception = exceptionFor(scenario);
        const unexpected = failedChecks.filter((check) => exception?.failing?.test(check) === false);
        yield { scenario, revision, passed, unexpected };
      }
    }
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}

async function buildClient(workspace: string): Promise<string> {
  const outfile = join(workspace, 'client.mjs');
  await build({
    entryPoints: [join(folder, 'client.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return outfile;
}

function requiredScenarios(revision: Revision): readonly string[] {
  const text = execFileSync(nodeForSuite(), [SUITE, 'list', '--requirements', revision], {
    encoding: 'utf8',
  });
  const [, required = ''] = text.split('Client scenarios (test against a client):');
  const [list = ''] = required.split('Run and reported, but never scored');
  return [...list.matchAll(/^ {2}- (\S+)$/gm)].map(([, name = '']) => name);
}

async function runScenario(
  client: string,
  scenario: string,
  revision: Revision,
  { isVerbose = false, isLoosened = false }: ScenarioOptions,
): Promise<{ readonly passed: boolean; readonly failedChecks: readonly string[] }> {
  const args = [
    ...['client', '--command', `${process.execPath} ${client}`, '--scenario', scenario],
    ...['--spec-version', revision, '--timeout', String(SCENARIO_TIMEOUT_MS)],
    ...(isVerbose ? ['--verbose'] : []),
  ];
  const run = spawn(nodeForSuite(), [SUITE, ...args], {
    env: { ...process.env, ...(isLoosened && { CONFORMANCE_HOLE: 'any-issuer' }) },
    stdio: ['ignore', 'pipe', isVerbose ? 'inherit' : 'pipe'],
  });
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
