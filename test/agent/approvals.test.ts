import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  approve,
  closeInterrupt,
  DefinitionError,
  defineTool,
  generate,
  type Interrupt,
  interruptsIn,
  type Replies,
  ReplyError,
  reject,
  type ScriptedReply,
  scriptedModel,
  settle,
} from '../../src/index.ts';
import { buildTools, keptResults, rejection, stored, waiting } from './support.ts';

/** Defines a payment that needs approval from 100 on, and may ask for a purpose of its own. */
function definePay() {
  const ran: unknown[] = [];
  const judged: number[] = [];
  const pay = defineTool(
    {
      name: 'pay',
      description: 'Pays.',
      inputSchema: z.object({ amount: z.number(), asks: z.boolean().optional() }),
      resumedSchema: z.object({ purpose: z.string() }),
      needsApproval: async ({ amount }) => {
        judged.push(amount);
        return amount >= 100;
      },
    },
    ({ amount, asks }, { resumed, interrupt }) => {
      if (asks === true && resumed === undefined) return interrupt({ message: 'What for?' });
      ran.push(resumed === undefined ? amount : { amount, ...resumed });
      return amount;
    },
  );
  return { pay, ran, judged };
}

const payment = (ref: string, amount: number, more: object = {}) => ({
  call: 'pay',
  ref,
  input: { amount, ...more },
});

describe('a tool that needs approval', () => {
  it('waits before it runs, and any restart of that pause lets it run', async () => {
    const { pay, ran } = definePay();
    const model = scriptedModel([[payment('c1', 99), payment('c2', 100)], 'Paid.']);
    const paused = await generate({ model, tools: [pay], prompt: 'Pay' });
    expect(ran).toEqual([99]);
    expect(paused.interrupts).toMatchObject([
      { toolRequest: { ref: 'c2' }, metadata: { needsApproval: true } },
    ]);

    const resume = stored(approve(waiting(paused, 'c2')));
    const response = await generate({ model, tools: [pay], messages: paused.messages, resume });
    expect(response.text).toBe('Paid.');
    expect(ran).toEqual([99, 100]);
  });

  it('is not asked again about a call that pauses by itself later', async () => {
    const { pay, ran, judged } = definePay();
    const model = scriptedModel([payment('c1', 100, { asks: true }), 'Paid.']);
    const first = await generate({ model, tools: [pay], prompt: 'Pay' });
    const second = await generate({
      model,
      tools: [pay],
      messages: first.messages,
      resume: approve(waiting(first, 'c1')),
    });
    expect(waiting(second, 'c1').metadata).toEqual({ message: 'What for?' });
    const resume = pay.restart(waiting(second, 'c1'), { purpose: 'rent' });
    const third = await generate({ model, tools: [pay], messages: second.messages, resume });
    expect(third.finishReason).toBe('stop');
    expect(ran).toEqual([{ amount: 100, purpose: 'rent' }]);
    expect(judged).toEqual([100]);
  });

  it('does not take a mere approval for the answer that it asked for', async () => {
    const { pay, ran } = definePay();
    const model = scriptedModel([payment('c1', 1, { asks: true })]);
    const { interrupts, messages } = await generate({ model, tools: [pay], prompt: 'Pay' });
    const refused = await rejection(settle({ tools: [pay], messages, resume: interrupts.map(approve) }));
    expect(refused).toMatchObject({ code: 'invalid-metadata', field: 'purpose' });
    expect(ran).toEqual([]);
  });

  it('does not run when it is rejected, and the model is told why', async () => {
    const { pay, ran } = definePay();
    const model = scriptedModel([[payment('c1', 100), payment('c2', 200)], 'One of two.']);
    const paused = await generate({ model, tools: [pay], prompt: 'Pay' });
    const response = await generate({
      model,
      tools: [pay],
      messages: paused.messages,
      resume: [approve(waiting(paused, 'c1')), reject(waiting(paused, 'c2'), 'too much')],
    });
    expect(response.text).toBe('One of two.');
    expect(ran).toEqual([100]);
    expect(keptResults(response.messages)).toMatchObject({
      c1: 100,
      c2: { status: 'denied', reason: 'too much' },
    });
  });

  it('needs approval for every call if it says just that', async () => {
    const drop = defineTool({ name: 'drop', description: 'Drops.', needsApproval: true }, () => 'dropped');
    const keep = defineTool({ name: 'keep', description: 'Keeps.', needsApproval: false }, () => 'kept');
    const model = scriptedModel([
      [
        { call: 'drop', ref: 'c1' },
        { call: 'keep', ref: 'c2' },
      ],
    ]);
    const response = await generate({ model, tools: { drop, keep }, prompt: 'Go' });
    expect(response.interrupts.map(({ toolRequest }) => toolRequest.name)).toEqual(['drop']);
    expect(keptResults(response.messages)).toMatchObject({ c2: 'kept' });
  });

  it('fails without a run when its condition throws', async () => {
    const ran: string[] = [];
    const drop = defineTool(
      {
        name: 'drop',
        description: 'Drops.',
        needsApproval: () => {
          throw new Error('no rate today');
        },
      },
      () => ran.push('drop'),
    );
    const model = scriptedModel([{ call: 'drop', ref: 'c1' }, 'Sorry.']);
    const response = await generate({ model, tools: [drop], prompt: 'Go' });
    expect(keptResults(response.messages)).toMatchObject({
      c1: { status: 'error', message: 'no rate today' },
    });
    expect(ran).toEqual([]);
  });
});

describe('resume', () => {
  const forms: [title: string, resume: (interrupt: Interrupt) => Replies][] = [
    ['one reply', (interrupt) => approve(interrupt)],
    ['a list of replies', (interrupt) => [approve(interrupt)]],
    ['one reply where a list is expected', (interrupt) => ({ restart: approve(interrupt) })],
    ['one rejection where a list is expected', (interrupt) => ({ close: reject(interrupt, 'no') })],
    [
      'an output that was written by hand',
      ({ toolRequest: { name, ref } }) => ({ respond: [{ toolResponse: { name, ref, output: 5 } }] }),
    ],
    [
      'one output that was written by hand',
      ({ toolRequest: { name, ref } }) => ({ toolResponse: { name, ref, output: 5 } }),
    ],
  ];
  it.each(forms)('takes %s', async (_title, resume) => {
    const { pay } = definePay();
    const model = scriptedModel([payment('c1', 100), 'Done.']);
    const paused = await generate({ model, tools: [pay], prompt: 'Pay' });
    const response = await generate({
      model,
      tools: [pay],
      messages: paused.messages,
      resume: resume(waiting(paused, 'c1')),
    });
    expect(response.text).toBe('Done.');
  });

  it.each([
    ['a call that nobody made', { name: 'pay', ref: 'c9', output: 5 }, 'unknown-request'],
    ['a call of another tool', { name: 'look', ref: 'c1', output: 5 }, 'wrong-tool'],
  ])('refuses an output written by hand for %s', async (_title, toolResponse, code) => {
    const { pay } = definePay();
    const model = scriptedModel([payment('c1', 100)]);
    const { messages } = await generate({ model, tools: [pay], prompt: 'Pay' });
    const refused = await rejection(settle({ tools: [pay], messages, resume: { toolResponse } }));
    expect(refused).toBeInstanceOf(ReplyError);
    expect(refused).toMatchObject({ code });
  });

  it('names the entry of a list that is no reply', async () => {
    const refused = await rejection(
      settle({ tools: [], messages: [], resume: JSON.parse('[{"approve":true}]') }),
    );
    expect(refused).toMatchObject({
      code: 'malformed-reply',
      message: 'resume[0] is no reply; make it with respond, restart, approve, reject or closeInterrupt',
    });
  });
});

it('the calls that wait are found in the messages that were kept', async () => {
  const { pay } = definePay();
  const model = scriptedModel([payment('c1', 100)]);
  const { messages, interrupts } = await generate({ model, tools: [pay], prompt: 'Pay' });
  expect(interruptsIn(stored(messages))).toEqual(interrupts);
  expect(interruptsIn(messages.slice(0, 1))).toEqual([]);
});

describe('a scripted model', () => {
  it('says what it was told, and streams its texts', async () => {
    const { look } = buildTools();
    const model = scriptedModel([{ call: 'look' }, 'Seen.']);
    const streamed: string[] = [];
    const response = await generate({
      model,
      tools: { look },
      system: 'Be brief.',
      prompt: 'Look',
      onText: (delta) => streamed.push(delta),
    });
    expect(response.text).toBe('Seen.');
    expect(streamed).toEqual(['Seen.']);
    expect(model.requests).toMatchObject([
      { system: 'Be brief.', history: [{ role: 'user', text: 'Look' }], tools: [{ name: 'look' }] },
      { history: [{ role: 'user' }, { role: 'model', calls: [{ name: 'look' }] }] },
    ]);
  });

  it.each([0, 1])('is an error when a script of %i replies is used up', async (count) => {
    const { look } = buildTools();
    const script: ScriptedReply[] = Array(count).fill({ call: 'look' });
    const refused = await rejection(generate({ model: scriptedModel(script), tools: [look], prompt: 'Go' }));
    expect(refused).toBeInstanceOf(DefinitionError);
    expect(refused).toMatchObject({
      message: `The script of scriptedModel has ${count} replies, and the model was asked once more`,
    });
  });
});

describe('an option that only JavaScript lets through is one clear error', () => {
  const untyped = (json: string): never => JSON.parse(json) as never;

  it.each([
    ['"gpt-6"', 'model must be a model such as openAIModel({ model: "gpt-6", apiKey }), not "gpt-6"'],
    ['null', 'model must be a model such as openAIModel({ model: "gpt-6-luna", apiKey }), not null'],
    [
      '{"name":"gpt-6"}',
      'model must be a model such as openAIModel({ model: "gpt-6-luna", apiKey }), not an object without a function "reply"',
    ],
  ])('the model %s', async (json, message) => {
    const refused = await rejection(generate({ model: untyped(json), prompt: 'Go' }));
    expect(refused).toBeInstanceOf(DefinitionError);
    expect(refused).toMatchObject({ code: 'invalid-option', message });
  });

  it('a status that closes nothing', () => {
    const interrupt = { id: 'p1', toolRequest: { name: 'pay', ref: 'c1', input: {} } };
    const close = () => closeInterrupt(interrupt, untyped('"rejected"'), 'No.');
    expect(close).toThrow(ReplyError);
    expect(close).toThrow(
      'the status is one of denied, expired, withdrawn, superseded, stopped, failed, not "rejected"',
    );
  });

  it('a tool under the name of another', async () => {
    const { pay } = definePay();
    const refused = await rejection(
      generate({ model: scriptedModel([]), tools: { transfer: pay }, prompt: 'Go' }),
    );
    expect(refused).toMatchObject({
      code: 'invalid-option',
      message: 'tools.transfer is named "pay"; give it under that name',
    });
  });
});
