import { appendFile } from 'node:fs/promises';
import { defineTool, notDone } from 'countersign';
import { z } from 'zod';

/** Opens a ticket: a line in tickets.jsonl. Call a system of your own here instead. */
export const openTicket = defineTool(
  {
    name: 'open_ticket',
    description: 'Opens a ticket and returns its number.',
    inputSchema: z.object({ title: z.string().min(1).max(200) }),
    outputSchema: z.object({ ticket: z.string() }),
  },
  async ({ title }, { context }) => {
    // By notDone a tool says that it did nothing. After any other error nobody knows, and people are asked.
    if (title.trim() === '') throw notDone('A ticket needs a title');
    const ticket = `T-${Date.now()}`;
    const line = JSON.stringify({ ticket, title, requester: context.requester });
    await appendFile('tickets.jsonl', `${line}\n`);
    return { ticket };
  },
);
