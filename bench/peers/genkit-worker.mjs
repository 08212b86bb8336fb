import { openAICompatible } from '@genkit-ai/compat-oai';
import { genkit, z } from 'genkit/beta';
import { isStreaming, NAME, openSide, refund, serve, WORDS } from './peer-worker.mjs';

/* Genkit: a tool that interrupts and is restarted, and the messages as one JSON text by hand. */
serve((order) => {
  const ai = genkit({
    plugins: [openAICompatible({ name: 'bench', apiKey: 'bench', baseURL: order.modelUrl })],
  });
  const tool = ai.defineTool(
    {
      name: NAME,
      description: WORDS.description,
      // Genkit brings a zod of its own, of an older kind.
      inputSchema: z.object({
        order: z.string().describe(WORDS.order),
        amount: z.number().int().positive().describe(WORDS.amount),
        reason: z.string().describe(WORDS.reason),
      }),
      outputSchema: z.object({ refunded: z.number(), order: z.string() }),
    },
    async (input, { interrupt, resumed }) => {
      if (resumed === undefined) interrupt();
      return refund(input.order, input.amount);
    },
  );
  const play = async (model, messages, resume) =>
    await ai.generate({
      model: isStreaming(order) ? `bench/${model}` : `bench/${model}-whole`,
      messages,
      tools: [tool],
      // Whoever listens is streamed to.
      ...(isStreaming(order) && { onChunk: () => {} }),
      ...(resume !== undefined && { resume }),
    });

  return openSide(order, 'genkit', {
    before: [{ role: 'system', content: [{ text: WORDS.system }] }],
    toMessage: (text) => ({ role: 'user', content: [{ text }] }),
    toHistory: ({ role, content: [part] }) => {
      const { text, toolRequest, toolResponse } = part;
      return { role, content: [JSON.parse(JSON.stringify({ text, toolRequest, toolResponse }))] };
    },
    async pause(messages) {
      const response = await play('caller', messages);
      if (response.interrupts.length !== 1) throw new Error('Genkit did not pause.');
      return { messages: response.messages };
    },
    async resume({ messages }) {
      const interrupt = messages.at(-1).content.find((part) => part.metadata?.interrupt !== undefined);
      const response = await play('instant', messages, {
        restart: [tool.restart(interrupt, { approved: true })],
      });
      if (response.text === '') throw new Error('Genkit did not go on.');
      return { messages: response.messages };
    },
  });
});
