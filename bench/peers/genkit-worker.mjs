import { openAICompatible } from '@genkit-ai/compat-oai';
import { genkit, z } from 'genkit/beta';
import { INSTRUCTIONS, isStreaming, openSide, REFUND_TOOL, refund, serveBatches } from './peer-side.mjs';

/* Genkit: a tool that interrupts and is restarted; the messages are kept by hand as one JSON text. */
serveBatches((batch) => {
  const ai = genkit({
    plugins: [openAICompatible({ name: 'bench', apiKey: 'bench', baseURL: batch.modelUrl })],
  });
  const tool = ai.defineTool(
    {
      name: REFUND_TOOL.name,
      description: REFUND_TOOL.description,
      // Genkit has its own, older zod.
      inputSchema: z.object({
        order: z.string().describe(REFUND_TOOL.order),
        amount: z.number().int().positive().describe(REFUND_TOOL.amount),
        reason: z.string().describe(REFUND_TOOL.reason),
      }),
      outputSchema: z.object({ refunded: z.number(), order: z.string() }),
    },
    async (input, { interrupt, resumed }) => {
      if (resumed === undefined) interrupt();
      return refund(input.order, input.amount);
    },
  );
  const generateOnce = async (model, messages, resume) =>
    await ai.generate({
      model: isStreaming(batch) ? `bench/${model}` : `bench/${model}-whole`,
      messages,
      tools: [tool],
      // A listener makes Genkit stream.
      ...(isStreaming(batch) && { onChunk: () => {} }),
      ...(resume !== undefined && { resume }),
    });

  return openSide(batch, 'genkit', {
    before: [{ role: 'system', content: [{ text: INSTRUCTIONS }] }],
    toMessage: (text) => ({ role: 'user', content: [{ text }] }),
    toHistory: ({ role, content: [part] }) => {
      const { text, toolRequest, toolResponse } = part;
      return { role, content: [JSON.parse(JSON.stringify({ text, toolRequest, toolResponse }))] };
    },
    async pause(messages) {
      const response = await generateOnce('caller', messages);
      if (response.interrupts.length !== 1) throw new Error('Genkit did not pause.');
      return { messages: response.messages };
    },
    async resume({ messages }) {
      const interrupt = messages.at(-1).content.find((part) => part.metadata?.interrupt !== undefined);
      const response = await generateOnce('instant', messages, {
        restart: [tool.restart(interrupt, { approved: true })],
      });
      if (response.text === '') throw new Error('Genkit did not go on.');
      return { messages: response.messages };
    },
  });
});
