import type { JsonObject } from '../../agent/json.ts';

/** The manifest that is active, as it was written. */
export interface RecordedManifest {
  readonly digest: string;
  readonly text: string;
  /** The text of the lock file beside it; `undefined` if there was none. */
  readonly lock: string | undefined;
  /** Whether changes that weaken it need approval. */
  readonly isGoverned: boolean;
}

/** An operator's decision about the manifest on record. */
export interface Adoption {
  readonly who: string;
  readonly reason: string;
  readonly evidence: JsonObject;
}

/** The record of the manifest that all processes agree on. */
export interface ManifestStore {
  readManifest(): Promise<(RecordedManifest & { readonly approved: string | undefined }) | undefined>;
  /** Records another manifest in place of the one with the digest `former`; refused if that is not the recorded one any more. */
  recordManifest(former: string | undefined, next: RecordedManifest): Promise<'recorded' | 'changed'>;
  /** Notes that people have approved a change from one digest to another; it holds until another manifest is recorded. */
  approveManifest(former: string, next: string, change: string): Promise<'approved' | 'changed'>;
  /** Records a manifest in place of the one with the digest `former` by an operator's decision, which is on the audit log. */
  adoptManifest(former: string, next: RecordedManifest, decision: Adoption): Promise<'adopted' | 'changed'>;
}
