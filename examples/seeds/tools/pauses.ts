import { defineInterrupt, defineTool } from 'countersign';
import { z } from 'zod';

/** A tool that only asks: its answer is its output. */
export const pickRoom = defineInterrupt({
  name: 'pick_room',
  description: 'Asks the person which meeting room they want.',
  inputSchema: z.object({
    question: z.string().describe('what to ask'),
    choices: z.array(z.string()).describe('the rooms that are free'),
    allowOther: z.boolean().optional().describe('when true, another room may be named'),
  }),
  outputSchema: z.string(),
});

/** A tool that asks in the middle for a yes or a no. */
export const transferMoney = defineTool(
  {
    name: 'transfer_money',
    description: 'Transfers money to an account.',
    inputSchema: z.object({ toAccountId: z.string(), amount: z.number().describe('in cents (100 = $1.00)') }),
    outputSchema: z.object({ status: z.string() }),
    resumedSchema: z.object({ status: z.enum(['APPROVED', 'REJECTED']) }),
    title: ({ toAccountId, amount }) => `Transfer $${(amount / 100).toFixed(2)} to ${toAccountId}`,
  },
  async ({ toAccountId, amount }, { interrupt, resumed }) => {
    if (resumed?.status !== 'APPROVED' && amount > 10_000) return interrupt({ message: 'Please confirm.' });
    return { status: `sent ${amount} cents to ${toAccountId}` };
  },
);

const Rooms = z.object({ room: z.string().optional(), status: z.enum(['APPROVED', 'REJECTED']).optional() });

/** A tool that asks twice: for a room, then for a yes to its price. */
export const bookRoom = defineTool(
  {
    name: 'book_room',
    description: 'Books a meeting room for an hour.',
    inputSchema: z.object({ people: z.number().int().positive() }),
    outputSchema: z.object({ booked: z.string() }),
    resumedSchema: Rooms,
  },
  async ({ people }, { interrupt, resumed }) => {
    if (resumed?.room === undefined)
      return interrupt({
        message: `Which room for ${people} people?`,
        choices: ['Red', 'Blue'].map((room) => ({ label: `${room} room`, resumed: { room } })),
      });
    if (resumed.status !== 'APPROVED')
      return interrupt({ message: `The ${resumed.room} room costs $40. Book it?` });
    return { booked: resumed.room };
  },
);

/** A tool that needs details which its caller does not have. */
export const orderBadge = defineTool(
  {
    name: 'order_badge',
    description: 'Orders a badge for a visitor.',
    inputSchema: z.object({ visitor: z.string() }),
    outputSchema: z.object({ ordered: z.string() }),
  },
  async ({ visitor }, { interrupt, resumed }) => {
    if (resumed === undefined)
      return interrupt({
        message: `Which badge does ${visitor} need?`,
        form: z.object({ company: z.string(), day: z.iso.date() }),
      });
    return { ordered: `${visitor} of ${String(resumed.company)}, on ${String(resumed.day)}` };
  },
);

/** A tool that waits for another system. */
export const runBuild = defineTool(
  {
    name: 'run_build',
    description: 'Builds a service elsewhere and waits for the result.',
    inputSchema: z.object({ service: z.string() }),
    outputSchema: z.object({ build: z.string() }),
    effect: 'idempotent',
  },
  async ({ service }, { interrupt, resumed }) => {
    if (resumed === undefined)
      return interrupt({
        message: `The build of ${service}`,
        callback: { result: z.object({ build: z.string() }), link: 'https://ci.example.com/builds/7' },
      });
    return { build: String(resumed.build) };
  },
);
