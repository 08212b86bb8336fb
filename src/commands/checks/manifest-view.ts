import type { Manifest } from '../../tools/manifest/manifest.ts';
import type { Finding as LocatableFinding, ManifestProblem } from '../../tools/manifest/problem.ts';
import { type Finding, failed, warning } from './finding.ts';

/** A manifest without mistakes, with what the further checks need of it. */
export interface LoadedManifest {
  readonly manifest: Manifest;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  readonly secrets: readonly string[];
  locate(finding: LocatableFinding): ManifestProblem;
}

/** A problem at a value of the manifest, by its JSON pointer. */
export interface PlacedProblem {
  readonly pointer: string;
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly fix: string;
  /** The offset in the text of the value. */
  readonly inside?: number;
}

/** Turns a problem into a finding with its line and column. */
export function toFinding(
  check: string,
  { pointer, severity, message, fix, inside }: PlacedProblem,
  { locate }: Pick<LoadedManifest, 'locate'>,
): Finding {
  const at = { pointer, at: 'value', message, ...(inside !== undefined && { inside }) } as const;
  const { message: _same, ...place } = locate(at);
  return (severity === 'error' ? failed : warning)(check, message, { place, fix });
}
