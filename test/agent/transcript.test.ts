import { expect, test } from 'vitest';
import { type Message, readMessages, sealMessage, userMessage } from '../../src/agent/messages.ts';
import { Transcript, withMessages } from '../../src/agent/transcript.ts';

function call(ref: string): Message {
  const toolRequest = { name: 'look', ref, input: {} };
  return sealMessage({ v: 1, role: 'model', content: [{ toolRequest, idempotencyKey: `key-${ref}` }] });
}

function result(ref: string): Message {
  const toolResponse = { name: 'look', ref, output: 'seen' };
  return sealMessage({ v: 1, role: 'tool', content: [{ toolResponse, status: 'ok' }] });
}

const begun = () => withMessages([], [userMessage('hello'), call('first'), result('first')]);

test('two ways on from the same messages know nothing of each other', () => {
  const messages = begun();
  const [left, right] = [Transcript.from(messages), Transcript.from(messages)];
  left.append(call('second'));
  left.append(result('second'));
  right.append(userMessage('wait'));
  expect([left.knows('first'), left.knows('second'), left.messages.length]).toEqual([true, true, 5]);
  expect([right.knows('first'), right.knows('second'), right.messages.length]).toEqual([true, false, 4]);
  expect(right.history.at(-1)).toEqual({ role: 'user', text: 'wait' });
  expect([left, right, Transcript.of(messages)].map(({ history }) => history.length)).toEqual([3, 3, 2]);
  expect(messages).toHaveLength(3);
});

test('what goes on from messages says the same of them as what reads them anew', () => {
  const messages = begun();
  const anew = Transcript.of([...messages]);
  const onward = Transcript.from(messages);
  expect({ ...onward, messages: [...onward.messages] }).toEqual({ ...anew, messages: [...anew.messages] });
  expect(() => onward.append(call('first'))).toThrow(expect.objectContaining({ code: 'repeated-ref' }));
});

test('messages that were handed out are read once, and nobody can add to them', () => {
  const messages = begun();
  expect(Transcript.of(messages)).toBe(Transcript.of(messages));
  expect(() => Transcript.of(messages).append(userMessage('more'))).toThrow(TypeError);
  expect(Object.isFrozen(messages)).toBe(true);
});

test('messages that were read from their texts are read once as well', () => {
  const messages = readMessages(begun().map((message) => JSON.stringify(message)));
  expect(Transcript.of(messages)).toBe(Transcript.of(messages));
  expect(Transcript.of(messages).knows('first')).toBe(true);
});

test('a call without a result is refused, however often it is brought back', () => {
  const transcript = Transcript.from([]);
  transcript.append(userMessage('hello'));
  transcript.append(call('open'));
  const messages = transcript.seal();
  for (const read of [Transcript.of, Transcript.from])
    expect(() => read(messages)).toThrow(expect.objectContaining({ code: 'dangling-call' }));
});
