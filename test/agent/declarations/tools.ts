/* A package of tools as an author exports them: its declarations are written, and the mistakes of mistakes.ts are made with it. */
import {
  type BotToolContext,
  defineInterrupt,
  defineTool,
  generate,
  scriptedModel,
  type ToolHelpers,
} from 'countersign';
import { z } from 'zod';

export const transferMoney = defineTool(
  {
    name: 'transferMoney',
    description: 'Transfers money.',
    inputSchema: z.object({ toAccountId: z.string(), amount: z.number() }),
    outputSchema: z.object({ status: z.string() }),
    resumedSchema: z.object({ status: z.enum(['APPROVED', 'REJECTED']) }),
    needsApproval: ({ amount }) => amount > 10_000,
    effect: 'idempotent',
    title: ({ amount }) => `Transfer ${amount}`,
    preview: async ({ toAccountId }, { read }) => ({
      before: String(await read('balance', {})),
      after: toAccountId,
    }),
    undo: ({ toAccountId }) => ({ tool: 'transferMoney', input: { toAccountId } }),
    reconcile: async () => 'unknown',
  },
  async ({ amount }, { resumed, interrupt }) => {
    if (resumed?.status !== 'APPROVED') return interrupt({ message: 'Please confirm.' });
    return { status: `sent ${amount}` };
  },
);
export const pickRoom = defineInterrupt({
  name: 'pickRoom',
  description: 'Asks for a room.',
  inputSchema: z.object({ choices: z.array(z.string()) }),
  outputSchema: z.enum(['Red', 'Blue']),
  requestMetadata: ({ choices }) => ({ count: choices.length }),
});
export const inBot = defineTool(
  { name: 'inBot', description: 'Files a ticket.', inputSchema: z.object({ title: z.string() }) },
  ({ title }, { context, file }: ToolHelpers<BotToolContext>) =>
    file({ name: title, data: context.requester }),
);
export const loose = defineTool(
  { name: 'loose', description: '', inputSchema: { type: 'object' } },
  (input) => input,
);
export const plain = defineTool({ name: 'plain', description: '' }, () => {});
export const tools = [transferMoney, pickRoom, inBot] as const;
export const byName = { transferMoney, pickRoom };
export const model = scriptedModel([{ call: 'pickRoom', input: { choices: ['Red'] } }, 'Done.']);
export const paused = await generate({ model, tools: byName, prompt: 'Go' });
export const start = (prompt: string) => generate({ model, tools, prompt });
export const replies = paused.interrupts
  .filter(pickRoom.matches)
  .map((interrupt) => pickRoom.respond(interrupt, 'Red'));
