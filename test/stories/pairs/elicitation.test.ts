import { expect, test } from 'vitest';
import { ANN, manifest, openScene, RITA, ROY } from '../../oracle/scene.ts';
import { askingManifest } from '../asking-servers.ts';

const answer = { type: 'answer', value: { action: 'accept', content: { name: 'Rita', guests: 3 } } } as const;

/** Opens a scene with a server that asks who is coming before it books a table. */
async function openAsking(approval: string, options: Parameters<typeof manifest>[0] = {}) {
  const { manifest: asking, notes } = askingManifest('current');
  const [, server = ''] = asking.split('tools:\n');
  const tools = server.replace(/approval: .*/, `approval: ${approval}`);
  const scene = await openScene({
    text: manifest({ ...options, tools }),
    acts: { book_table: (_name, _input, helpers, run) => run(helpers) },
  });
  const booked = () => notes().filter((line) => line.startsWith('booked'));
  const book = (by: string = RITA) => scene.ask({ day: 'Monday' }, { by, tool: 'book_table' });
  return { ...scene, booked, book };
}

test.each(['{ policy: default }', '{ require: never }'])(
  'an answer to a server does not continue a call that is frozen, under %s',
  async (approval) => {
    const { book, click, freeze, booked } = await openAsking(approval);
    await book();
    if (approval.includes('policy')) await click(ANN);
    await freeze('book_table');
    await click(RITA, answer);
    if (approval.includes('policy')) await click(ANN);
    expect(booked()).toEqual([]);
  },
);

test('the reverse of an action asks the person who clicked Undo', async () => {
  const { ask, click, booked } = await openAsking('{ require: never }', {
    pay: '    undo: { tool: book_table, input: { day: Sunday } }',
  });
  const request = await ask(5);
  await click(ANN);
  const { open } = await click(ANN, { type: 'undo' }, { request });
  expect(open).toBeDefined();
  for (const who of [RITA, ROY]) expect((await click(who, answer)).notice).toBeDefined();
  expect(booked()).toEqual([]);
  await click(ANN, answer);
  expect(booked()).toEqual([expect.stringMatching(/^booked Sunday accept/)]);
});
