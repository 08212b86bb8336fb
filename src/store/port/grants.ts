import type { JsonObject } from '../../agent/json.ts';

/** A grant that a quorum has signed: further calls of its kind run without asking, so often and so long. */
export interface NewGrant {
  readonly id: string;
  readonly expiresAt: number;
  readonly uses: number;
  /** Its scope, as the caller describes it. */
  readonly details: JsonObject;
}

export interface GrantRecord extends NewGrant {
  readonly used: number;
  readonly revokedBy: string | undefined;
}

export type UseGrantResult =
  | { readonly outcome: 'used'; readonly used: number }
  | { readonly outcome: 'unknown' | 'revoked' | 'expired' | 'spent' };
export type RevokeGrantResult =
  | { readonly outcome: 'revoked'; readonly used: number }
  | { readonly outcome: 'unknown' | 'not-eligible' };

/** The grants. A use is taken before its call runs, and none is after the answer to a revocation. */
export interface GrantStore {
  openGrant(grant: NewGrant): Promise<{ readonly outcome: 'opened' | 'expired' }>;
  /** Takes a use for a call; the same call again takes no further one. */
  useGrant(id: string, call: string, evidence: JsonObject): Promise<UseGrantResult>;
  /** Returns a use that was taken for a call that did not start. */
  returnUse(id: string, call: string, evidence: JsonObject): Promise<void>;
  revokeGrant(
    id: string,
    actor: { readonly who: string; readonly eligible: boolean; readonly evidence: JsonObject },
  ): Promise<RevokeGrantResult>;
  loadGrant(id: string): Promise<GrantRecord | undefined>;
  /** Lists the grants that hold, the first to expire first; one whose uses are spent is among them. */
  listGrants(): Promise<readonly GrantRecord[]>;
}
