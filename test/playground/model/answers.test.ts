import { describe, expect, it } from 'vitest';
import { nonEmpty } from '../../support/non-empty.ts';
import { body, deltasOf, messages, start, stream, textOf } from './support.ts';

describe('a streamed answer', () => {
  it('brings text in several deltas and says once why it ended', async () => {
    const { client } = await start({ script: [{ text: 'All done: 👍🏽 refunded.' }] });
    const chunks = await stream(client);
    expect(textOf(chunks)).toBe('All done: 👍🏽 refunded.');
    expect(deltasOf(chunks)[0]).toEqual({ role: 'assistant', content: '', refusal: null });
    expect(deltasOf(chunks).filter(({ content }) => (content ?? '') !== '').length).toBeGreaterThan(1);
    expect(
      chunks.map(({ choices }) => choices[0]?.finish_reason).filter((reason) => reason !== null),
    ).toEqual(['stop']);
  });

  it('splits even a short word', async () => {
    const { client } = await start({ script: [{ text: 'Yes.' }] });
    const contents = deltasOf(await stream(client)).map(({ content }) => content);
    expect(contents).toEqual(['', 'Ye', 's.', undefined]);
  });

  it('brings text in the deltas that the script gives', async () => {
    const { client } = await start({ script: [{ text: ['one', ' two'], delayMs: 1 }] });
    const contents = deltasOf(await stream(client)).map(({ content }) => content);
    expect(contents).toEqual(['', 'one', ' two', undefined]);
  });

  it('names each call once, in the first delta of its index, and splits its arguments', async () => {
    const calls = [
      { name: 'refund', arguments: { order: 7, amount: 1200 } },
      { id: 'call_mine', name: 'notify', arguments: '{"broken":' },
    ];
    const { client } = await start({ script: [{ text: 'Working.', calls }] });
    const chunks = await stream(client);
    const pieces = deltasOf(chunks).flatMap(({ tool_calls }) => tool_calls ?? []);
    for (const [index, id, name, text] of [
      [0, 'call_1', 'refund', '{"order":7,"amount":1200}'],
      [1, 'call_mine', 'notify', '{"broken":'],
    ] as const) {
      const [first, ...rest] = pieces.filter((piece) => piece.index === index);
      expect(first).toEqual({ index, id, type: 'function', function: { name, arguments: '' } });
      expect(rest.length).toBeGreaterThan(1);
      for (const piece of nonEmpty(rest)) {
        expect(piece).toEqual({ index, function: { arguments: expect.any(String) } });
      }
      expect(rest.map((piece) => piece.function?.arguments).join('')).toBe(text);
    }
    expect(textOf(chunks)).toBe('Working.');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  it('is put together by the client into the message that was scripted', async () => {
    const { client } = await start({ script: [{ calls: [{ name: 'refund', arguments: { order: 7 } }] }] });
    const streaming = client.chat.completions.stream(body);
    const contents: unknown[] = [];
    streaming.on('chunk', ({ choices }) => contents.push(choices[0]?.delta.content));
    const completion = await streaming.finalChatCompletion();
    expect(contents[0]).toBeNull();
    expect(completion.choices[0]?.message).toMatchObject({
      content: null,
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'refund', arguments: '{"order":7}' } },
      ],
    });
  });

  it('reports usage in a last chunk without choices, and only when asked', async () => {
    const usage = { promptTokens: 30, completionTokens: 4 };
    const { client } = await start({
      script: [
        { text: 'Yes.', usage },
        { text: 'Yes.', usage },
      ],
    });
    const asked = await stream(client, { include_usage: true });
    expect(asked.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 30, completion_tokens: 4, total_tokens: 34 },
    });
    expect(asked.slice(0, -1).map((chunk) => chunk.usage)).toEqual(asked.slice(0, -1).map(() => null));
    expect((await stream(client)).some((chunk) => 'usage' in chunk)).toBe(false);
  });

  it('ends with [DONE]', async () => {
    const { model } = await start({ script: [{ text: 'Yes.' }] });
    const response = await fetch(`${model.url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer local' },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await response.text()).toMatch(/\n\ndata: \[DONE\]\n\n$/);
  });

  it('can be cut off by the length limit in the middle of a call', async () => {
    const calls = [{ name: 'refund', arguments: '{"order":' }];
    const { client } = await start({ script: [{ calls, finishReason: 'length' }] });
    expect((await stream(client)).at(-1)?.choices[0]?.finish_reason).toBe('length');
  });

  it('can be a refusal by the model', async () => {
    const { client } = await start({ script: [{ refusal: 'I cannot help with that.' }] });
    const refusals = deltasOf(await stream(client)).map(({ refusal }) => refusal ?? '');
    expect(refusals.join('')).toBe('I cannot help with that.');
  });

  it('can have no choice in it', async () => {
    const { client } = await start({ script: [{ empty: true }] });
    expect((await stream(client)).map(({ choices }) => choices)).toEqual([[]]);
  });

  it('can be no protocol at all', async () => {
    const { client } = await start({ script: [{ chunksRaw: ['data: {"choices":\n\n'] }] });
    await expect(stream(client)).rejects.toThrow(SyntaxError);
  });
});

describe('a whole answer', () => {
  it('holds text, the reason it ended and usage', async () => {
    const { client } = await start({ script: [{ text: 'Partly', finishReason: 'content_filter' }] });
    const completion = await client.chat.completions.create(body);
    expect(completion).toMatchObject({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      choices: [
        { message: { role: 'assistant', content: 'Partly', refusal: null }, finish_reason: 'content_filter' },
      ],
      usage: { prompt_tokens: expect.any(Number), total_tokens: expect.any(Number) },
    });
    expect(completion.choices[0]?.message).not.toHaveProperty('tool_calls');
  });

  it('holds calls, which can be sent back with their results', async () => {
    const { model, client } = await start({
      script: [{ calls: [{ name: 'refund', arguments: {} }] }, { text: 'Done.' }],
    });
    const message = (await client.chat.completions.create(body)).choices[0]?.message;
    if (message === undefined) throw new Error('no message');
    const result = { role: 'tool' as const, tool_call_id: 'call_1', content: 'ok' };
    const history = [...messages, message, result];
    const last = await client.chat.completions.create({ ...body, messages: history });
    expect(last.choices[0]?.message.content).toBe('Done.');
    expect(model.requests.map((request) => request.messages)).toEqual([messages, history]);
  });

  it('numbers its calls past those of an older history', async () => {
    const { client } = await start({ script: [{ calls: [{ name: 'refund', arguments: {} }] }] });
    const old = {
      role: 'assistant' as const,
      tool_calls: [
        { id: 'call_1', type: 'function' as const, function: { name: 'refund', arguments: '{}' } },
      ],
    };
    const history = [...messages, old, { role: 'tool' as const, tool_call_id: 'call_1', content: 'ok' }];
    const completion = await client.chat.completions.create({ ...body, messages: history });
    expect(completion.choices[0]?.message.tool_calls?.[0]?.id).toBe('call_2');
  });

  it('can be a refusal, or without a choice', async () => {
    const { client } = await start({ script: [{ refusal: 'No.' }, { empty: true }] });
    const refused = await client.chat.completions.create(body);
    expect(refused.choices[0]?.message).toMatchObject({ content: null, refusal: 'No.' });
    expect((await client.chat.completions.create(body)).choices).toEqual([]);
  });
});
