import type { Policy } from '../policy.ts';
import { durationMs } from './duration.ts';
import type { PolicyFile } from './manifest-file.ts';

export const DEFAULT_EXPIRES_MS = durationMs('1d');

/** A policy with every default filled in. */
export function toPolicy(name: string, written: PolicyFile): Policy {
  const { approvers, escalate, risk = 'medium' } = written;
  return {
    name,
    approvers,
    quorum: written.quorum ?? 1,
    veto: written.veto ?? true,
    selfApproval: written.self_approval ?? false,
    expiresMs: written.expires ?? DEFAULT_EXPIRES_MS,
    remindMs: written.remind,
    escalate: escalate === undefined ? undefined : { afterMs: escalate.after, to: escalate.to },
    announce: written.announce ?? [],
    directMessages: written.direct_messages ?? true,
    confirm: written.confirm ?? risk === 'high',
    risk,
    resolvers: written.resolvers ?? approvers,
  };
}
