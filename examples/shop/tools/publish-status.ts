import { defineTool } from 'countersign';
import { z } from 'zod';
import { openLedger } from '../ledger.ts';

const FIRST_LINE = 'All systems work.';
const Published = z.object({ published: z.string(), previous: z.string() });

/** Pretends to publish a line on the status page. A real tool would call your status page here. */
export const publishStatus = defineTool(
  {
    name: 'publish_status',
    description: 'Publishes one line on the public status page.',
    inputSchema: z.object({ line: z.string().min(1).max(280).describe('what customers read') }),
    outputSchema: Published,
    preview: async ({ line }) => ({
      before: (await openLedger().statusLine()) ?? FIRST_LINE,
      after: line,
    }),
    undo: (_input, output) => {
      const line = Published.safeParse(output).data?.previous;
      return line === undefined ? undefined : { tool: 'publish_status', input: { line } };
    },
  },
  async ({ line }) => {
    const ledger = openLedger();
    const previous = (await ledger.statusLine()) ?? FIRST_LINE;
    await ledger.setStatusLine(line);
    return { published: line, previous };
  },
);
