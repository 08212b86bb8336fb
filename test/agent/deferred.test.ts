import { expect, test } from 'vitest';
import { z } from 'zod';
import type { Model } from '../../src/agent/model.ts';
import { defineTool, generate } from '../../src/index.ts';
import { stored } from './support.ts';

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };

/** A model that makes one call whose arguments are not complete, and then answers. */
function deferring(name: string): Model {
  let turn = 0;
  return {
    name: 'deferring',
    async reply() {
      turn += 1;
      const calls = [{ id: 'c1', name, arguments: '{"amount":"later"}', deferred: true as const }];
      return { finish: 'stop', text: turn === 1 ? '' : 'Done.', calls: turn === 1 ? calls : [], usage };
    },
  };
}

test('a call whose input is not complete pauses with it, and runs only with the input that replaces it', async () => {
  const ran: number[] = [];
  const pay = defineTool(
    { name: 'pay', description: 'Pays.', inputSchema: z.object({ amount: z.number() }) },
    ({ amount }, { interrupt, resumed }) => {
      if (resumed === undefined) return interrupt({});
      ran.push(amount);
      return {};
    },
  );
  const gated = {
    ...pay,
    admit: async (_: unknown, helpers: Parameters<typeof pay.run>[1]) => {
      if (helpers.resumed === undefined) return helpers.interrupt({ asked: true });
      return () => pay.run({ amount: 5 }, helpers);
    },
  };
  const model = deferring('pay');
  const paused = await generate({ model, tools: [gated], prompt: 'Go' });
  expect(paused.interrupts).toMatchObject([
    { toolRequest: { input: { amount: 'later' } }, metadata: { asked: true } },
  ]);
  const [waiting] = paused.interrupts;
  if (waiting === undefined) throw new Error('Nothing waits');
  const open = await generate({
    ...{ model, tools: [gated], messages: stored(paused.messages) },
    resume: { restart: [gated.restart(waiting, {})] },
  });
  expect(ran).toEqual([]);
  expect(JSON.stringify(open.messages)).toContain('Not run: its input is not complete');
  const whole = await generate({
    ...{ model, tools: [gated], messages: stored(paused.messages) },
    resume: { restart: [gated.restart(waiting, {}, { replaceInput: { amount: 5 } })] },
  });
  expect(ran).toEqual([5]);
  expect(whole.text).toBe('Done.');
});

test('a call whose input is not complete does not run where nothing asks for approval', async () => {
  const ran: unknown[] = [];
  const pay = defineTool(
    { name: 'pay', description: 'Pays.', inputSchema: z.object({ amount: z.number() }) },
    (input) => {
      ran.push(input);
      return {};
    },
  );
  const done = await generate({ model: deferring('pay'), tools: [pay], prompt: 'Go' });
  expect(ran).toEqual([]);
  expect(JSON.stringify(done.messages)).toContain('Not run: its input is not complete');
});
