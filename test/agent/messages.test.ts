import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonValue, toJson } from '../../src/agent/json.ts';
import { readMessages } from '../../src/agent/messages.ts';
import { defineTool, generate, type Interrupt, parseMessage, settle, userMessage } from '../../src/index.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { fixture, hi, made, pause, second } from './message-samples.ts';
import { buildTools, call, calls, says, scripted, waiting } from './support.ts';

/** Finds every object in a value that could be changed. */
function mutableParts(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.entries(value).flatMap(([key, entry]) => mutableParts(entry, `${path}.${key}`));
  return Object.isFrozen(value) ? inside : [path, ...inside];
}

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
    for (const message of nonEmpty(JSON.parse(JSON.stringify(fixture)))) {
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
