import { dirname, resolve } from 'node:path';
import type { Manifest } from '../../tools/manifest/manifest.ts';
import { formatProblem } from '../../tools/manifest/problem.ts';
import { manifestFile, readManifest } from '../shared/load-manifest.ts';
import { type Finding, failed, firstLineOf, ok, warning } from './finding.ts';

export interface CheckedManifest {
  readonly findings: readonly Finding[];
  /** The manifest, if it has no mistake. */
  readonly loaded:
    | { readonly manifest: Manifest; readonly folder: string; readonly secrets: readonly string[] }
    | undefined;
}

/** Reads the manifest for the checks that need it; its mistakes are findings. */
export async function checkManifest(environment: NodeJS.ProcessEnv): Promise<CheckedManifest> {
  const file = manifestFile(environment);
  try {
    const parsed = await readManifest(file, environment);
    const warnings = parsed.warnings.map((found) => warning('manifest', formatProblem(found)));
    if (!parsed.ok) {
      const problems = parsed.problems.map((found) => failed('manifest', formatProblem(found)));
      return { findings: [...problems, ...warnings], loaded: undefined };
    }
    const { manifest, secrets, placeholders } = parsed;
    const passed = ok(
      'manifest',
      `${file}: tools: ${manifest.tools.length}, policies: ${manifest.policies.size}`,
    );
    const unfinished = placeholders.map((found) => failed('manifest', formatProblem(found)));
    return {
      findings: [...(unfinished.length > 0 ? unfinished : [passed]), ...warnings],
      loaded: { manifest, secrets, folder: dirname(resolve(file)) },
    };
  } catch (error) {
    return { findings: [failed('manifest', firstLineOf(error))], loaded: undefined };
  }
}
