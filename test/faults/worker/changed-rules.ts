import type { Manifest } from '../../../src/tools/manifest/manifest.ts';

/** The file beside the effects that lets workers which start from now on have other rules. */
export function changedRules(effectsFile: string): string {
  return `${effectsFile}.rules`;
}

/** Changes every policy, so that nothing runs on an approval that was given under the former one. */
export function withOtherDeadlines(manifest: Manifest): Manifest {
  const policies = [...manifest.policies].map(
    ([name, policy]) => [name, { ...policy, expiresMs: policy.expiresMs + 1_000 }] as const,
  );
  return { ...manifest, policies: new Map(policies) };
}
