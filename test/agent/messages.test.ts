import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonValue, toJson } from '../../src/agent/json.ts';
import { readMessages } from '../../src/agent/messages.ts';
import {
  defineTool,
  generate,
  HistoryError,
  type Interrupt,
  type Message,
  nestedInterrupts,
  openAIModel,
  parseMessage,
  restartNested,
  settle,
  userMessage,
} from '../../src/index.ts';
import {
  buildTools,
  call,
  calls,
  rejection,
  says,
  scripted,
  sentCalls,
  sentResults,
  stored,
  waiting,
} from './support.ts';

const fixture: Message[] = stored(
  JSON.parse(readFileSync(new URL('./fixtures/messages.v1.json', import.meta.url), 'utf8')),
);

const second: Message[] = stored(
  JSON.parse(readFileSync(new URL('./fixtures/messages.v2.json', import.meta.url), 'utf8')),
);

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
    const question = waiting({ interrupts: nestedInterrupts(nested) }, 'inner-2');

    const { model, server } = await scripted(says('All done.'));
    const done = await generate({
      model,
      tools,
      messages: fixture,
      resume: {
        restart: [
          kit.transfer.restart(waiting({ interrupts }, 'call-7')),
          restartNested(nested, { respond: [kit.ask.respond(question, { answer: 'Red.' })] }),
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

const hi = userMessage('Hi');
const made = (ref: string, name = 'look'): Message => ({
  v: 1,
  role: 'model',
  content: [{ toolRequest: { name, ref, input: { key: 'a' } }, idempotencyKey: ref }],
});
const result = (ref: string, name = 'look'): Message => ({
  v: 1,
  role: 'tool',
  content: [{ toolResponse: { name, ref, output: null }, status: 'ok' }],
});
const pause = (ref: string): Message => ({
  v: 1,
  role: 'tool',
  content: [{ interrupt: { id: 'p1', toolRequest: { name: 'look', ref, input: { key: 'a' } } } }],
});
const answer: Message = { v: 1, role: 'model', content: [{ text: 'Yes.' }] };

/** Fails on a history in `generate` and in `settle`, before the model is called. */
async function refusals(messages: readonly Message[]): Promise<unknown[]> {
  const { model } = await scripted();
  const { tools } = buildTools();
  return [
    await rejection(generate({ model, tools, messages, prompt: 'Go' })),
    await rejection(settle({ tools, messages, resume: {} })),
  ];
}

describe('a message that cannot be read is refused with its index:', () => {
  const malformed: [title: string, message: unknown, field: RegExp][] = [
    ['of no version', { role: 'user', content: [{ text: 'Hi' }] }, /\(v: /],
    ['of another version', { v: 3, role: 'user', content: [{ text: 'Hi' }] }, /\(v: /],
    ['of an unknown role', { v: 1, role: 'system', content: [{ text: 'Hi' }] }, /\(role: /],
    ['without content', { v: 1, role: 'user' }, /\(content: /],
    ['with content that is no list', { v: 1, role: 'model', content: 'Hi' }, /\(content: /],
    ['with an unknown key', { v: 1, role: 'user', content: [{ text: 'Hi' }], admin: true }, /admin/],
    ['with a part of two kinds', { v: 1, role: 'user', content: [{ text: 'Hi', image: 'x' }] }, /image/],
    [
      'with a call without input',
      { v: 1, role: 'model', content: [{ toolRequest: { name: 'look', ref: 'c1' } }] },
      /content\.0/,
    ],
    [
      'with a call without ref',
      {
        v: 1,
        role: 'model',
        content: [{ toolRequest: { name: 'look', ref: '', input: {} }, idempotencyKey: 'k' }],
      },
      /content\.0/,
    ],
    [
      'with a result of an unknown status',
      {
        v: 1,
        role: 'tool',
        content: [{ toolResponse: { name: 'look', ref: 'c1', output: 1 }, status: 'fine' }],
      },
      /content\.0/,
    ],
    [
      'with an interrupt without id',
      {
        v: 1,
        role: 'tool',
        content: [{ interrupt: { toolRequest: { name: 'look', ref: 'c1', input: {} } } }],
      },
      /content\.0/,
    ],
    [
      'with negative usage',
      { ...answer, usage: { inputTokens: -1, outputTokens: 0, totalTokens: 0 } },
      /usage\.inputTokens/,
    ],
    ['that is null', null, /the message/],
    ['that is a text', 'Hi', /the message/],
  ];
  it.each(malformed)('one %s', async (_title, message, field) => {
    for (const refused of await refusals([hi, JSON.parse(JSON.stringify(message))])) {
      expect(refused).toBeInstanceOf(HistoryError);
      expect(refused).toMatchObject({ code: 'malformed-message', index: 1 });
      expect((refused as HistoryError).message).toMatch(/^messages\[1\]: not a message of version 1/);
      expect((refused as HistoryError).message).toMatch(field);
    }
  });
});

describe('a history that no loop can have written is refused before anything runs:', () => {
  const impossible: [title: string, messages: Message[], error: object][] = [
    [
      'a person speaks before a call has its result',
      [hi, made('c1'), hi],
      { code: 'dangling-call', index: 2, ref: 'c1' },
    ],
    [
      'a person speaks while a call waits',
      [hi, made('c1'), pause('c1'), hi],
      { code: 'dangling-call', index: 3, ref: 'c1' },
    ],
    [
      'the model speaks before a call has its result',
      [hi, made('c1'), answer],
      { code: 'dangling-call', index: 2, ref: 'c1' },
    ],
    [
      'it ends with a call that neither waits nor has a result',
      [hi, made('c1')],
      { code: 'dangling-call', index: 2, ref: 'c1' },
    ],
    ['a result without a call', [hi, result('c1')], { code: 'orphan-result', index: 1, ref: 'c1' }],
    ['a pause without a call', [hi, pause('c1')], { code: 'orphan-result', index: 1, ref: 'c1' }],
    [
      'a result of another tool',
      [hi, made('c1'), result('c1', 'ask')],
      { code: 'orphan-result', index: 2, ref: 'c1' },
    ],
    [
      'a result of an earlier round',
      [hi, made('c1'), result('c1'), answer, result('c1')],
      { code: 'orphan-result', index: 4, ref: 'c1' },
    ],
    [
      'two results for one call',
      [hi, made('c1'), result('c1'), result('c1')],
      { code: 'repeated-result', index: 3, ref: 'c1' },
    ],
    [
      'a pause after the result',
      [hi, made('c1'), result('c1'), pause('c1')],
      { code: 'repeated-result', index: 3, ref: 'c1' },
    ],
    [
      'two calls with one ref',
      [hi, made('c1'), result('c1'), made('c1')],
      { code: 'repeated-ref', index: 3, ref: 'c1' },
    ],
  ];
  it.each(impossible)('%s', async (_title, messages, error) => {
    for (const refused of await refusals(stored(messages))) {
      expect(refused).toBeInstanceOf(HistoryError);
      expect(refused).toMatchObject(error);
    }
  });
});

/** Finds every object in a value that could be changed. */
function mutableParts(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, entry]) => mutableParts(entry, `${path}.${key}`));
  return Object.isFrozen(value) ? inside : [path, ...inside];
}

describe('a message', () => {
  it('that the loop wrote cannot be changed, nor can anything in it', async () => {
    const { tools, transfer } = buildTools();
    const { model } = await scripted(
      {
        text: 'Let me see.',
        calls: [call('c1', 'look', { key: 'a' }), call('c2', 'transfer', { amount: 5 })],
      },
      says('Yes.'),
    );
    const paused = await generate({ model, tools, prompt: 'Go' });
    expect(mutableParts(paused.messages)).toEqual([]);
    const resume = {
      restart: [transfer.restart(waiting(paused, 'c2'), { by: 'U1' }, { replaceInput: { amount: 4 } })],
    };
    const done = await generate({ model, tools, messages: paused.messages, resume });
    expect(mutableParts(done.messages)).toEqual([]);
  });

  it('that was read back cannot be changed, nor can anything in it', () => {
    expect(mutableParts(readMessages(fixture.map((message) => JSON.stringify(message))))).toEqual([]);
    for (const message of JSON.parse(JSON.stringify(fixture))) {
      expect(mutableParts(parseMessage(message))).toEqual([]);
    }
  });

  it('shares nothing with the value it was read from', async () => {
    const given = JSON.parse(JSON.stringify([hi, made('c1'), pause('c1')]));
    const { ran, look } = buildTools();
    const { interrupts } = await settle({ tools: [look], messages: given, resume: {} });
    const restart = [look.restart(waiting({ interrupts }, 'c1'))];
    const settling = settle({ tools: [look], messages: given, resume: { restart } });
    given[1].content[0].toolRequest.input.key = 'b';
    given[2].content[0].interrupt.toolRequest.input.key = 'b';
    await settling;
    expect(ran).toEqual(['look a']);
    expect(Object.isFrozen(given[1].content)).toBe(false);
  });

  it('with metadata of a caller keeps it as it was', () => {
    const metadata = { tags: ['a'] };
    const message = userMessage('Hi', metadata);
    metadata.tags.push('b');
    expect(message.metadata).toEqual({ tags: ['a'] });
    expect(mutableParts(message)).toEqual([]);
  });

  it('that is not JSON is refused as malformed', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    expect(() => parseMessage(circle, 4)).toThrow(
      expect.objectContaining({ name: 'HistoryError', code: 'malformed-message', index: 4 }),
    );
  });
});

describe('what people approve is what runs:', () => {
  const change = (interrupt: Interrupt) =>
    Object.assign(interrupt.toolRequest.input as object, { amount: 1_000 });

  it('the input of an interrupt cannot be changed', async () => {
    const { ran, tools, transfer } = buildTools();
    const { model } = await scripted(calls(call('c1', 'transfer', { amount: 5 })), says('Done.'));
    const paused = await generate({ model, tools, prompt: 'Go' });
    const interrupt = waiting(paused, 'c1');
    expect(() => change(interrupt)).toThrow(TypeError);
    const { messages } = paused;
    await generate({ model, tools, messages, resume: { restart: [transfer.restart(interrupt)] } });
    expect(ran).toEqual(['transfer 5']);
  });

  it('a reply that is changed after it was handed over changes nothing', async () => {
    const seen: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays.' }, async (_input, { resumed, interrupt }) => {
      if (resumed === undefined) return interrupt();
      seen.push(resumed);
      return null;
    });
    const { model } = await scripted(calls(call('c1', 'pay')), says('Done.'));
    const paused = await generate({ model, tools: [pay], prompt: 'Go' });
    const reply = JSON.parse(JSON.stringify(pay.restart(waiting(paused, 'c1'), { by: 'Ada' })));
    const { messages } = paused;
    const done = generate({ model, tools: [pay], messages, resume: { restart: [reply] } });
    reply.metadata.resumed.by = 'Eve';
    await done;
    expect(seen).toEqual([{ by: 'Ada' }]);
  });
});

/** Returns every copy of a value that has one entry, at any depth, replaced, removed or added. */
function variantsOf(value: JsonValue): JsonValue[] {
  const others: JsonValue[] = [null, -1, '', [], {}];
  if (Array.isArray(value)) {
    const items: readonly JsonValue[] = value;
    return [
      ...others,
      ...items.flatMap((item, at) => variantsOf(item).map((variant) => items.with(at, variant))),
    ];
  }
  if (!isJsonObject(value)) return others;
  const changed = Object.entries(value).flatMap(([key, entry]) => {
    const { [key]: _removed, ...rest } = value;
    return [rest, ...variantsOf(entry).map((variant) => ({ ...value, [key]: variant }))];
  });
  return [...others, ...changed, { ...value, extra: 1 }];
}

describe('the messages of a thread, read from their texts,', () => {
  const texts = fixture.map((message) => JSON.stringify(message));

  it('are those that were written', () => {
    expect(readMessages(texts)).toEqual(fixture);
  });

  it('name the place of a broken one', () => {
    expect(() => readMessages([...texts, '{"v":1}'])).toThrow(
      expect.objectContaining({ index: texts.length }),
    );
    expect(() => readMessages([...texts, 'not json'])).toThrow(SyntaxError);
  });

  it('are refused exactly where a message from a caller is', () => {
    const accepts = (read: () => unknown): boolean => {
      try {
        read();
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: 'malformed-message' });
        return false;
      }
    };
    const verdicts = [...fixture, ...second]
      .flatMap((message) => variantsOf(toJson(message)))
      .map((variant) => {
        const isRead = accepts(() => readMessages([JSON.stringify(variant)]));
        const isParsed = accepts(() => parseMessage(variant));
        return { variant, isRead, isParsed };
      });
    expect(verdicts.filter(({ isRead, isParsed }) => isRead !== isParsed)).toEqual([]);
    expect(new Set(verdicts.map(({ isRead }) => isRead))).toEqual(new Set([true, false]));
  });

  it('are never joined from two halves', () => {
    const [whole = ''] = texts;
    const cut = whole.indexOf(',');
    expect(() => readMessages([whole.slice(0, cut), whole.slice(cut + 1)])).toThrow(SyntaxError);
  });
});
