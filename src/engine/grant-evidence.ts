import { hash } from 'node:crypto';
import { z } from 'zod';
import type { GrantRecord } from '../store/port/workspace.ts';
import { Approval } from '../tools/gate.ts';

/** The evidence of a call that runs under a grant; `approval` is what would be asked for without it. */
export const GrantEvidence = z.object({
  grant: z.string(),
  by: z.array(z.string()),
  uses: z.number(),
  call: z.string(),
  requesters: z.array(z.string()),
  approval: Approval,
});
export type GrantEvidence = Readonly<z.infer<typeof GrantEvidence>>;

const GrantDetails = z.object({
  requestId: z.string(),
  threadId: z.string(),
  scope: z.enum(['thread', 'requester']),
  tool: z.string(),
  title: z.string(),
  /** The digest of the tool's definition. */
  definition: z.string(),
  policy: z.string(),
  policyDigest: z.string(),
  requesters: z.array(z.string()),
  contextAuthors: z.array(z.string()),
  /** The people who signed it. */
  by: z.array(z.string()).min(1),
  /** The passkeys that they signed it with, by person. */
  keys: z.record(z.string(), z.string()).optional(),
  /** The approver groups of the call that was approved, with the people that the call itself named. */
  groups: z.array(z.object({ any: z.array(z.string()), quorum: z.number() })).min(1),
  /** The people and groups who could approve it, those of an escalation among them. */
  principals: z.array(z.string()),
  /** The digest of the arguments that were approved. */
  input: z.string(),
  when: z.string().optional(),
  /** The calls that the condition covers, in words. */
  covers: z.string().optional(),
});
/** The scope of a grant, as it is stored. */
export type GrantDetails = z.infer<typeof GrantDetails>;

/** Reads what a grant is for; `undefined` if it cannot be read, and then it allows nothing. */
export function grantDetailsOf({ details }: Pick<GrantRecord, 'details'>): GrantDetails | undefined {
  return GrantDetails.safeParse(details).data;
}

/** Returns the id of the grant of a request, short enough for a button. */
export function grantIdOf(requestId: string): string {
  return `g-${hash('sha256', requestId).slice(0, 24)}`;
}
