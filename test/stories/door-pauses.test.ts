import { expect, test } from 'vitest';
import { CALLERS, startCalling } from './calling.ts';
import { CAST } from './support.ts';

const { requester: remi, alice, bruno } = CAST;

const MANIFEST = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${remi}, ${alice}, ${bruno}], notify: { direct_messages: false } }
tools:
  rooms: { module: ./test/stories/fixtures/deciding-tools.ts, approval: never }
${CALLERS.replace('tools: [refund_*, delete_customer, read_order]', 'tools: ["*_room", pick_colour]').replace('ask: [release]', 'ask: [default]').replace('tools: [refund_order]', 'tools: [sell_room]')}`;

const COLOURS = ['Red', 'Blue'];

test('a caller reads what its tool asks and of whom, and the owner of the caller answers', async () => {
  const door = await startCalling({ manifest: MANIFEST });
  const { body } = await door.send('POST', '/v1/runs', {
    body: { tool: 'paint_room', input: { choices: COLOURS } },
  });
  const card = await door.place.shows(/Which colour\?/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'waiting',
    waiting_for: { question: 'Which colour?', choices: COLOURS, people: [remi] },
  });
  expect(JSON.stringify(card.blocks)).toContain(remi);
  await door.place.click(alice, /Which colour\?/, 'choose:0');
  await door.noticeFor(alice, /Only the people this was sent to/);
  await door.place.click(remi, /Which colour\?/, 'choose:1');
  const ended = (await door.end(body.id)).body;
  expect(ended).toMatchObject({ status: 'succeeded', output: { painted: 'Blue', by: remi } });
  expect(ended).not.toHaveProperty('waiting_for');
});

test('a caller reads that its tool asks for a yes, which the owner cannot give', async () => {
  const door = await startCalling({ manifest: MANIFEST });
  const { body } = await door.send('POST', '/v1/runs', { body: { tool: 'sell_room', input: { price: 40 } } });
  await door.place.click(remi, /Sell it for 40\?/, 'approve');
  await door.noticeFor(remi, /You took part in requesting this/);
  expect((await door.send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'waiting',
    waiting_for: {
      question: 'Sell it for 40?',
      choices: ['Approve', 'Reject'],
      people: [remi, alice, bruno],
    },
  });
  await door.place.click(alice, /Sell it for 40\?/, 'approve');
  expect((await door.end(body.id)).body).toMatchObject({
    status: 'succeeded',
    output: { sold: 40 },
    decisions: [{ by: alice, decision: 'approve' }],
  });
});
