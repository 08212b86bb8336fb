import { describe, expect, it } from 'vitest';
import type { CompletionReply, ModelReply } from '../../playground/model/model-reply.ts';
import { closeInterrupt, DefinitionError, defineTool, generate } from '../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  rejection,
  says,
  scripted,
  sentResults,
  stored,
  waiting,
} from './support.ts';

const transferCall = (ref: string, amount = 5) => calls(call(ref, 'transfer', { amount }));
const lookCall = (ref: string) => calls(call(ref, 'look', { key: ref }));

describe('maxSteps', () => {
  it('counts over resumes, and what was approved still runs', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model, server } = await scripted(lookCall('c1'), transferCall('c2'), transferCall('c3'));
    const first = await generate({ model, tools, prompt: 'Go', maxSteps: 3 });
    const second = await generate({
      model,
      tools,
      maxSteps: 3,
      messages: stored(first.messages),
      resume: { restart: [transfer.restart(waiting(first, 'c2'))] },
    });
    expect(second.finishReason).toBe('interrupted');
    const third = await generate({
      model,
      tools,
      maxSteps: 3,
      messages: stored(second.messages),
      resume: { restart: [transfer.restart(waiting(second, 'c3'))] },
    });
    expect(third.finishReason).toBe('max-steps');
    expect(ran).toEqual(['look c1', 'transfer 5', 'transfer 5']);
    expect(server.requests).toHaveLength(3);
  });

  it('starts anew when a person speaks, with a valid history', async () => {
    const { tools } = buildTools();
    const { model, server } = await scripted(lookCall('c1'), says('Done.'));
    const ended = await generate({ model, tools, prompt: 'Go', maxSteps: 1 });
    expect(ended.finishReason).toBe('max-steps');
    const onward = await generate({
      model,
      tools,
      messages: stored(ended.messages),
      prompt: 'Go on',
      maxSteps: 1,
    });
    expect(onward).toMatchObject({ finishReason: 'stop', text: 'Done.' });
    expect(sentResults(server)).toEqual([['c1', 'value of c1']]);
  });

  it('has a default, so that a model that never ends is ended', async () => {
    const { ran, tools } = buildTools();
    const { model } = await scripted(...Array.from({ length: 20 }, (_, step) => lookCall(`c${step}`)));
    expect(await generate({ model, tools, prompt: 'Go' })).toMatchObject({ finishReason: 'max-steps' });
    expect(ran).toHaveLength(20);
  });

  it.each([0, -1, 1.5, Number.NaN])('refuses %d', async (maxSteps) => {
    const { model } = await scripted();
    const refused = await rejection(generate({ model, prompt: 'Go', maxSteps }));
    expect(refused).toBeInstanceOf(DefinitionError);
    expect(refused).toMatchObject({ code: 'invalid-option' });
  });
});

describe('a denied call', () => {
  const denials = {
    'by the tool': (
      { transfer }: ReturnType<typeof buildTools>,
      response: Parameters<typeof waiting>[0],
    ) => ({
      restart: [transfer.restart(waiting(response, 'c1'), { deny: true })],
    }),
    'by a person': (_kit: ReturnType<typeof buildTools>, response: Parameters<typeof waiting>[0]) => ({
      close: [closeInterrupt(waiting(response, 'c1'), 'denied', 'too much')],
    }),
  };

  async function denied(by: keyof typeof denials, ...onward: ModelReply[]) {
    const kit = buildTools();
    const { model, server } = await scripted(transferCall('c1'), ...onward);
    const paused = await generate({ model, tools: kit.tools, prompt: 'Go' });
    const resume = denials[by](kit, paused);
    const response = await generate({ model, tools: kit.tools, messages: stored(paused.messages), resume });
    return { ...kit, model, server, response };
  }

  it.each(['by the tool', 'by a person'] as const)(
    '%s and repeated unchanged is refused without asking',
    async (by) => {
      const { ran, response, server } = await denied(by, transferCall('c2'), transferCall('c3'), says('Oh.'));
      expect(response).toMatchObject({ finishReason: 'stop', interrupts: [] });
      expect(ran).toEqual([]);
      expect(sentResults(server).slice(1)).toEqual([
        ['c2', expect.stringMatching(/"status":"denied","reason":"too much \(this call was denied before/)],
        ['c3', expect.stringMatching(/"status":"denied","reason":"too much \(this call was denied before/)],
      ]);
    },
  );

  it('is the same call with its keys in another order, or its defaults spelt out', async () => {
    const { response } = await denied(
      'by a person',
      calls(
        call('c2', 'transfer', '{"currency":"EUR","amount":5}'),
        call('c3', 'transfer', '{ "amount": 5.0, "currency": "EUR" }'),
      ),
      says('Oh.'),
    );
    expect(response).toMatchObject({ finishReason: 'stop', interrupts: [] });
  });

  it('of a tool with a JSON Schema is the same call with its keys in another order, at any depth', async () => {
    const send = defineTool(
      {
        name: 'send',
        description: 'Sends once somebody agrees.',
        inputSchema: { type: 'object', properties: { to: { type: 'object' }, text: { type: 'string' } } },
      },
      (_input, { interrupt }) => interrupt(),
    );
    const { model } = await scripted(
      calls(call('c1', 'send', '{"text":"Hi","to":{"name":"Ada","team":"a"}}')),
      calls(call('c2', 'send', '{"to":{"team":"a","name":"Ada"},"text":"Hi"}')),
      says('Oh.'),
    );
    const paused = await generate({ model, tools: [send], prompt: 'Go' });
    const close = [closeInterrupt(waiting(paused, 'c1'), 'denied', 'No.')];
    const response = await generate({
      model,
      tools: [send],
      messages: stored(paused.messages),
      resume: { close },
    });
    expect(response).toMatchObject({ finishReason: 'stop', interrupts: [] });
  });

  it('is another call with another input', async () => {
    const { response } = await denied('by a person', transferCall('c2', 4));
    expect(response.interrupts).toMatchObject([{ toolRequest: { ref: 'c2' } }]);
  });

  it('is asked again once a person has spoken', async () => {
    const { response, model, tools } = await denied('by a person', says('Oh.'), transferCall('c2'));
    const asked = await generate({ model, tools, messages: stored(response.messages), prompt: 'Try again' });
    expect(asked.interrupts).toMatchObject([{ toolRequest: { ref: 'c2' } }]);
  });

  it('is remembered also when another input had been put in its place', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model } = await scripted(
      transferCall('c1', 500),
      transferCall('c2', 500),
      transferCall('c3', 50),
      says('Oh.'),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    const restart = [
      transfer.restart(waiting(paused, 'c1'), { deny: true }, { replaceInput: { amount: 50 } }),
    ];
    const response = await generate({ model, tools, messages: stored(paused.messages), resume: { restart } });
    expect(response).toMatchObject({ finishReason: 'stop', interrupts: [] });
    expect(ran).toEqual([]);
  });

  it('that merely expired is asked again', async () => {
    const { tools } = buildTools();
    const { model } = await scripted(transferCall('c1'), transferCall('c2'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const close = [closeInterrupt(waiting(paused, 'c1'), 'expired', 'Nobody came.')];
    const asked = await generate({ model, tools, messages: stored(paused.messages), resume: { close } });
    expect(asked.interrupts).toMatchObject([{ toolRequest: { ref: 'c2' } }]);
  });
});

describe('usage', () => {
  const used = (reply: CompletionReply, promptTokens: number, completionTokens: number): ModelReply => ({
    ...reply,
    usage: { promptTokens, completionTokens },
  });

  it('is summed over steps and resumes, and starts anew when a person speaks', async () => {
    const { tools, transfer } = buildTools();
    const { model } = await scripted(
      used(lookCall('c1'), 10, 1),
      used(transferCall('c2'), 20, 2),
      used(says('Done.'), 30, 3),
      used(says('Yes.'), 40, 4),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    expect(paused.usage).toEqual({ inputTokens: 30, outputTokens: 3, totalTokens: 33 });
    const done = await generate({
      model,
      tools,
      messages: stored(paused.messages),
      resume: { restart: [transfer.restart(waiting(paused, 'c2'))] },
    });
    expect(done.usage).toEqual({ inputTokens: 60, outputTokens: 6, totalTokens: 66 });
    const next = await generate({ model, tools, messages: stored(done.messages), prompt: 'Sure?' });
    expect(next.usage).toEqual({ inputTokens: 40, outputTokens: 4, totalTokens: 44 });
  });

  it('that a server reports only in part leaves a thread that can be read back', async () => {
    const chunk = (body: object) =>
      `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', ...body })}\n\n`;
    const { model } = await scripted(
      {
        chunksRaw: [
          chunk({ choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] }),
          chunk({ choices: [], usage: { prompt_tokens: 7, completion_tokens: null } }),
          'data: [DONE]\n\n',
        ],
      },
      used(says('Yes.'), 1, 1),
    );
    const response = await generate({ model, prompt: 'Go' });
    expect(response.usage).toEqual({ inputTokens: 7, outputTokens: 0, totalTokens: 7 });
    await generate({ model, messages: stored(response.messages), prompt: 'Sure?' });
  });
});
