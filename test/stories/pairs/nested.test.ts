import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/define-tool.ts';
import { generate } from '../../../src/agent/generate.ts';
import type { Model } from '../../../src/agent/model.ts';
import { ANN, BEN, manifest, openScene, RITA, ROY } from '../../oracle/scene.ts';

/** Books one room, and says so. */
const model: Model = {
  name: 'inner',
  async reply({ history }) {
    const isAsked = history.at(-1)?.role === 'user';
    const calls = isAsked ? [{ id: 'one', name: 'book', arguments: '{"room":"Ballroom"}' }] : [];
    return { finish: 'stop', text: isAsked ? '' : 'Booked.', calls, usage: undefined };
  },
};

/** Opens a scene in which paying lets a model of its own book a room, which pauses once; `booked` has the key of each booking. */
async function openNested(options: Parameters<typeof manifest>[0] & { readonly failures?: number } = {}) {
  const booked: string[] = [];
  let { failures = 0 } = options;
  const book = defineTool(
    { name: 'book', description: 'Books.', inputSchema: z.object({ room: z.string() }) },
    ({ room }, { resumed, interrupt, idempotencyKey }) => {
      if (resumed === undefined) interrupt({ why: 'It costs money.' });
      booked.push(idempotencyKey);
      return room;
    },
  );
  const pay = async () => {
    const { text } = await generate({ model, prompt: 'Book.', tools: [book] });
    failures -= 1;
    if (failures >= 0) throw new Error('The connection was cut');
    return text;
  };
  const look = () => ({ paid: booked.length });
  const scene = await openScene({ text: manifest(options), acts: { pay, look } });
  /** Asks for the outer call and has it approved; returns the requests of both. */
  const approveOuter = async (by: string = RITA) => {
    const outer = (await scene.ask(5, { by })) ?? '';
    const { open: inner = '' } = await scene.click(BEN);
    expect((await scene.record(inner)).shown.interrupt.nested).toHaveLength(1);
    return { outer, inner };
  };
  return { ...scene, booked, approveOuter };
}

test('an edit of the outer call approves nothing inside it, and what is inside is not edited', async () => {
  const { ask, click, booked } = await openNested();
  await ask(5);
  await click(RITA, { type: 'edit', input: { amount: 9 } });
  expect((await click(ANN)).open).toBeDefined();
  expect((await click(RITA, { type: 'edit', input: { amount: 10 } })).notice).toBeDefined();
  expect(booked).toEqual([]);
  await click(BEN);
  expect(booked).toHaveLength(1);
});

test('a grant of the outer call allows nothing inside it, and none is given there', async () => {
  const { ask, click, booked } = await openNested({ policy: 'grants: { for: 1h, uses: 5 }' });
  await ask(5);
  expect((await click(BEN, { type: 'approve', grants: true })).open).toBeDefined();
  await click(BEN, { type: 'approve', grants: true });
  expect(booked).toHaveLength(1);
  expect(await ask(5)).toBeDefined();
  expect(booked).toHaveLength(1);
  await click(RITA);
  expect(booked).toHaveLength(1);
  await click(ANN);
  expect(booked).toHaveLength(2);
});

test('a call that pauses for one inside it counts once', async () => {
  const { ask, approveOuter, click, booked } = await openNested({
    more: 'limits: { pay: { sum: input.amount, per: tool, window: 1h, max: 10 } }',
  });
  for (const count of [1, 2]) {
    await approveOuter();
    await click(ANN);
    expect(booked).toHaveLength(count);
  }
  expect(await ask(1)).toBeUndefined();
});

test('what waits inside a call does not start while its tool is frozen', async () => {
  const { approveOuter, click, settle, freeze, unfreeze, booked } = await openNested();
  await approveOuter();
  await freeze();
  await click(ANN);
  expect(booked).toEqual([]);
  await unfreeze();
  await settle();
  expect(booked).toHaveLength(1);
});

test('a request inside a call shows that call, without the preview of the outer one', async () => {
  const { approveOuter, record, click, booked } = await openNested({
    tools:
      '  look: { description: Looks., input: { type: object }, http: { method: GET, url: "https://example.com/" }, approval: { require: never } }',
    pay: '    preview: { tool: look, input: {}, before: "{{output.paid}}", after: "{{input.amount}}" }',
  });
  const { outer, inner } = await approveOuter();
  expect((await record(outer)).shown.facets.preview).toBeDefined();
  expect((await record(inner)).shown.facets.preview).toBeUndefined();
  await click(ANN);
  expect(booked).toHaveLength(1);
});

test('an idempotent call that is tried again repeats what ran inside it with the same key', async () => {
  const { approveOuter, click, settle, booked } = await openNested({
    pay: '    effect: idempotent',
    failures: 1,
  });
  await approveOuter();
  await click(ANN);
  await settle();
  expect(booked).toHaveLength(2);
  expect(new Set(booked).size).toBe(1);
});

test('nobody who asked for the outer call approves what is inside it', async () => {
  const { approveOuter, ask, click, record, booked } = await openNested();
  await ask({}, { tool: '' });
  const { inner } = await approveOuter(ANN);
  expect((await record(inner)).requesters).toEqual(expect.arrayContaining([RITA, ANN]));
  await click(ANN);
  expect(booked).toEqual([]);
  await click(BEN);
  expect(booked).toHaveLength(1);
});

test('what waits inside a call does not start under other rules than those it was asked under', async () => {
  for (const changed of [{ description: 'Pays more.' }, { approval: '{ require: deny, reason: No. }' }]) {
    const { approveOuter, click, replace, booked } = await openNested();
    await approveOuter();
    await replace(manifest(changed));
    await click(ANN);
    expect(booked).toEqual([]);
  }
});

test('the next process asks for what the last one left inside a call, and runs it once', async () => {
  const { ask, click, dieAfter, restart, settle, booked } = await openNested();
  await ask(5);
  dieAfter('finish');
  await click(BEN).catch(() => {});
  await restart();
  await expect.poll(() => settle(), { timeout: 10_000 }).toBeDefined();
  await click(ROY);
  expect(booked).toEqual([]);
  await click(ANN);
  expect(booked).toHaveLength(1);
});

test('a request inside a call that expires ends the call in words', async () => {
  const { approveOuter, settle, store, record, booked } = await openNested({ policy: 'expires: 1s' });
  const { outer, inner } = await approveOuter();
  await expect
    .poll(async () => (await store.end(inner, { state: 'expired' })).outcome, { timeout: 10_000 })
    .toBe('ended');
  expect(await settle()).toBeUndefined();
  expect(booked).toEqual([]);
  expect(await record(outer)).toMatchObject({ state: 'failed', payload: expect.stringMatching(/expired/) });
});
