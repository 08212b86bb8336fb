import type { SourceMap } from './yaml/source-map.ts';

/** One mistake in a manifest, at the position where it has to be corrected. Lines and columns count from 1. */
export interface ManifestProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `tools.refund_order.approval[0].when`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A mistake without its position: a JSON pointer, and whether its key or its value is wrong. */
export interface Finding {
  readonly pointer: string;
  readonly at: 'key' | 'value';
  /** The offset of the mistake in the text of the value. */
  readonly inside?: number;
  readonly message: string;
}

/** Formats a problem as editors and terminals recognize it: `manifest.yml:12:5: path: message`. */
export function formatProblem({ file, line, column, path, message }: ManifestProblem): string {
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Adds positions to findings and sorts them by position; duplicates are removed. */
export function locateFindings(
  file: string,
  findings: readonly Finding[],
  positions: SourceMap,
): ManifestProblem[] {
  const problems = findings.map((finding) => locateFinding(file, finding, positions));
  const byText = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...byText.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Adds its position to one finding. */
export function locateFinding(file: string, finding: Finding, positions: SourceMap): ManifestProblem {
  const { pointer, at, inside, message } = finding;
  const { line, column } = at === 'key' ? positions.ofKey(pointer) : positions.ofValue(pointer, inside);
  return { file, line, column, path: positions.nameOf(pointer), message };
}
