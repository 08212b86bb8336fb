import type { Places } from './yaml/source-map.ts';

/** One mistake in a manifest, at the place where it is to be corrected. Lines and columns count from 1. */
export interface ManifestProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Such as `tools.refund_order.approval[0].when`; empty for the file as a whole. */
  readonly path: string;
  readonly message: string;
}

/** A mistake before its place is looked up: a JSON pointer, and whether its key or its value is wrong. */
export interface Finding {
  readonly pointer: string;
  readonly at: 'key' | 'value';
  /** How many characters into the text of the value the mistake stands. */
  readonly inside?: number;
  readonly message: string;
}

/** Writes a problem as editors and terminals know it: `manifest.yml:12:5: path: message`. */
export function formatProblem({ file, line, column, path, message }: ManifestProblem): string {
  return `${file}:${line}:${column}: ${path === '' ? '' : `${path}: `}${message}`;
}

/** Gives findings their places, in the order of the file; the same sentence at the same place is told once. */
export function placeFindings(file: string, findings: readonly Finding[], places: Places): ManifestProblem[] {
  const problems = findings.map(({ pointer, at, inside, message }) => {
    const { line, column } = at === 'key' ? places.ofKey(pointer) : places.ofValue(pointer, inside);
    return { file, line, column, path: places.nameOf(pointer), message };
  });
  const byText = new Map(problems.map((problem) => [formatProblem(problem), problem]));
  return [...byText.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}
