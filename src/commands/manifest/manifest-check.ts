import { dirname, resolve } from 'node:path';
import type { Tool } from '../../agent/tool.ts';
import type { ReadableManifest } from '../../tools/manifest/parse.ts';
import { formatProblem, type ManifestProblem } from '../../tools/manifest/problem.ts';
import { inspectManifest } from '../checks/inspect-manifest.ts';
import { inspectUses } from '../checks/inspect-uses.ts';
import { type Command, EXIT, readOptions } from '../shared/command.ts';
import { manifestFile, readManifest } from '../shared/load-manifest.ts';

/** Prints every mistake in a manifest at once, in the format that editors recognize. */
export const manifestCheck: Command = {
  help: `Usage: countersign manifest check [file] [--without-secrets] [--json]

Checks the manifest (default: MANIFEST or manifest.yml) and prints a line for each mistake:
file:line:column: what it is about: what is wrong. Secrets that it refers to must be in the environment. An id that is
still a placeholder is a warning here; the bot does not start with one. Files and commands that are not there, private
addresses and missing scopes are mistakes too, and so are names of tools that neither the manifest, nor its modules, nor
the lock file has; ids, servers and what else is in modules are for "countersign doctor".

  --without-secrets  secrets of connections need not be set, as in CI
  --json             print one JSON object: ok, file, problems, warnings, placeholders

Exit code: 0 no mistake (warnings do not count), 1 mistakes, 2 wrong usage.
`,
  async run(args, { environment, write, writeError }) {
    const { values, positionals } = readOptions(
      args,
      { json: { type: 'boolean' }, 'without-secrets': { type: 'boolean' } },
      { positionals: 1 },
    );
    const file = manifestFile(environment, positionals[0]);
    const parsed = await readManifest(file, environment, { withoutSecrets: values['without-secrets'] });
    const readable = parsed.ok ? parsed : parsed.readable;
    const known = parsed.ok ? [] : parsed.problems;
    const inspected = readable === undefined ? NOTHING : await inspect(readable, file, { known });
    const problems = [...known, ...inspected.errors].sort(byPlace);
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

const NOTHING = { errors: [], warnings: [] };

/** Finds what this machine knows of the manifest: its files, its commands, its addresses, its scopes and its tools. */
async function inspect(
  readable: ReadableManifest,
  file: string,
  {
    known = [],
    code,
  }: { known?: readonly ManifestProblem[]; code?: ReadonlyMap<string, Tool> | undefined } = {},
) {
  const folder = dirname(resolve(file));
  const found = inspectManifest({ ...readable, folder });
  const located = (severity: 'error' | 'warning'): ManifestProblem[] =>
    found
      .filter((problem) => problem.severity === severity)
      .map(({ pointer, message, fix, at = 'value' }) =>
        readable.locate({ pointer, at, message: `${message}; ${fix}` }),
      );
  const errors = located('error');
  // A value with a mistake is not compared with the tools as well.
  const uses = (await inspectUses(readable, folder, code))
    .map((finding) => readable.locate(finding))
    .filter((problem) => [...known, ...errors].every((other) => byPlace(other, problem) !== 0));
  return { errors: [...errors, ...uses], warnings: located('warning') };
}

/** Matches the places that say where a tool comes from. */
const TOOL_SOURCE = /^tools\.[^.]+\.(?:module|mcp\.(?:command|cwd))$/;

/** Returns the mistakes for which "manifest check" rejects a manifest that can be read beside these tools, apart from those about tools that are missing. */
export async function findRejections(
  readable: ReadableManifest,
  file: string,
  code: ReadonlyMap<string, Tool> = new Map(),
) {
  const { errors } = await inspect(readable, file, { code });
  const isMissing = ({ path }: ManifestProblem) => TOOL_SOURCE.test(path);
  return {
    missingTools: errors.filter(isMissing),
    others: errors.filter((problem) => !isMissing(problem)),
  };
}

function byPlace(a: ManifestProblem, b: ManifestProblem): number {
  return a.line - b.line || a.column - b.column;
}
