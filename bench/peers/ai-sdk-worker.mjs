import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText, tool } from 'ai';
import { INPUT, isStreaming, NAME, openSide, refund, serve, WORDS } from './peer-worker.mjs';

/* Vercel's AI SDK: a tool that needs approval, and the messages as one JSON text by hand. */
serve((order) => {
  const provider = createOpenAICompatible({ name: 'bench', apiKey: 'bench', baseURL: order.modelUrl });
  const tools = {
    [NAME]: tool({
      description: WORDS.description,
      inputSchema: INPUT,
      needsApproval: true,
      execute: ({ order: number, amount }) => refund(number, amount),
    }),
  };
  const play = async (model, messages) => {
    const asked = { system: WORDS.system, messages, tools, maxRetries: 0 };
    if (!isStreaming(order)) {
      const { response, content } = await generateText({
        model: provider.chatModel(`${model}-whole`),
        ...asked,
      });
      return { messages: [...messages, ...response.messages], content };
    }
    const result = streamText({ model: provider.chatModel(model), ...asked });
    await result.consumeStream();
    const { messages: added } = await result.response;
    return { messages: [...messages, ...added], content: await result.content };
  };

  return openSide(order, 'ai-sdk', {
    toMessage: (text) => ({ role: 'user', content: text }),
    toHistory: ({ role, content: [part] }) => {
      if (part.toolRequest !== undefined) {
        const { ref: toolCallId, name: toolName, input } = part.toolRequest;
        return { role: 'assistant', content: [{ type: 'tool-call', toolCallId, toolName, input }] };
      }
      if (part.toolResponse !== undefined) {
        const { ref: toolCallId, name: toolName, output: value } = part.toolResponse;
        const output = { type: 'text', value };
        return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
      }
      return { role: role === 'model' ? 'assistant' : role, content: part.text };
    },
    async pause(messages) {
      const { messages: all, content } = await play('caller', messages);
      const asked = content.find(({ type }) => type === 'tool-approval-request');
      if (asked === undefined) throw new Error('The AI SDK did not pause.');
      return { messages: all, approvalId: asked.approvalId };
    },
    async resume({ messages, approvalId }) {
      const approved = { type: 'tool-approval-response', approvalId, approved: true };
      const played = await play('instant', [...messages, { role: 'tool', content: [approved] }]);
      if (!played.content.some(({ type }) => type === 'text')) throw new Error('The AI SDK did not go on.');
      return { messages: played.messages };
    },
  });
});
