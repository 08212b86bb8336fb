import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  closeInterrupt,
  defineTool,
  generate,
  interruptsInside,
  type Model,
  restartInside,
} from '../../src/index.ts';
import { ask, delegating, inner, transfer } from './nested-support.ts';
import {
  buildTools,
  call,
  calls,
  keptResults,
  says,
  scripted,
  sentResults,
  stored,
  waiting,
} from './support.ts';

describe('an interrupt inside a tool', () => {
  it('pauses the outer loop, and its reply reaches the inner one', async () => {
    const kit = buildTools();
    const innerModel = await scripted(ask('i1'), says('Inner done.'));
    const delegate = delegating(async () => {
      const { text } = await generate({ model: innerModel.model, tools: kit.tools, prompt: 'Inner' });
      return text;
    });
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Outer done.'));
    const paused = await generate({ model, tools: [delegate], prompt: 'Go' });
    expect(paused.finishReason).toBe('interrupted');
    const outer = waiting(stored(paused), 'c1');
    expect(interruptsInside(outer)).toMatchObject([{ toolRequest: { name: 'ask', ref: 'i1' } }]);
    const respond = [kit.ask.respond(inner(outer, 'i1'), { answer: 'So.' })];
    const done = await generate({
      model,
      tools: [delegate],
      messages: stored(paused.messages),
      resume: stored({ restart: [restartInside(outer, { respond })] }),
    });
    expect(done).toMatchObject({ finishReason: 'stop', text: 'Outer done.' });
    expect(sentResults(server)).toEqual([['c1', 'Inner done.']]);
    expect(sentResults(innerModel.server)).toEqual([['i1', '{"answer":"So."}']]);
  });

  it('leaves finished inner runs alone: they are not run twice', async () => {
    const kit = buildTools();
    const first = await scripted(calls(call('i1', 'look', { key: 'a' })), says('First.'));
    const second = await scripted(
      calls(transfer('i2', 5), call('i3', 'look', { key: 'b' })),
      says('Second.'),
    );
    const delegate = delegating(async () => {
      const { tools } = kit;
      const one = await generate({ model: first.model, tools, prompt: 'One' });
      const two = await generate({ model: second.model, tools, prompt: `Two after ${one.text}` });
      return `${one.text} ${two.text}`;
    });
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Done.'));
    const paused = await generate({ model, tools: [delegate], prompt: 'Go' });
    const outer = waiting(paused, 'c1');
    const restart = [kit.transfer.restart(inner(outer, 'i2'))];
    await generate({
      model,
      tools: [delegate],
      messages: stored(paused.messages),
      resume: { restart: [restartInside(outer, { restart })] },
    });
    expect(kit.ran).toEqual(['look a', 'look b', 'transfer 5']);
    expect(first.server.requests).toHaveLength(2);
    expect(sentResults(server)).toEqual([['c1', 'First. Second.']]);
  });

  it('may come from two inner runs side by side, and neither is lost', async () => {
    const kit = buildTools();
    const models = [
      await scripted(ask('i1'), says('A.')),
      await scripted(calls(transfer('i1', 5)), says('B.')),
    ];
    const delegate = delegating(async () => {
      const runs = models.map((each) => generate({ model: each.model, tools: kit.tools, prompt: 'Inner' }));
      return (await Promise.all(runs)).map(({ text }) => text).join(' ');
    });
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Done.'));
    const paused = await generate({ model, tools: [delegate], prompt: 'Go' });
    const outer = waiting(paused, 'c1');
    const [question, payment] = interruptsInside(outer);
    expect([question?.toolRequest.name, payment?.toolRequest.name]).toEqual(['ask', 'transfer']);
    const replies = {
      respond: question && [kit.ask.respond(question, { answer: 'So.' })],
      restart: payment && [kit.transfer.restart(payment)],
    };
    await generate({
      model,
      tools: [delegate],
      messages: stored(paused.messages),
      resume: stored({ restart: [restartInside(outer, replies)] }),
    });
    expect(kit.ran).toEqual(['transfer 5']);
    expect(sentResults(server)).toEqual([['c1', 'A. B.']]);
  });

  it('may pause the outer call again, which keeps what was done', async () => {
    const kit = buildTools();
    const innerModel = await scripted(ask('i1'), ask('i2'), says('Inner.'));
    const delegate = delegating(async () => {
      return (await generate({ model: innerModel.model, tools: kit.tools, prompt: 'Inner' })).text;
    });
    const tools = [delegate, kit.look] as const;
    const { model, server } = await scripted(
      calls(call('c1', 'delegate'), call('c2', 'look', { key: 'a' })),
      says('Done.'),
    );
    let response = await generate({ model, tools, prompt: 'Go' });
    for (const ref of ['i1', 'i2']) {
      const outer = waiting(response, 'c1');
      const respond = [kit.ask.respond(inner(outer, ref), { answer: ref })];
      response = await generate({
        model,
        tools,
        messages: stored(response.messages),
        resume: { restart: [restartInside(outer, { respond })] },
      });
    }
    expect(response.finishReason).toBe('stop');
    expect(sentResults(server)).toEqual([
      ['c1', 'Inner.'],
      ['c2', 'value of a'],
    ]);
  });

  it('can be closed, and the inner model is told', async () => {
    const kit = buildTools();
    const innerModel = await scripted(calls(transfer('i1', 5)), says('Inner.'));
    const delegate = delegating(async () => {
      return (await generate({ model: innerModel.model, tools: kit.tools, prompt: 'Inner' })).text;
    });
    const { model } = await scripted(calls(call('c1', 'delegate')), says('Done.'));
    const paused = await generate({ model, tools: [delegate], prompt: 'Go' });
    const outer = waiting(paused, 'c1');
    const close = [closeInterrupt(inner(outer, 'i1'), 'denied', 'No.')];
    const resume = { restart: [restartInside(outer, { close })] };
    await generate({ model, tools: [delegate], messages: stored(paused.messages), resume });
    expect(kit.ran).toEqual([]);
    expect(sentResults(innerModel.server)).toEqual([['i1', '{"status":"denied","reason":"No."}']]);
  });

  it('that the tool swallows makes the call fail rather than go on without an answer', async () => {
    const kit = buildTools();
    const innerModel = await scripted(ask('i1'));
    const delegate = delegating(async () => {
      await generate({ model: innerModel.model, tools: kit.tools, prompt: 'Inner' }).catch(() => undefined);
      return 'done anyway';
    });
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Done.'));
    await generate({ model, tools: [delegate], prompt: 'Go' });
    expect(sentResults(server)).toEqual([['c1', expect.stringContaining('generate() inside it had paused')]]);
  });
});

describe('an outer tool with an interrupt of its own', () => {
  const confirming = (innerModel: Model, kit: ReturnType<typeof buildTools>, order: 'before' | 'after') => {
    const seen: unknown[] = [];
    const delegate = delegating(async ({ resumed, interrupt }) => {
      seen.push(resumed);
      if (order === 'before' && resumed === undefined) interrupt({ confirm: 'start' });
      const { text } = await generate({ model: innerModel, tools: kit.tools, prompt: 'Inner' });
      if (order === 'after' && resumed === undefined) interrupt({ confirm: text });
      return [text, resumed];
    });
    return { delegate, seen };
  };

  it('after the inner run still asks: a reply to the inner one approves nothing else', async () => {
    const kit = buildTools();
    const innerModel = await scripted(ask('i1'), says('Plan.'));
    const { delegate, seen } = confirming(innerModel.model, kit, 'after');
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Done.'));
    const first = await generate({ model, tools: [delegate], prompt: 'Go' });
    const respond = [kit.ask.respond(inner(waiting(first, 'c1'), 'i1'), { answer: 'So.' })];
    const second = await generate({
      model,
      tools: [delegate],
      messages: stored(first.messages),
      resume: stored({ restart: [restartInside(waiting(first, 'c1'), { respond })] }),
    });
    expect(second.finishReason).toBe('interrupted');
    expect(waiting(second, 'c1').metadata).toEqual({ confirm: 'Plan.' });
    expect(interruptsInside(waiting(second, 'c1'))).toEqual([]);
    await generate({
      model,
      tools: [delegate],
      messages: stored(second.messages),
      resume: stored({ restart: [delegate.restart(waiting(second, 'c1'), { ok: true })] }),
    });
    expect(seen).toEqual([undefined, undefined, { ok: true }]);
    expect(sentResults(server)).toEqual([['c1', '["Plan.",{"ok":true}]']]);
    expect(innerModel.server.requests).toHaveLength(2);
  });

  it('before the inner run is not asked twice: the tool is told again what it was restarted with', async () => {
    const kit = buildTools();
    const innerModel = await scripted(ask('i1'), says('Plan.'));
    const { delegate } = confirming(innerModel.model, kit, 'before');
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Done.'));
    const first = await generate({ model, tools: [delegate], prompt: 'Go' });
    const second = await generate({
      model,
      tools: [delegate],
      messages: stored(first.messages),
      resume: { restart: [delegate.restart(waiting(first, 'c1'), { by: 'Ada' })] },
    });
    const outer = waiting(second, 'c1');
    const respond = [kit.ask.respond(inner(outer, 'i1'), { answer: 'So.' })];
    await generate({
      model,
      tools: [delegate],
      messages: stored(second.messages),
      resume: stored({ restart: [restartInside(outer, { respond })] }),
    });
    expect(sentResults(server)).toEqual([['c1', '["Plan.",{"by":"Ada"}]']]);
  });
});

describe('two levels down', () => {
  it('an interrupt pauses all the way up, and its reply goes all the way down', async () => {
    const kit = buildTools();
    const lowest = await scripted(calls(transfer('l1', 5)), says('Lowest.'));
    const middle = await scripted(calls(call('m1', 'delegate')), says('Middle.'));
    const low = delegating(async () => {
      return (await generate({ model: lowest.model, tools: kit.tools, prompt: 'Low' })).text;
    });
    const top = delegating(async () => {
      return (await generate({ model: middle.model, tools: [low], prompt: 'Middle' })).text;
    });
    const { model, server } = await scripted(calls(call('c1', 'delegate')), says('Top.'));
    const paused = stored(await generate({ model, tools: [top], prompt: 'Go' }));
    const outer = waiting(paused, 'c1');
    const between = inner(outer, 'm1');
    const restart = [kit.transfer.restart(inner(between, 'l1'), {}, { replaceInput: { amount: 4 } })];
    const down = restartInside(outer, { restart: [restartInside(between, { restart })] });
    const done = await generate({
      model,
      tools: [top],
      messages: paused.messages,
      resume: stored({ restart: [down] }),
    });
    expect(done.text).toBe('Top.');
    expect(kit.ran).toEqual(['transfer 4']);
    expect(sentResults(server)).toEqual([['c1', 'Middle.']]);
    expect(sentResults(middle.server)).toEqual([['m1', 'Lowest.']]);
  });
});

describe('a generate outside of any tool', () => {
  it('is not taken for a nested one, also while a tool runs elsewhere', async () => {
    const kit = buildTools();
    const slow = defineTool(
      { name: 'slow', description: 'Waits for the other loop.', inputSchema: z.object({}) },
      async () => {
        await started;
        return 'ok';
      },
    );
    const outerModel = await scripted(calls(call('c1', 'slow')), says('Done.'));
    const otherModel = await scripted(ask('o1'));
    const started = (async () => generate({ model: otherModel.model, tools: kit.tools, prompt: 'Other' }))();
    const done = await generate({ model: outerModel.model, tools: [slow], prompt: 'Go' });
    expect(done.finishReason).toBe('stop');
    expect(keptResults(done.messages)).toEqual({ c1: 'ok' });
    expect((await started).finishReason).toBe('interrupted');
  });
});
