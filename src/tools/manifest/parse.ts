import { isJsonObject, type JsonObject, type JsonValue } from '../../agent/json.ts';
import { findLiteralSecrets } from '../secrets.ts';
import { checkCallers, doubtfulCallers } from './checks/check-callers.ts';
import { checkDelegations, doubtDelegations } from './checks/check-delegations.ts';
import { checkDoubts } from './checks/check-doubts.ts';
import { checkPolicies } from './checks/check-policies.ts';
import { checkShape } from './checks/check-shape.ts';
import { checkTools } from './checks/check-tools.ts';
import { checkUses, writtenTools } from './checks/check-uses.ts';
import { checkWritten, findPlaceholders } from './checks/check-written.ts';
import { type Environment, fillFromEnvironment } from './environment.ts';
import { withHttpDefaults } from './http-defaults.ts';
import type { Manifest } from './manifest.ts';
import { type Finding, locateFinding, locateFindings, type ManifestProblem } from './problem.ts';
import { readYaml } from './read-yaml.ts';
import { ManifestFile } from './schema/manifest-file.ts';
import { toManifest } from './to-manifest.ts';

/** Shorter values occur in ordinary text. */
const MIN_HIDDEN_LENGTH = 4;

export interface ManifestSource {
  /** The name of the file in messages. */
  readonly file: string;
  readonly environment: Environment;
  /** Whether secrets of connections may be missing, as in CI; nothing can be called then. */
  readonly withoutSecrets?: boolean | undefined;
}

export type ParsedManifest =
  | {
      readonly ok: true;
      readonly manifest: Manifest;
      readonly written: JsonObject;
      /** The manifest as JSON with the values of the environment, but `${NAME}` in place of each secret; it parses to the same manifest. */
      readonly text: string;
      /** Values from the environment that must never be shown. */
      readonly secrets: string[];
      readonly warnings: ManifestProblem[];
      /** Ids that must be replaced before a bot can start with the manifest; all else works with them. */
      readonly placeholders: ManifestProblem[];
      /** Adds its position to a finding of a further check. */
      locate(finding: Finding): ManifestProblem;
    }
  | {
      readonly ok: false;
      readonly problems: ManifestProblem[];
      readonly warnings: ManifestProblem[];
      /** The parts without mistakes, so that further checks need not wait for the others; `undefined` if the file is no YAML. */
      readonly readable?: ReadableManifest | undefined;
    };

/** A manifest as far as it can be read. */
export interface ReadableManifest {
  readonly manifest: Manifest;
  /** As it is written, with `${NAME}` in place of each secret. */
  readonly written: JsonObject;
  locate(finding: Finding): ManifestProblem;
}

/** Parses a manifest. It reports every mistake at once, with its position, and throws for no text. */
export function parseManifest(
  text: string,
  { file, environment, withoutSecrets: isWithoutSecrets = false }: ManifestSource,
): ParsedManifest {
  const yaml = readYaml(text, file);
  if (!yaml.ok) return { ok: false, problems: yaml.problems, warnings: [] };
  const { value: written, positions } = yaml;
  if (!isJsonObject(written)) {
    const message = 'a manifest is a mapping with the keys agent, policies and tools';
    return { ok: false, problems: [{ file, line: 1, column: 1, path: '', message }], warnings: [] };
  }

  const literal = findLiteralSecrets(text).map(({ offset, message }) => ({
    file,
    ...positions.at(offset),
    path: positions.nameOf(positions.pointerAt(offset)),
    message,
  }));
  const filled = fillFromEnvironment(written, environment, { withoutSecrets: isWithoutSecrets });
  const { used, filledIn, secrets, findings: unfilled } = filled;
  const manifest = withHttpDefaults(isJsonObject(filled.value) ? filled.value : {});
  const withoutSecrets = isJsonObject(filled.withoutSecrets) ? filled.withoutSecrets : {};
  const asWritten = withHttpDefaults(withoutSecrets);
  const tools = checkTools(manifest);
  const uses = checkUses(manifest, writtenTools(manifest));
  // A value that could not be filled in is reported for that reason only.
  const isUnfilled = new Set(unfilled.map(({ pointer }) => pointer));
  const isGoverned = isJsonObject(manifest.agent) && manifest.agent.policy_changes !== undefined;
  const findings = [
    ...checkShape(manifest),
    ...checkPolicies(manifest),
    ...checkDelegations(manifest),
    ...checkCallers(manifest, written),
    ...tools.findings,
    ...uses.findings,
    ...checkWritten(written),
    ...(isGoverned ? filled.hiddenHosts : []),
  ]
    .filter(({ pointer }) => !isUnfilled.has(pointer))
    .map((finding) =>
      finding.at === 'value' && filledIn.has(finding.pointer) ? withoutQuotes(finding) : finding,
    );
  const located = locateFindings(file, [...unfilled, ...findings], positions).filter(
    ({ line, column }) => !yaml.problems.some((known) => known.line === line && known.column === column),
  );
  const isLiteral = new Set(literal.map(({ path }) => path));
  const problems = [...yaml.problems, ...literal, ...located.filter(({ path }) => !isLiteral.has(path))]
    .sort((a, b) => a.line - b.line || a.column - b.column)
    .map((problem) => ({ ...problem, message: withoutValues(problem.message, used) }));
  const doubts = [
    ...tools.warnings,
    ...uses.warnings,
    ...doubtfulCallers(manifest),
    ...checkDoubts(manifest),
    ...doubtDelegations(manifest),
  ];
  const warnings = locateFindings(file, doubts, positions);

  const parsed = ManifestFile.safeParse(manifest);
  const locate = (finding: Finding): ManifestProblem => locateFinding(file, finding, positions);
  if (problems.length === 0 && parsed.success) {
    const placeholders = locateFindings(file, findPlaceholders(manifest), positions);
    const result = {
      manifest: toManifest(parsed.data, asWritten, text),
      written: withoutSecrets,
      text: JSON.stringify(withoutSecrets),
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
  const parts = readableManifest(manifest);
  const readable = parts && {
    manifest: toManifest(parts, asWritten, text),
    written: withoutSecrets,
    locate,
  };
  return { ok: false, problems, warnings, readable };
}

/** Leaves out every value with a mistake, and what needs it, until the rest fits the schema. */
function readableManifest(manifest: JsonObject): ManifestFile | undefined {
  let rest: JsonValue = manifest;
  for (;;) {
    const { success, data, error } = ManifestFile.safeParse(rest);
    if (success) return data;
    const [issue] = error.issues;
    if (issue === undefined) return undefined;
    const [key] = issue.code === 'unrecognized_keys' ? issue.keys : [];
    const path = key === undefined ? issue.path : [...issue.path, key];
    // A value that is missing makes its container wrong.
    const less: JsonValue | undefined = without(rest, path) ?? without(rest, path.slice(0, -1));
    if (less === undefined) return undefined;
    rest = less;
  }
}

/** Returns a value without what is at a path; `undefined` if there is nothing. */
function without(value: JsonValue, [key, ...others]: readonly PropertyKey[]): JsonValue | undefined {
  if (key === undefined) return undefined;
  const name = String(key);
  const entry = isJsonObject(value) || Array.isArray(value) ? Object.entries(value) : [];
  const own = entry.find(([each]) => each === name)?.[1];
  if (own === undefined) return undefined;
  const left = others.length === 0 ? undefined : without(own, others);
  if (others.length > 0 && left === undefined) return undefined;
  const kept = entry.flatMap(([each, item]): [string, JsonValue][] => {
    if (each !== name) return [[each, item]];
    return left === undefined ? [] : [[each, left]];
  });
  return Array.isArray(value) ? kept.map(([, item]) => item) : Object.fromEntries(kept);
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
