import { describe, expect, it } from 'vitest';
import {
  defineInterrupt,
  generate,
  type Interrupt,
  type Message,
  ReplyError,
  type Resume,
  settle,
  type Tool,
} from '../../src/index.ts';
import { buildTools, call, calls, rejection, says, scripted, stored, waiting } from './support.ts';
import { cases, pause } from './wrong-replies.ts';

const [generating, settling] = [
  async (messages: readonly Message[], tools: readonly Tool[], resume: Resume) => {
    const { model } = await scripted();
    return generate({ model, tools, messages, resume });
  },
  (messages: readonly Message[], tools: readonly Tool[], resume: Resume) =>
    settle({ tools, messages, resume }),
];

describe.each([
  { by: 'generate', carryOut: generating },
  { by: 'settle', carryOut: settling },
])('$by refuses, before any tool runs, a reply', ({ carryOut }) => {
  it.each(cases)('$title', async ({ resume, error }) => {
    const paused = await pause();
    const refused = await rejection(carryOut(paused.messages, paused.tools, resume(paused)));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject(error);
    expect(paused.ran).toEqual([]);
  });

  it('of another thread, though its ref and tool are the same', async () => {
    const [mine, other] = [await pause(), await pause()];
    const resume = { ...mine.good, restart: [mine.transfer.restart(mine.first), other.good.restart[1]] };
    const refused = await rejection(carryOut(mine.messages, mine.tools, resume as Resume));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject({ code: 'stale-reply', tool: 'transfer', ref: 'c2', field: 'interruptId' });
    expect(mine.ran).toEqual([]);
  });

  it('for a tool that is not given', async () => {
    const { ran, good, messages, transfer, look } = await pause();
    const refused = await rejection(carryOut(messages, [transfer, look], good));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject({ code: 'unknown-tool', tool: 'ask', ref: 'c3', field: 'name' });
    expect(ran).toEqual([]);
  });

  it('for a call of this round that has its result', async () => {
    const { ran, good, messages, tools } = await pause();
    const settled = await settle({ tools, messages, resume: { restart: good.restart.slice(0, 1) } });
    const refused = await rejection(carryOut(settled.messages, tools, good));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject({ code: 'already-settled', tool: 'transfer', ref: 'c1' });
    expect(ran).toEqual(['transfer 1']);
  });

  it('for a call of an earlier round', async () => {
    const { ran, good, messages, tools, transfer } = await pause();
    const { model } = await scripted(calls(call('c4', 'transfer', { amount: 4 })));
    const next = await generate({ model, tools, messages, resume: good });
    ran.length = 0;
    const restart = [transfer.restart(waiting(next, 'c4')), ...good.restart];
    const refused = await rejection(carryOut(stored(next.messages), tools, { restart }));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject({ code: 'already-settled', tool: 'transfer', ref: 'c1' });
    expect(ran).toEqual([]);
  });

  it('for an earlier pause of a call that has paused again', async () => {
    const { ran, good, first, messages, tools, transfer } = await pause();
    const again = { restart: [transfer.restart(first, { again: true })] };
    const repeated = await settle({ tools, messages, resume: again });
    const refused = await rejection(carryOut(stored(repeated.messages), tools, good));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject({ code: 'stale-reply', tool: 'transfer', ref: 'c1', field: 'interruptId' });
    expect(ran).toEqual([]);
  });
});

describe('generate', () => {
  it('insists on a reply for everything that waits, before any tool runs', async () => {
    const { ran, good, messages, tools } = await pause();
    for (const resume of [
      { restart: good.restart },
      { ...good, restart: good.restart.slice(1) },
      {},
      undefined,
    ]) {
      const { model } = await scripted();
      const refused = await rejection(generate({ model, tools, messages, resume }));
      expect(refused).toBeInstanceOf(ReplyError);
      expect(refused).toMatchObject({ code: 'missing-reply', ref: expect.stringMatching(/^c[13]$/) });
    }
    expect(ran).toEqual([]);
  });

  it('takes the good replies of which the refused ones were made', async () => {
    const { ran, good, messages, tools } = await pause();
    const { model } = await scripted(says('Done.'));
    const response = await generate({ model, tools, messages, resume: stored(good) });
    expect(response.finishReason).toBe('stop');
    expect(ran).toEqual(['transfer 1', 'transfer 2']);
  });

  it('refuses a reply in a thread where nothing waits', async () => {
    const { good, tools } = await pause();
    const { model } = await scripted();
    const refused = await rejection(
      generate({ model, tools, prompt: 'Hi', resume: { respond: good.respond } }),
    );
    expect(refused).toMatchObject({ code: 'unknown-request', tool: 'ask', ref: 'c3' });
  });
});

describe('a reply is refused where it is made', () => {
  const interrupt: Interrupt = {
    id: 'p1',
    toolRequest: { name: 'transfer', ref: 'c1', input: { amount: 1 } },
  };
  const { transfer, ask } = buildTools();
  const make: [title: string, error: object, make: () => unknown][] = [
    [
      'when it is for another tool',
      { code: 'wrong-tool', tool: 'ask', ref: 'c1', field: 'name' },
      () => ask.respond(interrupt, { answer: 'Yes' }),
    ],
    [
      'when its output does not fit',
      { code: 'invalid-output', tool: 'transfer', ref: 'c1', field: 'moved' },
      () => transfer.respond(interrupt, JSON.parse('{"moved":"all"}')),
    ],
    [
      'when its new input does not fit',
      { code: 'invalid-input', tool: 'transfer', ref: 'c1', field: 'amount' },
      () => transfer.restart(interrupt, {}, { replaceInput: JSON.parse('{"amount":"all"}') }),
    ],
    [
      'when its metadata is no object',
      { code: 'invalid-metadata', tool: 'transfer', ref: 'c1', field: 'metadata' },
      () => transfer.restart(interrupt, JSON.parse('["yes"]')),
    ],
  ];
  it.each(make)('%s', (_title, error, makeReply) => {
    expect(makeReply).toThrow(ReplyError);
    expect(makeReply).toThrow(expect.objectContaining(error));
  });

  it('but an interrupt of a tool with the same name is its own, whoever made it', () => {
    const same = defineInterrupt({ name: 'transfer', description: 'Asks.' });
    expect(same.respond(interrupt, 1)).toMatchObject({ toolResponse: { ref: 'c1', output: 1 } });
  });
});
