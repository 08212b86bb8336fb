import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText, tool } from 'ai';
import {
  INSTRUCTIONS,
  isStreaming,
  openSide,
  REFUND_INPUT,
  REFUND_TOOL,
  refund,
  serveBatches,
} from './peer-side.mjs';

/* Vercel's AI SDK: a tool that needs approval; the messages are kept by hand as one JSON text. */
serveBatches((batch) => {
  const provider = createOpenAICompatible({ name: 'bench', apiKey: 'bench', baseURL: batch.modelUrl });
  const tools = {
    [REFUND_TOOL.name]: tool({
      description: REFUND_TOOL.description,
      inputSchema: REFUND_INPUT,
      needsApproval: true,
      execute: ({ order: number, amount }) => refund(number, amount),
    }),
  };
  const generateOnce = async (model, messages) => {
    const common = { system: INSTRUCTIONS, messages, tools, maxRetries: 0 };
    if (!isStreaming(batch)) {
      const { response, content } = await generateText({
        model: provider.chatModel(`${model}-whole`),
        ...common,
      });
      return { messages: [...messages, ...response.messages], content };
    }
    const result = streamText({ model: provider.chatModel(model), ...common });
    await result.consumeStream();
    const { messages: added } = await result.response;
    return { messages: [...messages, ...added], content: await result.content };
  };

  return openSide(batch, 'ai-sdk', {
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
      const { messages: all, content } = await generateOnce('caller', messages);
      const asked = content.find(({ type }) => type === 'tool-approval-request');
      if (asked === undefined) throw new Error('The AI SDK did not pause.');
      return { messages: all, approvalId: asked.approvalId };
    },
    async resume({ messages, approvalId }) {
      const approved = { type: 'tool-approval-response', approvalId, approved: true };
      const generated = await generateOnce('instant', [...messages, { role: 'tool', content: [approved] }]);
      if (!generated.content.some(({ type }) => type === 'text'))
        throw new Error('The AI SDK did not go on.');
      return { messages: generated.messages };
    },
  });
});
