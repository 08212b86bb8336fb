import { describe, expect, it } from 'vitest';
import { closeInterrupt, generate, ReplyError, restartInside } from '../../src/index.ts';
import { delegating, inner, transfer } from './nested-support.ts';
import { buildTools, call, calls, rejection, scripted, stored, waiting } from './support.ts';

describe('replies to inner interrupts are checked before an outer sibling runs:', () => {
  async function pause() {
    const kit = buildTools();
    const innerModel = await scripted(calls(call('i1', 'ask', { question: '?' }), transfer('i2', 5)));
    const delegate = delegating(async () => {
      return (await generate({ model: innerModel.model, tools: kit.tools, prompt: 'Inner' })).text;
    });
    const tools = [delegate, kit.transfer] as const;
    const { model } = await scripted(calls(call('c1', 'delegate'), transfer('c2', 1)));
    const paused = stored(await generate({ model, tools, prompt: 'Go' }));
    const outer = waiting(paused, 'c1');
    const good = {
      respond: [kit.ask.respond(inner(outer, 'i1'), { answer: 'So.' })],
      restart: [kit.transfer.restart(inner(outer, 'i2'))],
    };
    const sibling = kit.transfer.restart(waiting(paused, 'c2'));
    return { ...kit, model, tools, paused, outer, good, sibling };
  }
  type Paused = Awaited<ReturnType<typeof pause>>;

  const cases: [string, (paused: Paused) => Parameters<typeof restartInside>[1], object][] = [
    ['a missing one', ({ good }) => ({ respond: good.respond }), { code: 'missing-reply', ref: 'i2' }],
    ['none at all', () => ({}), { code: 'missing-reply', ref: 'i1' }],
    [
      'two for one call',
      ({ good }) => ({ ...good, restart: [...good.restart, ...good.restart] }),
      { code: 'repeated-reply', ref: 'i2' },
    ],
    [
      'one for a pause that is not there',
      ({ good, outer }) => ({ ...good, close: [closeInterrupt({ ...outer, id: 'p0' }, 'denied', '')] }),
      { code: 'unknown-request', ref: 'c1' },
    ],
    [
      'one for another tool',
      ({ good, outer }) => ({
        restart: good.restart,
        close: [
          closeInterrupt(
            { id: inner(outer, 'i1').id, toolRequest: { name: 'look', ref: 'i1', input: {} } },
            'denied',
            '',
          ),
        ],
      }),
      { code: 'wrong-tool', ref: 'i1' },
    ],
    ['a malformed one', () => JSON.parse('{"respond":[{}]}'), { code: 'malformed-reply', ref: 'c1' }],
  ];
  it.each(cases)('%s', async (_title, repliesOf, error) => {
    const paused = await pause();
    const restart = [restartInside(paused.outer, repliesOf(paused)), paused.sibling];
    const { model, tools } = paused;
    const { messages } = paused.paused;
    const refused = await rejection(generate({ model, tools, messages, resume: { restart } }));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject(error);
    expect(paused.ran).toEqual([]);
  });

  it('a plain restart that leaves them out', async () => {
    const { ran, model, tools, paused, outer, sibling } = await pause();
    const restart = [tools[0].restart(outer), sibling];
    const refused = await rejection(
      generate({ model, tools, messages: paused.messages, resume: { restart } }),
    );
    expect(refused).toMatchObject({ code: 'missing-reply', ref: 'i1' });
    expect(ran).toEqual([]);
  });
});
