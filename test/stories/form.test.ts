import { expect, test } from 'vitest';
import { CAST, MANIFEST, startStory } from './support.ts';

const fields = {
  type: 'object',
  properties: {
    title: { type: 'string', title: 'What happened?', minLength: 5 },
    severity: { type: 'string', enum: ['low', 'high'] },
    people: { type: 'integer', minimum: 1 },
    labels: { type: 'array', items: { type: 'string' } },
    extra: { type: 'object', properties: { link: { type: 'string' } }, required: ['link'] },
  },
  required: ['title', 'severity', 'people'],
};
const form = { name: 'request_form', arguments: { title: 'Report an incident', fields } };

test('a form with a wrong field says so below that field, and is taken when it is right', async () => {
  const story = await startStory({ replies: [{ calls: [form] }, { text: 'Reported.' }] });
  const thread = story.ask('report an incident');
  const card = await thread.shows(/Please fill in/);
  expect(JSON.stringify(card.blocks)).toContain('Report an incident');
  await thread.click(CAST.requester, /Please fill in/, 'fill-in');
  const modal = await story.modalFor(CAST.requester, /What happened/);
  const requester = story.workspace.as(CAST.requester);
  const filled = { 'field-0': 'The lift is stuck', 'field-1': '1', 'field-2': '3', 'field-3': 'lift\nhouse' };

  expect(await requester.submit(modal.id, { ...filled, 'field-0': 'Lift' })).toEqual({
    kind: 'errors',
    errors: { 'field-0': expect.any(String) },
  });
  expect(await requester.submit(modal.id, { ...filled, 'field-4': '{"link": 5' })).toEqual({
    kind: 'errors',
    errors: { 'field-4': expect.stringContaining('not JSON') },
  });
  expect(await requester.submit(modal.id, { ...filled, 'field-4': '{"link": 5}' })).toEqual({
    kind: 'errors',
    errors: { 'field-4': expect.stringContaining('link') },
  });
  expect(story.model.requests).toHaveLength(1);

  expect(await requester.submit(modal.id, { ...filled, 'field-4': '{"link": "x"}' })).toEqual({
    kind: 'cleared',
  });
  await thread.shows(/Reported\./);
  expect(story.toldOfCalls().map((told): unknown => JSON.parse(told))).toEqual([
    {
      title: 'The lift is stuck',
      severity: 'high',
      people: 3,
      labels: ['lift', 'house'],
      extra: { link: 'x' },
    },
  ]);
  const settled = await thread.shows(/Answered: /);
  expect(settled.ts).toBe(card.ts);
  expect(JSON.stringify(settled.blocks)).toContain('The lift is stuck');
});

test('a form for the person who asked is taken from nobody else, who is told so in private', async () => {
  const story = await startStory({
    timing: { ackWithinMs: { click: 30_000, submission: 30_000 } },
    manifest: MANIFEST.replace(
      'instructions: Help.',
      'instructions: Help., built_ins: [{ request_form: requester }]',
    ),
    replies: [{ calls: [form] }],
  });
  const thread = story.ask('report an incident');
  await thread.click(CAST.alice, /Please fill in/, 'fill-in');
  const modal = await story.modalFor(CAST.alice, /What happened/);
  const filled = { 'field-0': 'Nothing at all', 'field-1': '0', 'field-2': '1' };
  expect(await story.workspace.as(CAST.alice).submit(modal.id, filled)).toMatchObject({
    errors: { 'field-0': 'Only the people this was sent to can answer.' },
  });
  await thread.shows(/Please fill in/);
});

test('a form whose fields are no schema fails, and the model is told', async () => {
  const story = await startStory({
    replies: [
      {
        calls: [{ name: 'request_form', arguments: { title: 'Broken', fields: { type: 'no-such-type' } } }],
      },
      { text: 'I cannot ask that.' },
    ],
  });
  const thread = story.ask('report an incident');
  await thread.shows(/I cannot ask that\./);
  expect(story.toldOfCalls()).toEqual([expect.stringMatching(/schema/i)]);
});
