import { z } from 'zod';
import type { Interrupt } from '../agent/messages.ts';
import type { Tool } from '../agent/tool.ts';

const Decision = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('approved'), by: z.string() }),
  z.object({ decision: z.literal('rejected'), by: z.string() }),
]);
/** What a person decided about a gated call. */
export type Decision = Readonly<z.infer<typeof Decision>>;

/** Gates a tool: its function runs only in a restart whose metadata says that somebody approved it. */
export function requireApproval<Gated extends Extract<Tool, { kind: 'tool' }>>(tool: Gated): Gated {
  return {
    ...tool,
    run(input, helpers) {
      const decided = Decision.safeParse(helpers.resumed);
      if (!decided.success) return helpers.interrupt({ needs: 'approval' });
      if (decided.data.decision === 'rejected') return helpers.deny(`Rejected by ${decided.data.by}`);
      return tool.run(input, { ...helpers, resumed: undefined });
    },
  };
}

/** Tells an interrupt that waits for an approval from one that asks something else. */
export function needsApproval(interrupt: Interrupt): boolean {
  return interrupt.metadata?.needs === 'approval';
}
