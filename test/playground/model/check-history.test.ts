import { describe, expect, it } from 'vitest';
import { checkRequest } from '../../../playground/model/check-request.ts';

const user = { role: 'user', content: 'Refund order 7.' };
const call = (id: string, name = 'refund', args: unknown = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
});
const calling = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string, content: unknown = 'done') => ({ role: 'tool', tool_call_id: id, content });

const checkBody = (rest: object) => checkRequest({ model: 'scripted', messages: [user], ...rest });
const checkHistory = (...messages: unknown[]) => checkBody({ messages });

describe('a history is refused', () => {
  it.each<[string, unknown[], string, string]>([
    ['when it is empty', [], 'messages', "Invalid 'messages': empty array."],
    [
      'for an unknown role',
      [{ role: 'robot', content: 'x' }],
      'messages[0].role',
      "Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.",
    ],
    ['for a message without a role', [{ content: 'x' }], 'messages[0].role', 'Missing required parameter'],
    ['for a message that is a string', ['x'], 'messages[0]', 'expected an object, but got a string instead'],
    [
      'for an assistant that neither speaks nor calls',
      [user, { role: 'assistant', content: null }],
      'messages.[1].content',
      "Invalid value for 'content': expected a string, got null.",
    ],
    [
      'for an assistant with nothing',
      [{ role: 'assistant' }],
      'messages.[0].content',
      'expected a string, got null',
    ],
    ['for a user without words', [{ role: 'user', content: null }], 'messages.[0].content', 'got null'],
    [
      'for an empty list of calls',
      [user, calling()],
      'messages[1].tool_calls',
      "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
    ],
    [
      'for a null list of calls',
      [user, { role: 'assistant', content: 'x', tool_calls: null }],
      'messages[1].tool_calls',
      'expected an array of objects, but got null instead',
    ],
    [
      'for arguments that are not a string',
      [user, calling(call('a', 'refund', {})), result('a')],
      'messages[1].tool_calls[0].function.arguments',
      'expected a string, but got an object instead.',
    ],
    [
      'for arguments that are not JSON',
      [user, calling(call('a', 'refund', '{"amount":')), result('a')],
      'messages[1].tool_calls[0].function.arguments',
      'not valid JSON',
    ],
    [
      'for a call to a name with a space',
      [user, calling(call('a', 'pay out')), result('a')],
      'messages[1].tool_calls[0].function.name',
      "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
    ],
    [
      'for a call id over 40 characters',
      [user, calling(call('c'.repeat(41)))],
      'messages[1].tool_calls[0].id',
      'maximum length 40, but got a string with length 41 instead.',
    ],
    [
      'for a call that keeps the index of its stream delta',
      [user, calling({ ...call('a'), index: 0 }), result('a')],
      'messages[1].tool_calls[0].index',
      'Unknown parameter',
    ],
    [
      'for one call id twice in a message',
      [user, calling(call('a'), call('a')), result('a')],
      'messages[1].tool_calls[1].id',
      "Duplicate value for 'id' of 'a'",
    ],
    [
      'for one call id in two turns',
      [user, calling(call('a')), result('a'), user, calling(call('a')), result('a')],
      'messages[4].tool_calls[0].id',
      "Duplicate value for 'id' of 'a', in messages[1] and messages[4].",
    ],
    [
      'for a call without a result at the end',
      [user, calling(call('a'), call('b')), result('a')],
      'messages.[1].role',
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: b",
    ],
    [
      'for a result that comes after another message',
      [user, calling(call('a')), user, result('a')],
      'messages.[2].role',
      'did not have response messages: a',
    ],
    [
      'for a result of no call',
      [user, result('a')],
      'messages.[1].role',
      "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    ],
    [
      'for a result that comes again after the turn has gone on',
      [user, calling(call('a')), result('a'), user, result('a')],
      'messages.[4].role',
      'must be a response to a preceeding message',
    ],
    [
      'for a result of a call of another turn',
      [user, calling(call('a')), result('a'), calling(call('b')), result('a')],
      'messages.[4].tool_call_id',
      "'tool_call_id' of 'a' not found in 'tool_calls' of previous message.",
    ],
    [
      'for a result given twice',
      [user, calling(call('a')), result('a'), result('a')],
      'messages.[3].tool_call_id',
      "Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3].",
    ],
    [
      'for a result that is an object',
      [user, calling(call('a')), result('a', { ok: true })],
      'messages[2].content',
      'expected one of a string or array of objects, but got an object instead.',
    ],
    [
      'for a result that holds an image',
      [user, calling(call('a')), result('a', [{ type: 'image_url' }])],
      'messages[2].content[0].type',
      "Invalid value: 'image_url'. Supported values are: 'text'.",
    ],
    [
      'for a result without a call id',
      [user, calling(call('a')), { role: 'tool', content: 'x' }],
      'messages[2].tool_call_id',
      "Missing required parameter: 'messages[2].tool_call_id'.",
    ],
  ])('%s', (_name, messages, param, message) => {
    expect(checkHistory(...messages)).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      param,
      message: expect.stringContaining(message),
    });
  });
});
