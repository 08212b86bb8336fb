import { expect, test } from 'vitest';
import { z } from 'zod';
import type { EffectJournal } from '../../src/agent/calls/journal.ts';
import { settledPart, waitingPart } from '../../src/agent/calls/outcomes.ts';
import type { ToolFailure } from '../../src/agent/calls/run-call.ts';
import { defineTool } from '../../src/agent/define-tool.ts';
import { notDone } from '../../src/agent/errors.ts';
import { generate } from '../../src/agent/generate.ts';
import { MESSAGE_VERSION, type Message, userMessage } from '../../src/agent/messages.ts';
import { settle } from '../../src/agent/settle.ts';
import type { Effect, ToolHelpers } from '../../src/agent/tool.ts';
import { call, calls, says, scripted } from './support.ts';

/** A journal that keeps what it is told, in order. */
function listJournal(changes: Partial<EffectJournal> = {}) {
  const told: string[] = [];
  const journal: EffectJournal = {
    stopGraceMs: 0,
    recorded: async () => undefined,
    start: async ({ call: started, messages }) => {
      told.push(`start ${started.toolRequest.name} after ${messages.map(({ role }) => role).join(' ')}`);
      return true;
    },
    finish: async (started, end) => {
      told.push(`${end} ${started.toolRequest.name}`);
    },
    ...changes,
  };
  return { told, journal };
}

function toolOf(name: string, effect: Effect, run: () => unknown = () => 'done') {
  return defineTool({ name, description: name, effect, outputSchema: z.unknown() }, run);
}

test('an effect is recorded after the message that made the call and before the tool runs, and a read is not', async () => {
  const { told, journal } = listJournal();
  const write = toolOf('write', 'once', () => told.push('write runs'));
  const read = toolOf('read', 'none', () => told.push('read runs'));
  const { model } = await scripted(calls(call('c1', 'write'), call('c2', 'read')), says('Done.'));
  await generate({ model, prompt: 'go', tools: [write, read], journal });
  expect(told.filter((line) => line !== 'read runs')).toEqual([
    'start write after user model',
    'write runs',
    'succeeded write',
  ]);
});

test('a call that the journal does not let start does not run', async () => {
  const { told, journal } = listJournal({ start: async () => false });
  const write = toolOf('write', 'once', () => told.push('write runs'));
  const { model } = await scripted(calls(call('c1', 'write')), says('Stopped.'));
  await generate({ model, prompt: 'go', tools: [write], journal });
  expect(told).toEqual([]);
});

test('a call whose outcome nobody knows waits for a person', async () => {
  const { told, journal } = listJournal();
  const write = toolOf('write', 'once', () => {
    throw new Error('the line went dead');
  });
  const { model } = await scripted(calls(call('c1', 'write')));
  const { interrupts } = await generate({ model, prompt: 'go', tools: [write], journal });
  expect(interrupts).toMatchObject([{ metadata: { outcomeUnknown: 'the line went dead' } }]);
  expect(told.at(-1)).toBe('unknown write');
});

test.each<[Effect, string, () => unknown, object]>([
  [
    'once',
    'throws',
    () => Promise.reject(new Error('504')),
    { interrupts: [{ metadata: { outcomeUnknown: '504' } }] },
  ],
  ['once', 'says that it did nothing', () => Promise.reject(notDone('no such order')), { interrupts: [] }],
  ['none', 'throws', () => Promise.reject(new Error('504')), { interrupts: [] }],
])('a call with the effect %s whose tool %s ends as it should', async (effect, _how, run, expected) => {
  const { told, journal } = listJournal();
  const isUnknown = JSON.stringify(expected).includes('outcomeUnknown');
  const { model } = await scripted(calls(call('c1', 'write')), ...(isUnknown ? [] : [says('Hm.')]));
  const tools = [toolOf('write', effect, run)];
  expect(await generate({ model, prompt: 'go', tools, journal })).toMatchObject(expected);
  if (effect === 'once') expect(told.at(-1)).toMatch(/^(unknown|failed) write$/);
});

test('a call that failed, and an earlier run of which may have taken effect, waits for a person', async () => {
  const { told, journal } = listJournal({ mayHaveRun: () => true });
  const write = toolOf('write', 'idempotent', () => Promise.reject(notDone('it is gone')));
  const { model } = await scripted(calls(call('c1', 'write')));
  const { interrupts } = await generate({ model, prompt: 'go', tools: [write], journal });
  expect(interrupts).toMatchObject([{ metadata: { outcomeUnknown: 'it is gone' } }]);
  expect(told.at(-1)).toBe('unknown write');
});

test('a call whose tool is gone ends with what is on record', async () => {
  const { journal } = listJournal({ recorded: async (open) => settledPart(open, 'ok', 'kept') });
  const content = [{ toolRequest: { name: 'gone', ref: 'c1', input: {} }, idempotencyKey: 'k' }];
  const messages: Message[] = [userMessage('go'), { v: MESSAGE_VERSION, role: 'model', content }];
  const settled = await settle({ messages, tools: [], resume: {}, journal });
  expect(settled.newMessages).toMatchObject([{ content: [{ toolResponse: { output: 'kept' } }] }]);
});

test.each<[string, (helpers: ToolHelpers) => unknown]>([
  ['interrupt', ({ interrupt }) => interrupt()],
  ['deny', ({ deny }) => deny('No.')],
])(
  'a call whose tool went on after %s() waits for a person, because it may have taken effect',
  async (...args) => {
    const [, end] = args;
    const { told, journal } = listJournal();
    const errors: boolean[] = [];
    const stubborn = defineTool(
      { name: 'stubborn', description: 'Goes on.', effect: 'once' },
      async (_input, helpers) => {
        try {
          return end(helpers);
        } catch {
          return 'done anyway';
        }
      },
    );
    const { model } = await scripted(calls(call('c1', 'stubborn')));
    const onToolError = ({ isUnknown }: ToolFailure) => void errors.push(isUnknown);
    const { interrupts } = await generate({ model, prompt: 'go', tools: [stubborn], journal, onToolError });
    const unknown = expect.stringContaining('went on after it had paused or denied the call');
    expect(interrupts).toMatchObject([{ metadata: { outcomeUnknown: unknown } }]);
    expect(told.at(-1)).toBe('unknown stubborn');
    expect(errors).toEqual([true]);
  },
);

test.each<[Effect, string, object]>([
  [
    'once',
    'waits for a person',
    { finishReason: 'interrupted', interrupts: [{ toolRequest: { ref: 'c1' } }] },
  ],
  ['none', 'has failed', { finishReason: 'stop', interrupts: [] }],
])('a call with the effect %s that runs out of time %s, without the grace of a stop', async (...args) => {
  const [effect, , expected] = args;
  const { told, journal } = listJournal({ stopGraceMs: 600_000 });
  const stuck = defineTool({ name: 'stuck', description: 'Hangs.', effect, timeoutMs: 20 }, () => {
    return new Promise<never>(() => {});
  });
  const failures: unknown[] = [];
  const { model } = await scripted(calls(call('c1', 'stuck')), ...(effect === 'none' ? [says('Hm.')] : []));
  const onToolError = ({ isUnknown }: ToolFailure) => failures.push(isUnknown);
  const response = await generate({ model, prompt: 'go', tools: [stuck], journal, onToolError });
  expect(response).toMatchObject(expected);
  expect(failures).toEqual([effect === 'once']);
  expect(told.at(-1)).toBe(effect === 'once' ? 'unknown stuck' : undefined);
});

test('a call whose retry is stopped waits for a person if an earlier run may have taken effect, and has not run otherwise', async () => {
  const results = [true, false].map(async (mayHaveRun) => {
    const stop = new AbortController();
    const { journal, told } = listJournal({
      afterUnknown: async () => {
        stop.abort();
        return 'again';
      },
      inDoubt: async (doubted) =>
        mayHaveRun ? waitingPart(doubted, { metadata: { outcomeUnknown: 'stopped' } }) : undefined,
    });
    const write = toolOf('write', 'idempotent', () => {
      throw new Error('the line went dead');
    });
    const { model } = await scripted(calls(call('c1', 'write')));
    const { signal } = stop;
    const { messages } = await generate({ model, prompt: 'go', tools: [write], journal, signal });
    expect(told).toEqual(['start write after user model']);
    return messages.at(-1)?.content;
  });
  expect(await Promise.all(results)).toMatchObject([
    [{ interrupt: { metadata: { outcomeUnknown: 'stopped' } } }],
    [{ toolResponse: { output: { message: 'Not run: the task was stopped' } } }],
  ]);
});

test.each<[string, () => Error, string, object]>([
  [
    'has not run if it says that it did nothing',
    () => notDone('the server was down'),
    'paused write',
    { toolResponse: { output: { message: 'Not run: the task was stopped' } } },
  ],
  [
    'waits for a person otherwise',
    () => new Error('the line went dead'),
    'unknown write',
    { interrupt: { metadata: { outcomeUnknown: 'the line went dead' } } },
  ],
])('a call that is stopped while it runs %s', async (_, problem, end, part) => {
  const stop = new AbortController();
  const { told, journal } = listJournal({ stopGraceMs: 600_000 });
  const write = toolOf('write', 'once', () => {
    stop.abort();
    throw problem();
  });
  const { model } = await scripted(calls(call('c1', 'write')));
  const { messages } = await generate({ model, prompt: 'go', tools: [write], journal, signal: stop.signal });
  expect(messages.at(-1)?.content).toMatchObject([part]);
  expect(told.at(-1)).toBe(end);
});

test('calls that an earlier process left open end with what is on record, or run now', async () => {
  const ran: string[] = [];
  const tools = ['first', 'second'].map((name) => toolOf(name, 'once', () => ran.push(name)));
  const part = (name: string) => ({
    toolRequest: { name, ref: `call-${name}`, input: {} },
    idempotencyKey: name,
  });
  const messages: Message[] = [
    userMessage('go'),
    { v: MESSAGE_VERSION, role: 'model', content: [part('first'), part('second')] },
  ];
  const { journal } = listJournal({
    recorded: async (open) =>
      open.toolRequest.name === 'first' ? settledPart(open, 'ok', 'kept') : undefined,
  });
  const settled = await settle({ messages, tools, resume: {}, journal });
  expect(ran).toEqual(['second']);
  expect(settled.newMessages).toMatchObject([
    { content: [{ toolResponse: { output: 'kept' } }, { toolResponse: { output: 1 } }] },
  ]);
});
