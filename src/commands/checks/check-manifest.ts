import { dirname, resolve } from 'node:path';
import { manifestFile, readManifest } from '../shared/load-manifest.ts';
import { type Finding, failed, firstLineOf, fromProblem, ok } from './finding.ts';
import { inspectManifest } from './inspect-manifest.ts';
import { type LoadedManifest, toFinding } from './manifest-view.ts';

export interface CheckedManifest {
  readonly findings: readonly Finding[];
  /** The manifest, if it has no mistake. */
  readonly loaded: LoadedManifest | undefined;
}

/** Reads the manifest for the checks that need it; its mistakes are findings. */
export async function checkManifest(environment: NodeJS.ProcessEnv): Promise<CheckedManifest> {
  const file = manifestFile(environment);
  try {
    const parsed = await readManifest(file, environment);
    const warnings = parsed.warnings.map((found) => fromProblem('warning', found));
    if (!parsed.ok) {
      const problems = parsed.problems.map((found) => fromProblem('failed', found));
      return { findings: [...problems, ...warnings], loaded: undefined };
    }
    const { manifest, secrets, placeholders, locate } = parsed;
    const loaded = { manifest, secrets, locate, folder: dirname(resolve(file)) };
    const problems = [
      ...placeholders.map((found) => fromProblem('failed', found)),
      ...inspectManifest(loaded).map((found) => toFinding('manifest', found, loaded)),
    ];
    const summary = `${file}: tools: ${manifest.tools.length}, policies: ${manifest.policies.size}`;
    const passed = problems.some(({ status }) => status === 'failed') ? [] : [ok('manifest', summary)];
    return { findings: [...passed, ...problems, ...warnings], loaded };
  } catch (error) {
    return { findings: [failed('manifest', firstLineOf(error))], loaded: undefined };
  }
}
