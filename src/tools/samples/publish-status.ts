import { z } from 'zod';
import { defineTool } from '../../agent/tool.ts';

/** Pretends to publish a line on the status page: news that is worth nothing an hour later. A real one would call your page here. */
export const publishStatus = defineTool(
  {
    name: 'publish_status',
    description: 'Publishes one line on the public status page.',
    inputSchema: z.object({ line: z.string().min(1).max(280).describe('what customers read') }),
    outputSchema: z.object({ published: z.string() }),
  },
  async ({ line }) => ({ published: line }),
);
