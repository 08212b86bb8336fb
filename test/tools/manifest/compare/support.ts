import type { LockedManifest } from '../../../../src/tools/manifest/compare/compare-manifests.ts';
import { parseManifest } from '../../../../src/tools/manifest/parse.ts';
import { formatProblem } from '../../../../src/tools/manifest/problem.ts';

/** Parses a manifest that is written as an object; one with mistakes is an error. */
export function manifestFrom(sections: object, lock?: string): LockedManifest {
  const text = JSON.stringify({ slack: { display_information: { name: 'Test' } }, ...sections });
  const parsed = parseManifest(text, { file: 'manifest.yml', environment: { AUDIT_TOKEN: 'sk-4711' } });
  if (!parsed.ok) throw new Error(parsed.problems.map(formatProblem).join('\n'));
  return { manifest: parsed.manifest, lock };
}
