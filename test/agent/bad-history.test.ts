import { describe, expect, it } from 'vitest';
import { generate, HistoryError, type Message, settle } from '../../src/index.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { answer, hi, made, pause } from './message-samples.ts';
import { buildTools, rejection, scripted, stored } from './support.ts';

const result = (ref: string, name = 'look'): Message => ({
  v: 1,
  role: 'tool',
  content: [{ toolResponse: { name, ref, output: null }, status: 'ok' }],
});
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
    for (const refused of nonEmpty(await refusals([hi, JSON.parse(JSON.stringify(message))]))) {
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
    for (const refused of nonEmpty(await refusals(stored(messages)))) {
      expect(refused).toBeInstanceOf(HistoryError);
      expect(refused).toMatchObject(error);
    }
  });
});
