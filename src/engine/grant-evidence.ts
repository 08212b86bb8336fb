import { z } from 'zod';

/** The evidence of a call that runs under a grant; `approval` is what would be asked for without it. */
export const GrantEvidence = z.object({
  grant: z.string(),
  by: z.array(z.string()),
  uses: z.number(),
  call: z.string(),
  requesters: z.array(z.string()),
  approval: z.object({ policy: z.string(), rule: z.string() }),
});
export type GrantEvidence = Readonly<z.infer<typeof GrantEvidence>>;
