import { hash } from 'node:crypto';
import { z } from 'zod';
import type { GrantRecord } from '../../store/port/grants.ts';

const Details = z.object({
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
  /** The people and groups who may approve under its policy. */
  principals: z.array(z.string()),
  /** The digest of the arguments that were approved. */
  input: z.string(),
  when: z.string().optional(),
});
/** The scope of a grant, as it is stored. */
export type GrantDetails = z.infer<typeof Details>;

/** Reads what a grant is for; `undefined` if it cannot be read, and then it allows nothing. */
export function grantDetailsOf({ details }: Pick<GrantRecord, 'details'>): GrantDetails | undefined {
  return Details.safeParse(details).data;
}

/** Returns the id of the grant of a request, short enough for a button. */
export function grantIdOf(requestId: string): string {
  return `g-${hash('sha256', requestId).slice(0, 24)}`;
}
