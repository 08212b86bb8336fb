import { dirname, resolve } from 'node:path';
import type { ParsedManifest } from '../../tools/manifest/parse.ts';
import { formatProblem, type ManifestProblem } from '../../tools/manifest/problem.ts';
import { inspectManifest } from '../checks/inspect-manifest.ts';
import { type Command, EXIT } from '../shared/command.ts';
import { manifestFile, readManifest } from '../shared/load-manifest.ts';
import { readOptions } from '../shared/options.ts';

/** Prints every mistake in a manifest at once, in the format that editors recognize. */
export const manifestCheck: Command = {
  help: `Usage: countersign manifest check [file] [--json]

Checks the manifest (default: MANIFEST or manifest.yml) and prints a line for each mistake:
file:line:column: what it is about: what is wrong. Secrets that it refers to must be in the environment. An id that is
still a placeholder is a warning here; the bot does not start with one. Files and commands that are not there, private
addresses and missing scopes are mistakes too; ids, servers and modules are for "countersign doctor".

  --json         print one JSON object: ok, file, problems, warnings, placeholders

Exit code: 0 no mistake (warnings do not count), 1 mistakes, 2 wrong usage.
`,
  async run(args, { environment, write, writeError }) {
    const { values, positionals } = readOptions(args, { json: { type: 'boolean' } }, { positionals: 1 });
    const file = manifestFile(environment, positionals[0]);
    const parsed = await readManifest(file, environment);
    const inspected = parsed.ok ? inspect(parsed, file) : { errors: parsed.problems, warnings: [] };
    const problems = inspected.errors;
    const warnings = [...parsed.warnings, ...inspected.warnings];
    const ok = problems.length === 0;
    const placeholders = parsed.ok ? parsed.placeholders : [];
    if (values.json) {
      await write(`${JSON.stringify({ ok, file, problems, warnings, placeholders })}\n`);
      return ok ? EXIT.ok : EXIT.problem;
    }
    for (const problem of problems) await writeError(`${formatProblem(problem)}\n`);
    for (const warning of [...warnings, ...placeholders])
      await writeError(`warning: ${formatProblem(warning)}\n`);
    if (!parsed.ok || !ok) return EXIT.problem;
    const { tools, policies } = parsed.manifest;
    await write(`${file}: ok (tools: ${tools.length}, policies: ${policies.size})\n`);
    return EXIT.ok;
  },
};

/** Adds what this machine knows of the manifest: its files, its commands, its addresses and its scopes. */
function inspect(parsed: ParsedManifest & { readonly ok: true }, file: string) {
  const found = inspectManifest({ ...parsed, folder: dirname(resolve(file)) });
  const located = (severity: 'error' | 'warning'): ManifestProblem[] =>
    found
      .filter((problem) => problem.severity === severity)
      .map(({ pointer, message, fix }) =>
        parsed.locate({ pointer, at: 'value', message: `${message}; ${fix}` }),
      );
  return { errors: located('error'), warnings: located('warning') };
}
