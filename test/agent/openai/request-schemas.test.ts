import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { parseRequest } from '../../../playground/model/check-request.ts';
import { checkItems } from '../../../playground/model/check-responses.ts';
import { ResponsesRequest, toChatRequest } from '../../../playground/model/responses-request.ts';
import type { JsonObject, JsonValue } from '../../../src/agent/json.ts';
import type { HistoryItem, ModelConfig, SettledCall } from '../../../src/agent/model.ts';
import { chatRequest } from '../../../src/agent/openai/chat.ts';
import type { AdapterRequest } from '../../../src/agent/openai/request.ts';
import { responsesRequest } from '../../../src/agent/openai/responses.ts';
import { countFor } from '../../support/count-for.ts';

const HISTORIES = countFor('HISTORIES', { quick: 40, full: 400 });

/** Compiles one of OpenAI's schemas; see test/fixtures/openai/README.md for what is loosened. */
function compile(name: string): ValidateFunction {
  const file = new URL(`../../fixtures/openai/${name}-request.schema.json`, import.meta.url);
  const schema = z
    .looseObject({ $defs: z.record(z.string(), z.record(z.string(), z.unknown())) })
    .parse(JSON.parse(readFileSync(file, 'utf8')));
  const { InputItem: item, ...others } = schema.$defs;
  const { oneOf, ...rest } = item ?? {};
  const $defs = item === undefined ? others : { ...others, InputItem: { ...rest, anyOf: oneOf } };
  return new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile({ ...schema, $defs });
}

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.lorem({ maxCount: 8 }));
const json = fc.jsonValue({ maxDepth: 3 }).map((value): JsonValue => JSON.parse(JSON.stringify(value)));
const input = fc.dictionary(fc.string(), json).map((value): JsonValue => JSON.parse(JSON.stringify(value)));
const media = fc.array(fc.constant({ url: 'data:image/png;base64,iVBORw0KGgo=', contentType: 'image/png' }), {
  maxLength: 2,
});
const some = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });

const call = fc.record({
  ref: fc.uuid().map((id) => `call_${id.replaceAll('-', '')}`),
  name: fc.oneof(fc.constantFrom('look', 'transfer'), text),
  input,
  output: fc.oneof(json, text),
  media: some(media),
});
const user = fc.record({ role: fc.constant('user' as const), text, media: some(media) });
const answer = fc.tuple(text, text, fc.array(call, { maxLength: 4 }), fc.boolean(), fc.nat({ max: 3 }));

/** A model's answer with the data that a provider of either kind could have given with it. */
const model = answer.map(([first, second, calls, hasReasoning, form]): HistoryItem => {
  const parts = [first, second].filter((part) => part !== '').slice(0, 1 + (form % 2));
  const said = calls.length === 0 && parts.length === 0 ? ['Yes.'] : parts;
  return {
    role: 'model',
    text: said.join('\n\n'),
    calls,
    ...(form > 0 && { provider: { origin: 'here', data: dataFor(said, calls, hasReasoning) } }),
  };
});

function dataFor(said: readonly string[], calls: readonly SettledCall[], hasReasoning: boolean): JsonObject {
  const own = (prefix: string, index: number) => (hasReasoning ? { id: `${prefix}_${index}` } : {});
  return {
    items: [
      ...(hasReasoning ? [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAAA' }] : []),
      ...said.map((part, index) => ({
        type: 'message',
        length: part.length,
        phase: 'commentary',
        ...own('msg', index),
      })),
      ...calls.map((_, index) => ({ type: 'call', index, ...own('fc', index) })),
    ],
    message: hasReasoning ? { reasoning_content: 'Hm.' } : {},
    calls: calls.map((_, index) =>
      index === 0 ? { extra_content: { google: { thought_signature: 's' } } } : null,
    ),
  };
}

const config: fc.Arbitrary<ModelConfig> = fc.record({
  temperature: some(fc.double({ min: 0, max: 2, noNaN: true })),
  topP: some(fc.double({ min: 0, max: 1, noNaN: true })),
  maxOutputTokens: some(fc.integer({ min: 16, max: 100_000 })),
  reasoningEffort: some(fc.constantFrom('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max')),
  verbosity: some(fc.constantFrom('low', 'medium', 'high')),
  parallelToolCalls: some(fc.boolean()),
  serviceTier: some(fc.constantFrom('auto', 'default', 'flex', 'priority')),
});
const tools = [
  {
    name: 'look',
    description: 'Looks.',
    inputSchema: { type: 'object', properties: { key: { type: 'string' } } },
  },
  { name: 'ping', description: 'Pings.', inputSchema: { type: 'object' } },
];
const outputSchema = fc.constantFrom<JsonObject | undefined>(
  undefined,
  { type: 'object', properties: { total: { type: 'number' } }, required: ['total'] },
  { type: 'object', properties: { note: { type: 'string' } } },
);

const request: fc.Arbitrary<AdapterRequest> = fc.record({
  model: fc.constantFrom('scripted', 'gpt-6-luna'),
  system: some(text),
  history: fc
    .array(fc.oneof(user, model), { minLength: 1, maxLength: 12 })
    .map((items): HistoryItem[] => [{ role: 'user', text: 'Go' }, ...withDistinctRefs(items)]),
  tools: fc.constantFrom(tools, []),
  config,
  toolChoice: fc.constantFrom(
    'auto' as const,
    'required' as const,
    'none' as const,
    { tool: 'look' },
    undefined,
  ),
  outputSchema,
  dataOf: fc.constantFrom<AdapterRequest['dataOf']>(
    () => undefined,
    ({ provider }) => provider?.data,
  ),
});

/** A history never has two calls with one ref. */
function withDistinctRefs(items: readonly HistoryItem[]): HistoryItem[] {
  let count = 0;
  return items.map((item) => {
    if (item.role === 'user') return item;
    const calls = item.calls.map((one) => {
      count += 1;
      return { ...one, ref: `call_${count}` };
    });
    return { ...item, calls };
  });
}

/** A body as it is after it was sent. */
function sent(body: object): unknown {
  return JSON.parse(JSON.stringify(body));
}

const runs = { numRuns: HISTORIES };

describe(`of ${HISTORIES} histories`, () => {
  test("no request of Chat Completions is refused by OpenAI's schema, nor by the rules of the local model", () => {
    const validate = compile('chat-completions');
    fc.assert(
      fc.property(request, (given) => {
        const body = sent(chatRequest(given));
        expect([validate(body), validate.errors]).toEqual([true, null]);
        const plain = sent(chatRequest({ ...given, dataOf: () => undefined }));
        expect(parseRequest(plain, ['scripted', 'gpt-6-luna'])).toMatchObject({ ok: true });
      }),
      runs,
    );
  });

  test("no request of Responses is refused by OpenAI's schema, nor by the rules of the local model", () => {
    const validate = compile('responses');
    fc.assert(
      fc.property(request, (given) => {
        const body = sent(responsesRequest(given));
        expect([validate(body), validate.errors]).toEqual([true, null]);
        const plain = ResponsesRequest.parse(sent(responsesRequest({ ...given, dataOf: () => undefined })));
        expect(checkItems(plain, new Map())).toBeUndefined();
        expect(parseRequest(toChatRequest(plain), ['scripted', 'gpt-6-luna'])).toMatchObject({ ok: true });
      }),
      runs,
    );
  });
});

describe('the schemas', () => {
  const [chat, responses] = [compile('chat-completions'), compile('responses')];
  const asked = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };

  test.each<[string, ValidateFunction, object]>([
    ['a message without a role', chat, { ...asked, messages: [{ content: 'Hi' }] }],
    ['a result without its call', chat, { ...asked, messages: [{ role: 'tool', content: 'Hi' }] }],
    ['an effort that nobody knows', chat, { ...asked, reasoning_effort: 'huge' }],
    ['reasoning without its id', responses, { model: 'm', input: [{ type: 'reasoning', summary: [] }] }],
    [
      'a tool that says nothing of strict',
      responses,
      { model: 'm', input: 'Hi', tools: [{ type: 'function', name: 'n' }] },
    ],
  ])('refuse %s', (_title, validate, body) => {
    expect(validate(body)).toBe(false);
  });

  test('take the same requests when they are right', () => {
    expect([chat(asked), responses({ model: 'm', input: 'Hi' })]).toEqual([true, true]);
  });
});
