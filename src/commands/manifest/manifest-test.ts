import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatProblem } from '../../tools/manifest/problem.ts';
import { type Command, EXIT, Failure, formatTable, readOptions } from '../shared/command.ts';
import { manifestFile } from '../shared/load-manifest.ts';
import { withToolbox } from '../shared/with-toolbox.ts';
import { type CaseResult, parseCases, runCase } from './manifest-cases.ts';

export const CASES_FILE = 'manifest.test.yml';
const OPTIONS = {
  manifest: { type: 'string' },
  json: { type: 'boolean' },
  'without-secrets': { type: 'boolean' },
} as const;

/** Compares what the rules do with the calls of a file of cases with what the file expects. Nothing runs. */
export const manifestTest: Command = {
  help: `Usage: countersign manifest test [file] [--manifest <file>] [--without-secrets] [--json]

Judges every call of a file of cases by the rules of the manifest, and compares: does it run, is it denied, or does it need
approval, and whose. Nothing runs, and nobody is asked. Modules are loaded. The tools of an MCP server are those of the lock
file; only a server that is not locked, or whose hints are trusted, is connected to.

  <file>             the cases (default: ${CASES_FILE} beside the manifest)
  --manifest FILE    the manifest (default: MANIFEST or manifest.yml)
  --without-secrets  secrets of connections need not be set, as in CI
  --json             print one JSON object: ok, file, cases

Exit code: 0 all as expected, 1 a case differs or a file has errors, 2 wrong usage.
`,
  async run(args, { environment, write, writeError }) {
    const { values, positionals } = readOptions(args, OPTIONS, { positionals: 1 });
    const manifest = manifestFile(environment, values.manifest);
    const file = positionals[0] ?? join(dirname(manifest), CASES_FILE);
    const text = await readFile(file, 'utf8').catch(() => {
      throw new Failure(`${file} cannot be read; name the file of the cases, or write it`);
    });
    const parsed = parseCases(text, file);
    if (!parsed.ok) {
      if (values.json === true)
        await write(`${JSON.stringify({ ok: false, file, problems: parsed.problems })}\n`);
      else for (const problem of parsed.problems) await writeError(`${formatProblem(problem)}\n`);
      return EXIT.problem;
    }
    const results = await withToolbox(
      manifest,
      environment,
      (toolbox) => Promise.all(parsed.cases.map((each) => runCase(toolbox, each))),
      { withoutSecrets: values['without-secrets'], areServersLocked: true },
    );
    const ok = results.every(isOk);
    if (values.json === true) {
      const cases = results.map((result) => ({ ...result, ok: isOk(result) }));
      await write(`${JSON.stringify({ ok, file, cases })}\n`);
      return ok ? EXIT.ok : EXIT.problem;
    }
    await write(`${tableOf(results).join('\n')}\n\n`);
    for (const { problems, why } of results)
      for (const problem of problems)
        await writeError(`${formatProblem(problem)}${why === '' ? '' : `\n    ${why}`}\n`);
    const failed = results.filter((result) => !isOk(result)).length;
    await write(
      `${results.length === 1 ? '1 case' : `${results.length} cases`}, ${failed === 0 ? 'all as expected' : `${failed} not as expected`}\n`,
    );
    return ok ? EXIT.ok : EXIT.problem;
  },
};

function isOk({ problems }: CaseResult): boolean {
  return problems.length === 0;
}

function tableOf(results: readonly CaseResult[]): string[] {
  const rows = results.map((result) => [
    isOk(result) ? 'ok' : 'FAILED',
    result.name,
    result.tool,
    result.verdict,
  ]);
  return formatTable([['', 'case', 'tool', 'the rules say'], ...rows]);
}
