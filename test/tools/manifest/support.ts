import type { Manifest, ToolDeclaration } from '../../../src/tools/manifest/manifest.ts';
import { type ParsedManifest, parseManifest } from '../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../src/tools/manifest/problem.ts';

export const SLACK = 'slack: { display_information: { name: Test } }\n';
export const DEFAULT_POLICY = 'policies: { default: { approvers: [S0APPROVE1] } }\n';

export type Held = Extract<ParsedManifest, { ok: true }>;

/** Parses a manifest that has no mistake. */
export function held(text: string, environment: Readonly<Record<string, string>> = {}): Held {
  const parsed = parseManifest(text + SLACK, { file: 'manifest.yml', environment });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  return parsed;
}

/** Returns the first tool of a manifest. */
export function toolOf({ tools }: Manifest): ToolDeclaration {
  const [tool] = tools;
  if (tool === undefined) throw new Error('the manifest has no tool');
  return tool;
}
