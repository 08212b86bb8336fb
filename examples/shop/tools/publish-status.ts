import { defineTool } from 'countersign';
import { z } from 'zod';

/** Pretends to publish a line on the status page. A real tool would call your status page here. */
export const publishStatus = defineTool(
  {
    name: 'publish_status',
    description: 'Publishes one line on the public status page.',
    inputSchema: z.object({ line: z.string().min(1).max(280).describe('what customers read') }),
    outputSchema: z.object({ published: z.string() }),
  },
  async ({ line }) => ({ published: line }),
);
