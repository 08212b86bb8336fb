import { describe, expect, it } from 'vitest';
import { closeInterrupt, generate, settle } from '../../src/index.ts';
import { buildTools, calls, says, scripted, sentCalls, stored, transferCall, waiting } from './support.ts';

describe('replaceInput', () => {
  it('shows the model the input that ran, and keeps the original in the metadata', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model, server } = await scripted(calls(transferCall('c1', 500)), says('Done.'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const replaceInput = { amount: 50, currency: 'USD' };
    const restart = [transfer.restart(waiting(paused, 'c1'), {}, { replaceInput })];
    const done = await generate({
      model,
      tools,
      messages: stored(paused.messages),
      resume: stored({ restart }),
    });
    expect(ran).toEqual(['transfer 50']);
    expect(sentCalls(server)).toEqual([{ id: 'c1', name: 'transfer', input: replaceInput }]);
    const [result] = done.newMessages;
    expect(result).toMatchObject({
      content: [{ input: replaceInput, metadata: { replacedInput: { amount: 500, currency: 'EUR' } } }],
    });
  });

  it('keeps and shows the new input with its defaults and without unknown keys, as it ran', async () => {
    const { tools, transfer } = buildTools();
    const { model, server } = await scripted(calls(transferCall('c1', 500)), says('Done.'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const replaceInput = { amount: 50, bogus: 1 };
    const restart = [transfer.restart(waiting(paused, 'c1'), {}, { replaceInput })];
    await generate({ model, tools, messages: stored(paused.messages), resume: { restart } });
    expect(sentCalls(server)).toMatchObject([{ input: { amount: 50, currency: 'EUR' } }]);
    expect(sentCalls(server)[0]?.input).not.toHaveProperty('bogus');
  });

  it('holds for the next pause of the same call', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model, server } = await scripted(calls(transferCall('c1', 500)), says('Done.'));
    const first = await generate({ model, tools, prompt: 'Go' });
    const replaceInput = { amount: 50 };
    const again = [transfer.restart(waiting(first, 'c1'), { again: true }, { replaceInput })];
    const second = await settle({ tools, messages: stored(first.messages), resume: { restart: again } });
    expect(waiting(second, 'c1')).toMatchObject({
      toolRequest: { input: { amount: 50 } },
      metadata: { limit: 200, replacedInput: { amount: 500 } },
    });
    const restart = [transfer.restart(waiting(second, 'c1'))];
    const done = await generate({ model, tools, messages: stored(second.messages), resume: { restart } });
    expect(ran).toEqual(['transfer 50']);
    expect(sentCalls(server)).toMatchObject([{ input: { amount: 50 } }]);
    expect(done.newMessages[0]).toMatchObject({
      content: [{ metadata: { replacedInput: { amount: 500 } } }],
    });
  });

  it('shows the model the replaced input also when the call is then answered or closed', async () => {
    const { tools, transfer } = buildTools();
    const { model, server } = await scripted(
      calls(transferCall('c1', 500), transferCall('c2', 600)),
      says('Done.'),
    );
    const first = await generate({ model, tools, prompt: 'Go' });
    const again = [
      transfer.restart(waiting(first, 'c1'), { again: true }, { replaceInput: { amount: 50 } }),
      transfer.restart(waiting(first, 'c2'), { again: true }, { replaceInput: { amount: 60 } }),
    ];
    const second = await settle({ tools, messages: first.messages, resume: { restart: again } });
    const resume = {
      respond: [transfer.respond(waiting(second, 'c1'), { moved: 50 })],
      close: [closeInterrupt(waiting(second, 'c2'), 'denied', 'No.')],
    };
    await generate({ model, tools, messages: second.messages, resume });
    expect(sentCalls(server)).toMatchObject([{ input: { amount: 50 } }, { input: { amount: 60 } }]);
  });
});
