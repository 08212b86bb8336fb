import { describe, expect, it } from 'vitest';
import {
  defineTool,
  generate,
  interruptsInside,
  openAIModel,
  parseMessage,
  restartInside,
  settle,
} from '../../src/index.ts';
import { fixture, second } from './message-samples.ts';
import { buildTools, says, scripted, sentCalls, sentResults, waiting } from './support.ts';

describe('a thread that was stored in version 2', () => {
  it('reads back as it was', () => {
    expect(second.map((message, index) => parseMessage(message, index))).toEqual(second);
  });

  it.each([
    ['the origin of the data', 'gpt-6-luna', true],
    ['another model', 'gpt-6.1-terra', false],
  ])('resumes at %s, which gets its reasoning back only if it wrote it', async (_title, name, isOrigin) => {
    const { server } = await scripted(says('Paid.'));
    const bodies: string[] = [];
    const model = openAIModel({
      model: name,
      apiKey: 'test',
      fetch: (_input, init) => {
        bodies.push(String(init?.body));
        const body = bodies[0]?.replace(/\{"type":"reasoning".*?\},/, '') ?? '';
        return fetch(`${server.url}/responses`, { ...init, body });
      },
    });
    const { tools, transfer } = buildTools();
    const { interrupts } = await settle({ tools, messages: second, resume: {} });
    const restart = [transfer.restart(waiting({ interrupts }, 'call-2'))];
    const done = await generate({ model, tools, messages: second, resume: { restart } });
    expect(done.text).toBe('Paid.');
    expect(bodies[0]?.includes('gAAAAB')).toBe(isOrigin);
    expect(bodies[0]?.includes('"id":"fc_1"')).toBe(isOrigin);
    expect(bodies[0]).toContain('"instructions":"Be short."');
  });
});

describe('a thread that was stored in version 1', () => {
  it('reads back as it was', () => {
    expect(fixture.map((message, index) => parseMessage(message, index))).toEqual(fixture);
  });

  it('resumes: what waited runs once, what was done stays done, and the model is told of all of it', async () => {
    const kit = buildTools();
    const inner = await scripted(says('Red ones.'));
    const texts: unknown[] = [];
    const delegate = defineTool(
      { name: 'delegate', description: 'Delegates.' },
      async (_input, { resumed }) => {
        const { model } = inner;
        const address = await generate({ model, tools: kit.tools, prompt: 'Find the address.' });
        const flowers = await generate({ model, tools: kit.tools, prompt: 'Order flowers.' });
        texts.push(address.text, flowers.text, resumed);
        return flowers.text;
      },
    );
    const tools = [...kit.tools, delegate] as const;
    const { interrupts } = await settle({ tools, messages: fixture, resume: {} });
    expect(interrupts.map(({ id }) => id)).toEqual(['pause-7b', 'pause-8b']);
    const nested = waiting({ interrupts }, 'call-8');
    const question = waiting({ interrupts: interruptsInside(nested) }, 'inner-2');

    const { model, server } = await scripted(says('All done.'));
    const done = await generate({
      model,
      tools,
      messages: fixture,
      resume: {
        restart: [
          kit.transfer.restart(waiting({ interrupts }, 'call-7')),
          restartInside(nested, { respond: [kit.ask.respond(question, { answer: 'Red.' })] }),
        ],
      },
    });
    expect(done).toMatchObject({ finishReason: 'stop', text: 'All done.' });
    expect(kit.ran).toEqual(['transfer 400']);
    expect(texts).toEqual(['12 Elm Street.', 'Red ones.', { by: 'U1' }]);
    expect(sentResults(inner.server)).toEqual([
      ['inner-1', 'value of florist'],
      ['inner-2', '{"answer":"Red."}'],
    ]);
    expect(sentResults(server)).toEqual([
      ['call-1', '{"moved":50}'],
      ['call-2', '0'],
      ['call-3', '{"status":"denied","reason":"Not this one."}'],
      ['call-4', '{"status":"error","message":"No such key"}'],
      ['call-5', '{"status":"expired","reason":"Nobody came."}'],
      ['call-6', ''],
      ['call-7', '{"moved":400}'],
      ['call-8', 'Red ones.'],
    ]);
    expect(sentCalls(server).map(({ input }) => input)).toMatchObject([
      { amount: 50 },
      { key: 'balance' },
      { amount: 9 },
      { key: 'debts' },
      { amount: 7 },
      { key: 'garden' },
      { amount: 400 },
      {},
    ]);
  });
});
