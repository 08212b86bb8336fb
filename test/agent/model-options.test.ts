import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { MAX_MEDIA_BYTES } from '../../src/agent/messages.ts';
import {
  DefinitionError,
  defineInterrupt,
  defineTool,
  generate,
  type ModelConfig,
  type ToolFailure,
  userMessage,
} from '../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  clientOf,
  doing,
  keptResults,
  rejection,
  says,
  scripted,
  stored,
} from './support.ts';

const APIS = ['responses', 'chat'] as const;

async function asking(api: (typeof APIS)[number], ...script: ModelReply[]) {
  const { server } = await scripted(...script);
  return { server, model: clientOf(server, { api }), sent: () => server.bodies.at(-1)?.body };
}

describe.each(APIS)('with %s', (api) => {
  it('the parameters of a model reach it under its own names', async () => {
    const config: ModelConfig = {
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 200,
      reasoningEffort: 'low',
      verbosity: 'high',
      parallelToolCalls: false,
      serviceTier: 'flex',
    };
    const { model, sent } = await asking(api, says('Hi.'));
    await generate({ model, tools: buildTools().tools, config, prompt: 'Go' });
    const shared = { temperature: 0.5, top_p: 0.9, parallel_tool_calls: false, service_tier: 'flex' };
    expect(sent()).toMatchObject(
      api === 'chat'
        ? { ...shared, max_completion_tokens: 200, reasoning_effort: 'low', verbosity: 'high' }
        : { ...shared, max_output_tokens: 200, reasoning: { effort: 'low' }, text: { verbosity: 'high' } },
    );
  });

  it('nothing is sent that nobody asked for', async () => {
    const { model, sent } = await asking(api, says('Hi.'));
    await generate({ model, prompt: 'Go' });
    const keys =
      api === 'chat' ? ['messages', 'stream_options'] : ['include', 'input', 'prompt_cache_key', 'store'];
    expect(Object.keys(sent() ?? {}).sort()).toEqual([...keys, 'model', 'stream'].sort());
  });

  it('a tool that must be called is demanded once', async () => {
    const { model, server, sent } = await asking(api, calls(call('c1', 'look', { key: 'a' })), says('Hi.'));
    await generate({ model, tools: buildTools().tools, toolChoice: { tool: 'look' }, prompt: 'Go' });
    const named = api === 'chat' ? { function: { name: 'look' } } : { name: 'look' };
    expect(server.bodies[0]?.body).toMatchObject({ tool_choice: { type: 'function', ...named } });
    expect(sent()).not.toHaveProperty('tool_choice');
  });

  it('the answer fits the output schema, and is given back as data', async () => {
    const { model, sent } = await asking(api, says('{"total":12,"items":["a"]}'));
    const outputSchema = z.object({ total: z.number(), items: z.array(z.string()) });
    const response = await generate({ model, outputSchema, prompt: 'Count' });
    expectTypeOf(response.output).toEqualTypeOf<{ total: number; items: string[] } | undefined>();
    expect(response).toMatchObject({ finishReason: 'stop', output: { total: 12, items: ['a'] } });
    const schema = { type: 'object', additionalProperties: false, required: ['total', 'items'] };
    expect(sent()).toMatchObject(
      api === 'chat'
        ? { response_format: { type: 'json_schema', json_schema: { strict: true, schema } } }
        : { text: { format: { type: 'json_schema', strict: true, schema } } },
    );
  });

  it('a schema with optional fields is not enforced by the provider but checked here', async () => {
    const { model, sent } = await asking(api, says('{"total":"many"}'));
    const outputSchema = z.object({ total: z.number(), note: z.string().optional() });
    const response = await generate({ model, outputSchema, prompt: 'Count' });
    expect(response).toMatchObject({ finishReason: 'invalid-output', output: undefined });
    expect(JSON.stringify(sent())).toContain('"strict":false');
  });

  it('an image of a tool is shown to the model, and one that is too large is left out', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const kept: boolean[] = [];
    const chart = doing('chart', ({ attach }) => {
      kept.push(attach({ url, contentType: 'image/png' }), attach({ url: 'x'.repeat(MAX_MEDIA_BYTES + 1) }));
      return 'a chart';
    });
    const { model, sent } = await asking(api, calls(call('c1', 'chart')), says('Nice.'));
    const { messages } = await generate({ model, tools: [chart], prompt: 'Draw' });
    expect(kept).toEqual([true, false]);
    expect(keptResults(messages)).toEqual({ c1: 'a chart' });
    expect(JSON.stringify(sent())).toContain(url);
    expect(JSON.stringify(sent())).not.toContain('xxx');
  });

  it('an image of a person is shown to the model', async () => {
    const url = 'data:image/png;base64,iVBORw0KGgo=';
    const { model, sent } = await asking(api, says('A dot.'));
    const messages = stored([userMessage('What is this?', undefined, { media: [{ url }] })]);
    expect((await generate({ model, messages })).text).toBe('A dot.');
    expect(JSON.stringify(sent())).toContain(url);
  });

  it('a history that is too long is trimmed and sent once more', async () => {
    const tooLong: ModelReply = {
      status: 400,
      body: {
        error: {
          message: 'Too long.',
          type: 'invalid_request_error',
          param: 'input',
          code: 'context_length_exceeded',
        },
      },
    };
    const { model, server } = await asking(api, says('One.'), tooLong, says('Two.'), tooLong, tooLong);
    const { messages } = await generate({ model, prompt: 'A long story. '.repeat(50) });
    const second = await generate({ model, messages, prompt: 'And?' });
    expect(second.text).toBe('Two.');
    const sent = server.requests.map((request) => JSON.stringify(request.messages));
    expect(sent[1]).toContain('A long story');
    expect(sent[2]).not.toContain('A long story');
    expect(sent[2]).toContain('left out');
    const third = await generate({ model, messages: second.messages, prompt: 'And now?' });
    expect(third).toMatchObject({ finishReason: 'model-error', error: { code: 'context-too-long' } });
  });
});

describe('the system text', () => {
  const { tools, ask } = buildTools();
  const question = calls(call('c1', 'ask', { question: 'Why?' }));

  it('holds on a resume that does not repeat it, also after it was kept as JSON', async () => {
    const { model, server } = await scripted(question, says('Done.'));
    const paused = stored(await generate({ model, tools, system: 'Be short.', prompt: 'Go' }));
    const respond = paused.interrupts.map((one) => ask.respond(one, { answer: 'So.' }));
    await generate({ model, tools, messages: paused.messages, resume: { respond } });
    expect(server.requests[1]?.messages[0]).toEqual({ role: 'system', content: 'Be short.' });
  });

  it('gives way to one that is given', async () => {
    const { model, server } = await scripted(says('One.'), says('Two.'), says('Three.'));
    const one = await generate({ model, system: 'Be short.', prompt: 'Go' });
    const two = await generate({ model, system: 'Be long.', messages: one.messages, prompt: 'Go on' });
    await generate({ model, messages: two.messages, prompt: 'And?' });
    expect(server.requests.map(({ messages }) => messages[0]?.content)).toEqual([
      'Be short.',
      'Be long.',
      'Be long.',
    ]);
  });
});

describe('a tool with a time limit', () => {
  const slow = (seen: AbortSignal[]) =>
    defineTool({ name: 'slow', description: 'Is slow.', timeoutMs: 20 }, (_input, { signal }) => {
      seen.push(signal);
      return new Promise<never>(() => {});
    });

  it('ends after it with an unknown outcome, and its signal fires', async () => {
    const seen: AbortSignal[] = [];
    const failures: ToolFailure[] = [];
    const { model } = await scripted(calls(call('c1', 'slow')), says('Hm.'));
    const onToolError = (failure: ToolFailure) => failures.push(failure);
    const { messages, finishReason } = await generate({
      model,
      tools: [slow(seen)],
      prompt: 'Go',
      onToolError,
    });
    expect(finishReason).toBe('stop');
    expect(seen[0]?.aborted).toBe(true);
    expect(failures.map(({ isUnknown }) => isUnknown)).toEqual([true]);
    expect(keptResults(messages)).toMatchObject({
      c1: { status: 'error', message: expect.stringContaining('may or may not') },
    });
  });

  it('is not limited by it when it is quick', async () => {
    const quick = defineTool({ name: 'quick', description: 'Is quick.', timeoutMs: 5_000 }, () => 'here');
    const { model } = await scripted(calls(call('c1', 'quick')), says('Fine.'));
    const { messages } = await generate({ model, tools: [quick], prompt: 'Go' });
    expect(keptResults(messages)).toEqual({ c1: 'here' });
  });
});

describe('the metadata of an interrupt', () => {
  const inputSchema = z.object({ question: z.string() });
  it.each([
    ['is the given one', { urgent: true }, { urgent: true }],
    [
      'is computed from the input',
      ({ question }: { question: string }) => ({ length: question.length }),
      { length: 4 },
    ],
  ])('%s', async (_title, requestMetadata, expected) => {
    const ask = defineInterrupt({ name: 'ask', description: 'Asks.', inputSchema, requestMetadata });
    const { model } = await scripted(calls(call('c1', 'ask', { question: 'Why?' })));
    const { interrupts } = await generate({ model, tools: [ask], prompt: 'Go' });
    expect(interrupts[0]?.metadata).toEqual(expected);
  });

  it('that cannot be computed is an error of the call', async () => {
    const requestMetadata = () => {
      throw new Error('no idea');
    };
    const ask = defineInterrupt({ name: 'ask', description: 'Asks.', inputSchema, requestMetadata });
    const { model } = await scripted(calls(call('c1', 'ask', { question: 'Why?' })), says('Oh.'));
    const { messages } = await generate({ model, tools: [ask], prompt: 'Go' });
    expect(keptResults(messages)).toMatchObject({ c1: { status: 'error', message: 'no idea' } });
  });
});

describe('what cannot work is refused at once:', () => {
  it('a tool without a function', () => {
    const missing: () => string = JSON.parse('null');
    expect(() => defineTool({ name: 'nothing', description: 'Does nothing.' }, missing)).toThrow(
      DefinitionError,
    );
  });

  it('a tool with no time at all', () => {
    expect(() => defineTool({ name: 'a', description: '', timeoutMs: 0 }, () => 1)).toThrow(DefinitionError);
  });

  it('messages that are a text', async () => {
    const { model } = await scripted();
    const options = { model, messages: JSON.parse('"Hi"') };
    expect(await rejection(generate(options))).toBeInstanceOf(DefinitionError);
  });

  it('an image of a person that is too large', () => {
    const media = [{ url: 'x'.repeat(MAX_MEDIA_BYTES + 1) }];
    expect(() => userMessage('Look', undefined, { media })).toThrow(RangeError);
  });
});

it('the text of a model that does not stream is reported whole, and that of one that does is not repeated', async () => {
  const texts = async (isStreaming: boolean): Promise<string[]> => {
    const told: string[] = [];
    await generate({
      model: {
        name: 'own',
        async reply({ onText }) {
          if (isStreaming) for (const part of ['All ', 'done.']) onText?.(part);
          return { finish: 'stop', text: 'All done.', calls: [], usage: undefined };
        },
      },
      prompt: 'Go',
      onText: (delta) => void told.push(delta),
    });
    return told;
  };
  expect(await texts(false)).toEqual(['All done.']);
  expect(await texts(true)).toEqual(['All ', 'done.']);
});
