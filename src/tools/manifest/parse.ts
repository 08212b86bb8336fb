import { isJsonObject } from '../../agent/json.ts';
import { checkPolicies } from './checks/check-policies.ts';
import { checkShape } from './checks/check-shape.ts';
import { checkTools } from './checks/check-tools.ts';
import { findLiteralSecrets } from './checks/literal-secrets.ts';
import { findPlaceholders } from './checks/placeholders.ts';
import { type Environment, fillFromEnvironment } from './environment.ts';
import type { Manifest } from './manifest.ts';
import { type Finding, locateFinding, locateFindings, type ManifestProblem } from './problem.ts';
import { ManifestFile } from './schema/manifest-file.ts';
import { toManifest } from './to-manifest.ts';
import { readYaml } from './yaml/read-yaml.ts';

/** Shorter values occur in ordinary text. */
const MIN_HIDDEN_LENGTH = 4;

export interface ManifestSource {
  /** The name of the file in messages. */
  readonly file: string;
  readonly environment: Environment;
}

export type ParsedManifest =
  | {
      readonly ok: true;
      readonly manifest: Manifest;
      /** Values from the environment that must never be shown. */
      readonly secrets: string[];
      readonly warnings: ManifestProblem[];
      /** Ids that must be replaced before a bot can start with the manifest; all else works with them. */
      readonly placeholders: ManifestProblem[];
      /** Adds its position to a finding of a further check. */
      locate(finding: Finding): ManifestProblem;
    }
  | { readonly ok: false; readonly problems: ManifestProblem[]; readonly warnings: ManifestProblem[] };

/** Parses a manifest. It reports every mistake at once, with its position, and throws for no text. */
export function parseManifest(text: string, { file, environment }: ManifestSource): ParsedManifest {
  const yaml = readYaml(text, file);
  if (!yaml.ok) return { ok: false, problems: yaml.problems, warnings: [] };
  const { value: written, positions } = yaml;
  if (!isJsonObject(written)) {
    const message = 'a manifest is a mapping with the keys slack, agent, policies and tools';
    return { ok: false, problems: [{ file, line: 1, column: 1, path: '', message }], warnings: [] };
  }

  const literal = findLiteralSecrets(text).map(({ offset, message }) => ({
    file,
    ...positions.at(offset),
    path: positions.nameOf(positions.pointerAt(offset)),
    message,
  }));
  const { value, used, filledIn, secrets, findings: unfilled } = fillFromEnvironment(written, environment);
  const manifest = isJsonObject(value) ? value : {};
  const tools = checkTools(manifest);
  // A value that could not be filled in is reported for that reason only.
  const isUnfilled = new Set(unfilled.map(({ pointer }) => pointer));
  const findings = [...checkShape(manifest), ...checkPolicies(manifest), ...tools.findings]
    .filter(({ pointer }) => !isUnfilled.has(pointer))
    .map((finding) => (filledIn.has(finding.pointer) ? withoutQuotes(finding) : finding));
  const located = locateFindings(file, [...unfilled, ...findings], positions).filter(
    ({ line, column }) => !yaml.problems.some((known) => known.line === line && known.column === column),
  );
  const problems = [...yaml.problems, ...literal, ...located]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .map((problem) => ({ ...problem, message: withoutValues(problem.message, used) }));
  const warnings = locateFindings(file, tools.warnings, positions);

  const parsed = ManifestFile.safeParse(manifest);
  if (problems.length === 0 && parsed.success) {
    const placeholders = locateFindings(file, findPlaceholders(manifest), positions);
    const locate = (finding: Finding): ManifestProblem => locateFinding(file, finding, positions);
    const result = {
      manifest: toManifest(parsed.data, written),
      secrets: [...secrets],
      warnings,
      placeholders,
    };
    return { ok: true, ...result, locate };
  }
  if (problems.length === 0) {
    const message = `it does not fit its schema: ${parsed.error?.issues[0]?.message ?? 'unknown'}`;
    problems.push({ file, line: 1, column: 1, path: '', message });
  }
  return { ok: false, problems, warnings };
}

/** Removes quoted values from a message about a value of the environment. */
function withoutQuotes(finding: Finding): Finding {
  const message = finding.message.replace(/"(?:[^"\\]|\\.)*"/g, 'what the environment has');
  return { ...finding, message };
}

function withoutValues(message: string, used: ReadonlyMap<string, string>): string {
  let hidden = message;
  for (const [name, value] of used) {
    if (value.length >= MIN_HIDDEN_LENGTH) hidden = hidden.replaceAll(value, () => `\${${name}}`);
  }
  return hidden;
}
