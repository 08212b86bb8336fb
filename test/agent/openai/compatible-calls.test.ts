import { describe, expect, it } from 'vitest';
import { ask, calling, chunk, serve, streaming } from './compatible-server.ts';

describe('the calls of an answer', () => {
  const cases: [title: string, events: string[], calls: [id: string, name: string, args: string][]][] = [
    [
      'are put together from pieces that come in turns',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '' }, { index: 1, id: 'b', name: 'ask', args: '' }),
        calling({ index: 1, args: '{"q":' }, { index: 0, args: '{"k":' }),
        calling({ index: 0, args: '1}' }, { index: 1, args: '2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'ask', '{"q":2}'],
      ],
    ],
    [
      'are separate if all have the index 0 and each has its own id',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '{"k":1}' }),
        calling({ index: 0, id: 'b', name: 'look', args: '{"k":2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'look', '{"k":2}'],
      ],
    ],
    [
      'are separate with the index 0 for all also if each comes in pieces',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '' }),
        calling({ index: 0, args: '{"k":' }),
        calling({ index: 0, args: '1}' }),
        calling({ index: 0, id: 'b', name: 'look', args: '' }),
        calling({ index: 0, args: '{"k":' }),
        calling({ index: 0, args: '2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'look', '{"k":2}'],
      ],
    ],
    [
      'are told apart by their ids if pieces with the index 0 come in turns',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '{"k":' }),
        calling({ index: 0, id: 'b', name: 'look', args: '{"k":' }),
        calling({ index: 0, id: 'a', args: '1}' }),
        calling({ index: 0, id: 'b', args: '2}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'look', '{"k":2}'],
      ],
    ],
    [
      'belong together if they repeat an id and have no index',
      [
        calling({ id: 'a', name: 'look', args: '{"k":' }),
        calling({ id: 'a', name: 'look', args: '1}' }),
        calling({ id: 'b', name: 'ask', args: '{}' }),
      ],
      [
        ['a', 'look', '{"k":1}'],
        ['b', 'ask', '{}'],
      ],
    ],
    [
      'continue the latest one if a piece has neither index nor id',
      [
        calling({ index: null, id: 'a', name: 'look', args: '{"k":' }),
        calling({ index: null, id: null, args: '1}' }),
      ],
      [['a', 'look', '{"k":1}']],
    ],
    [
      'are separate if they come whole, with neither index nor id',
      [
        calling({ name: 'look', args: '{"k":1}' }, { name: 'look', args: '{"k":2}' }),
        calling({ name: 'ask', args: '{}' }),
      ],
      [
        ['', 'look', '{"k":1}'],
        ['', 'look', '{"k":2}'],
        ['', 'ask', '{}'],
      ],
    ],
    [
      'keep their first id if each later piece has another one and no name',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '' }),
        calling({ index: 0, id: 'x1', args: '{"k":' }),
        calling({ index: 0, id: 'x2', args: '1}' }),
      ],
      [['a', 'look', '{"k":1}']],
    ],
    [
      'may repeat id and name in every piece',
      [
        calling({ index: 0, id: 'a', name: 'look', args: '{"k":' }),
        calling({ index: 0, id: 'a', name: 'look', args: '1}' }),
      ],
      [['a', 'look', '{"k":1}']],
    ],
    [
      'may have arguments that are an object',
      [calling({ index: 0, id: 'a', name: 'look', args: { k: 1 } })],
      [['a', 'look', '{"k":1}']],
    ],
  ];
  it.each(cases)('%s', async (_title, events, calls) => {
    const { finish, calls: found } = await ask(await serve(streaming(...events, chunk({}, 'tool_calls'))));
    expect(finish).toBe('stop');
    expect(found).toEqual(calls.map(([id, name, args]) => ({ id, name, arguments: args })));
  });
});
