import { expect, test } from 'vitest';
import { type Message, sealMessage, userMessage } from '../../src/agent/messages.ts';
import { Transcript, withMessages } from '../../src/agent/transcript.ts';

function call(ref: string): Message {
  const toolRequest = { name: 'look', ref, input: {} };
  return sealMessage({ v: 1, role: 'model', content: [{ toolRequest, idempotencyKey: `key-${ref}` }] });
}

function result(ref: string): Message {
  const toolResponse = { name: 'look', ref, output: 'seen' };
  return sealMessage({ v: 1, role: 'tool', content: [{ toolResponse, status: 'ok' }] });
}

const begun = () => Transcript.of([userMessage('hello'), call('first'), result('first')]).messages;

test('two transcripts of the same messages are independent', () => {
  const messages = begun();
  const [left, right] = [Transcript.of(messages), Transcript.of(messages)];
  left.append(call('second'));
  left.append(result('second'));
  right.append(userMessage('wait'));
  expect([left.knows('first'), left.knows('second'), left.messages.length]).toEqual([true, true, 5]);
  expect([right.knows('first'), right.knows('second'), right.messages.length]).toEqual([true, false, 4]);
  expect(right.history.at(-1)).toEqual({ role: 'user', text: 'wait' });
  expect([left, right, Transcript.of(messages)].map(({ history }) => history.length)).toEqual([3, 3, 2]);
  expect(messages).toHaveLength(3);
});

test('a history is a copy that does not grow with the transcript', () => {
  const transcript = Transcript.of(begun());
  const { history, messages } = transcript;
  transcript.append(userMessage('more'));
  expect([history.length, messages.length]).toEqual([2, 3]);
  expect(Object.isFrozen(messages)).toBe(true);
});

test('a ref of an earlier round cannot be used again', () => {
  expect(() => Transcript.of([...begun(), call('first')])).toThrow(
    expect.objectContaining({ code: 'repeated-ref', index: 3 }),
  );
});

test('a call without a result is refused when its messages are read back', () => {
  const messages = [userMessage('hello'), call('open')];
  expect(() => Transcript.of(messages)).toThrow(expect.objectContaining({ code: 'dangling-call' }));
});

test('a person cannot speak after a call that has no result yet', () => {
  const open = [...begun(), call('open')];
  expect(() => withMessages(open, [userMessage('well?')])).toThrow(
    expect.objectContaining({ code: 'dangling-call', index: 4 }),
  );
  expect(withMessages(begun(), [userMessage('thanks')])).toHaveLength(4);
});

test('the latest round is the same with and without the messages before it', () => {
  const messages = [...begun(), call('second'), result('second')];
  for (const end of [0, 1, 3, 5]) {
    const read = messages.slice(0, end);
    const [latest, whole] = [Transcript.latestRound(read), Transcript.of(read)];
    expect([latest.text, [...latest.round]]).toEqual([whole.text, [...whole.round]]);
  }
  expect(Transcript.latestRound(withMessages(messages, [userMessage('thanks')])).round.size).toBe(0);
});

test('a tool message without parts adds nothing to the history', () => {
  const empty = sealMessage({ v: 1, role: 'tool', content: [] });
  expect(Transcript.of([...begun(), empty]).history).toEqual(Transcript.of(begun()).history);
  expect(Transcript.of([userMessage('hello'), empty]).history).toEqual([{ role: 'user', text: 'hello' }]);
});
