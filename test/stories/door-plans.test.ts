import { expect, test } from 'vitest';
import { KEYS, startCalling } from './calling.ts';
import { close, openDesk, PLANNING_CALLER, type PlannedCalls, pay, planOf } from './planning.ts';
import { CAST } from './support.ts';

const { alice, bruno, requester: remi } = CAST;

async function startPlanning() {
  const desk = await openDesk();
  const door = await startCalling({ manifest: PLANNING_CALLER });
  const propose = (...steps: PlannedCalls) =>
    door.send('POST', '/v1/runs', {
      body: { ...planOf(...steps), link: 'https://ci.example.com/runs/7' },
    });
  return { desk, ...door, propose };
}

test('a caller proposes a plan: one card, one approval, and it reads the outcome of each step', async () => {
  const { desk, propose, place, end, send } = await startPlanning();
  const asked = await propose(close('T-1'), close('T-2'), close('T-3'));
  expect(asked.code).toBe(202);
  const card = JSON.stringify((await place.shows(/3 (of \d )?planned step/)).blocks);
  expect(card).toMatch(/release-pipeline.* for .*U0REMI0001/);
  expect(card).toMatch(/Goal of release-pipeline \(unverified\).*Clear the queue/);
  expect(card).toContain('"url":"https://ci.example.com/runs/7"');
  expect((await send('GET', `/v1/runs/${asked.body.id}`)).body).toMatchObject({
    status: 'waiting',
    steps: [{ status: 'waiting' }, { status: 'waiting' }, { status: 'waiting' }],
  });
  // Who answers for the caller asks for the plan, and does not approve it.
  await place.click(remi, /3 (of \d )?planned step/, 'approve');
  expect(await desk.done()).toEqual([]);
  await place.click(alice, /3 (of \d )?planned step/, 'approve');
  expect((await end(asked.body.id)).body).toMatchObject({
    status: 'succeeded',
    tool: 'propose_plan',
    output: { outcome: 'done' },
    decisions: [{ by: alice, decision: 'approve' }],
    steps: [
      { tool: 'close_ticket', status: 'succeeded', input: { ticket: 'T-1' }, output: { id: 'C-T-1' } },
      { tool: 'close_ticket', status: 'succeeded', output: { id: 'C-T-2' } },
      { tool: 'close_ticket', status: 'succeeded', output: { id: 'C-T-3' } },
    ],
  });
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-2', 'closed T-3']);
});

test('a plan that is rejected runs nothing, and the caller reads the words of the person', async () => {
  const { desk, propose, reject, end } = await startPlanning();
  const { body } = await propose(close('T-1'), close('T-2'));
  await reject(bruno, /2 (of \d )?planned step/, 'Not today.');
  expect((await end(body.id)).body).toMatchObject({ status: 'rejected', reason: 'Not today.' });
  expect(await desk.done()).toEqual([]);
});

test('of a plan that is approved in part only the chosen steps run, and the caller reads which', async () => {
  const { desk, propose, place, end, modalFor, workspace } = await startPlanning();
  const { body } = await propose(close('T-1'), close('T-2'), close('T-3'));
  await place.click(alice, /3 (of \d )?planned step/, 'choose-steps');
  await workspace.as(alice).submit((await modalFor(alice)).id, { 'steps-0': ['1', '3'] });
  expect((await end(body.id)).body).toMatchObject({
    status: 'failed',
    output: { outcome: 'stopped' },
    steps: [{ status: 'succeeded' }, { status: 'denied' }, { status: 'succeeded' }],
  });
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-3']);
});

test('the first step that fails stops the rest, which is asked again; the request ends when that has', async () => {
  const { desk, propose, place, end, reject, send } = await startPlanning();
  const { body } = await propose(close('T-1'), close('stuck-2'), close('T-3'));
  await place.click(alice, /3 (of \d )?planned step/, 'approve');
  await place.shows(/Approval needed: Close ticket T-3/);
  expect((await send('GET', `/v1/runs/${body.id}`)).body).toMatchObject({
    status: 'waiting',
    steps: [{ status: 'succeeded' }, { status: 'failed' }, { status: 'waiting' }],
  });
  await reject(alice, /Approval needed: Close ticket T-3/, 'Leave it.');
  expect((await end(body.id)).body).toMatchObject({
    status: 'failed',
    steps: [
      { status: 'succeeded' },
      { status: 'failed', reason: expect.stringContaining('stuck-2 has an open task') },
      { status: 'denied' },
    ],
  });
  expect(await desk.done()).toEqual(['closed T-1']);
});

test('a plan with a tool that the caller may not use is refused, and so is one for which people cannot be asked', async () => {
  const { desk, propose, send } = await startPlanning();
  expect(await propose(close('T-1'), pay('Acme', 10))).toMatchObject({
    code: 403,
    body: { detail: '"pay_customer" is not among the tools of release-pipeline.' },
  });
  expect(await propose(close('T-1'), planOf(close('T-2'), close('T-3')))).toMatchObject({ code: 422 });
  expect(await propose(close('T-1'), close('T-1'))).toMatchObject({
    code: 422,
    body: { detail: 'Steps 1 and 2 are the same call.' },
  });
  expect(await propose(close('T-1'))).toMatchObject({ code: 422 });
  const explained = { ...planOf(close('T-1'), close('T-2')), explanation: 'Because.' };
  expect(await send('POST', '/v1/runs', { body: explained })).toMatchObject({
    code: 422,
    body: { detail: 'A plan has no "explanation": say it in its "goal".' },
  });
  // A caller whose tools do not name it proposes none.
  const other = await send('POST', '/v1/runs', {
    key: KEYS.other,
    body: planOf(close('T-1'), close('T-2')),
  });
  expect(other).toMatchObject({ code: 403 });
  expect((await send('GET', '/v1/tools', { key: KEYS.other })).body).toMatchObject({
    tools: [{ name: 'close_ticket' }],
  });
  expect(await desk.done()).toEqual([]);
});

test('an edited step is asked again with its plan, and the caller reads what ran and who edited it', async () => {
  const { desk, propose, place, end, modalFor, workspace } = await startPlanning();
  const { body } = await propose(close('T-1'), close('T-2'));
  const card = await place.shows(/2 (of \d )?planned step/);
  const [second] = JSON.stringify(card.blocks).matchAll(
    /"2\. Close ticket T-2","emoji":false\},"value":"([^"]+)"/g,
  );
  await workspace.as(bruno).choose({ channel: card.channel, ts: card.ts }, 'edit-step', second?.[1] ?? '');
  await workspace.as(bruno).submit((await modalFor(bruno)).id, { 'field-0': 'T-22' });
  await place.click(alice, /2 (of \d )?planned step[\s\S]*T-22/, 'approve');
  expect((await end(body.id)).body).toMatchObject({
    status: 'succeeded',
    edited_by: bruno,
    steps: [{ input: { ticket: 'T-1' } }, { input: { ticket: 'T-22' }, output: { id: 'C-T-22' } }],
  });
  expect(await desk.done()).toEqual(['closed T-1', 'closed T-22']);
});
