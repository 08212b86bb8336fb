import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/define-tool.ts';
import { generate } from '../../../src/agent/generate.ts';
import type { JsonObject } from '../../../src/agent/json.ts';
import type { Model } from '../../../src/agent/model.ts';
import { emailOf } from '../../oracle/compositions.ts';
import {
  ANN,
  BEN,
  EACH,
  manifest,
  openScene,
  RITA,
  ROY,
  type SceneOptions,
  THREAD,
} from '../../oracle/scene.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { askingManifest } from '../asking-servers.ts';

type Scene = Awaited<ReturnType<typeof openScene>>;

/** A way in which a policy says who approves, and how. */
interface Way {
  readonly policy: NonNullable<Parameters<typeof manifest>[0]>;
  /** Who cannot approve alone, nor all of them together. */
  readonly inVain: readonly string[];
  /** Approves as the policy wants it, and returns what waits then; `before` runs before the last click. */
  readonly approve: (scene: Scene, before?: () => void) => Promise<string | undefined>;
  readonly prepare?: (scene: Scene) => Promise<unknown>;
  /** What the log says of the approval. */
  readonly logged: RegExp;
}

const OWNER = 'owner';
const PAGE = `page: { client_id: one, client_secret: "\${PAGE_SECRET}" }`;
const WAYS: Readonly<Record<string, Way>> = {
  delegation: {
    policy: { approvers: `[${ANN}]`, policy: 'delegation: true' },
    prepare: (scene) => scene.delegate(ANN, BEN),
    inVain: [ROY],
    approve: async ({ click }, before) => {
      before?.();
      return (await click(BEN)).open;
    },
    logged: new RegExp(`^voted approve ${BEN} 1 of 1 for ${ANN}$`),
  },
  'quorum of groups': {
    policy: { approvers: EACH },
    inVain: [ROY, ANN],
    approve: async ({ click }, before) => {
      await click(ANN);
      before?.();
      return (await click(BEN)).open;
    },
    logged: new RegExp(`^voted approve ${BEN} 2 of 2`),
  },
  'approver from input': {
    policy: { approvers: `{ from: input.${OWNER} }` },
    inVain: [ROY, ANN],
    approve: async ({ click }, before) => {
      before?.();
      return (await click(BEN)).open;
    },
    logged: new RegExp(`^voted approve ${BEN} 1 of 1`),
  },
  passkey: {
    policy: { approvers: `[${ANN}]`, policy: 'confirm: passkey', more: PAGE },
    inVain: [ROY, ANN],
    approve: async ({ click, signed }, before) => {
      before?.();
      return (await click(ANN, await signed(ANN))).open;
    },
    logged: new RegExp(`^voted approve ${ANN} 1 of 1`),
  },
};
/** The approver that a way reads from the input. */
const owned = (input: JsonObject): JsonObject => ({ ...input, [OWNER]: emailOf(BEN) });

/** Opens a scene whose `default` policy says who approves in one way. */
async function open(
  way: Way,
  parts: NonNullable<Parameters<typeof manifest>[0]> = {},
  options: Pick<SceneOptions, 'acts'> = {},
) {
  const scene = await openScene({ text: manifest({ ...parts, ...way.policy }), ...options });
  await way.prepare?.(scene);
  return {
    ...scene,
    /** Lets everybody click who cannot approve. */
    async inVain() {
      const [waiting] = await scene.store.waitingIn(THREAD);
      expect(waiting).toBeDefined();
      for (const who of nonEmpty(way.inVain)) expect((await scene.click(who)).open).toBe(waiting);
    },
    approve: (before?: () => void) => way.approve(scene, before),
    async logged(): Promise<number> {
      const rows: string[] = [];
      for await (const { event, detail } of scene.store.exportAudit()) rows.push(`${event} ${detail}`);
      expect((await scene.proofs()).problems).toEqual([]);
      return rows.filter((row) => way.logged.test(row)).length;
    },
  };
}

const LOOK = `
  look: { description: Looks., input: { type: object }, http: { method: GET, url: "https://example.com/" }, approval: { require: never } }`;
const PREVIEW = `    preview: { tool: look, input: {}, before: "{{output.paid}}", after: "{{input.amount}}" }`;

/** Books one room, and says so. */
const inner: Model = {
  name: 'inner',
  async reply({ history }) {
    const isAsked = history.at(-1)?.role === 'user';
    const calls = isAsked ? [{ id: 'one', name: 'book', arguments: '{"room":"Ballroom"}' }] : [];
    return { finish: 'stop', text: isAsked ? '' : 'Booked.', calls, usage: undefined };
  },
};

/** A tool whose own model books a room, which pauses once. */
function nestedBooking() {
  const booked: string[] = [];
  const book = defineTool(
    { name: 'book', description: 'Books.', inputSchema: z.object({ room: z.string() }) },
    ({ room }, { resumed, interrupt }) => {
      if (resumed === undefined) interrupt({ why: 'It costs money.' });
      booked.push(room);
      return room;
    },
  );
  const pay = async () => (await generate({ model: inner, prompt: 'Book.', tools: [book] })).text;
  return { booked, pay };
}

/** A server that asks who is coming before it books a table. */
function asking(approval: string) {
  const { manifest: text, notes } = askingManifest('current');
  const [, server = ''] = text.split('tools:\n');
  const booked = () => notes().filter((line) => line.startsWith('booked'));
  return { tools: server.replace(/approval: .*/, `approval: ${approval}`), booked };
}
const answer = { type: 'answer', value: { action: 'accept', content: { name: 'Rita', guests: 3 } } } as const;

describe.each(nonEmpty(Object.entries(WAYS)))('with %s', (_name, way) => {
  test('a changed preview is put before the same people again', async () => {
    let amount = 0;
    const look = () => ({ paid: amount });
    const scene = await open(way, { pay: PREVIEW, tools: LOOK }, { acts: { look } });
    const first = await scene.ask(owned({ amount: 5 }));
    await scene.inVain();
    const second = await scene.approve(() => {
      amount = 1;
    });
    expect(second).toBeDefined();
    expect(second).not.toBe(first);
    expect(scene.paid).toEqual([]);
    await scene.inVain();
    expect(await scene.approve()).toBeUndefined();
    expect(scene.paid).toEqual([owned({ amount: 5 })]);
  });

  test('the reverse of an action needs the same people again', async () => {
    const undo = `    undo: { tool: repay, input: { back: "{{input.amount}}", ${OWNER}: "{{input.${OWNER}}}" } }`;
    const tools = `
  repay: { description: Repays., input: { type: object, properties: { back: { type: number }, ${OWNER}: { type: string } } }, http: { method: POST, url: "https://example.com/" }, approval: { policy: default } }`;
    const scene = await open(way, { pay: undo, tools });
    const request = await scene.ask(owned({ amount: 5 }));
    await scene.inVain();
    await scene.approve();
    expect(scene.paid).toHaveLength(1);
    expect((await scene.click(RITA, { type: 'undo' }, { request })).open).toBeDefined();
    await scene.inVain();
    expect(scene.paid).toHaveLength(1);
    await scene.approve();
    expect(scene.paid).toEqual([owned({ amount: 5 }), owned({ back: 5 })]);
    expect(await scene.logged()).toBe(2);
  });

  test('a server asks the requester after the approval, and the same people approve what was answered', async () => {
    const { tools, booked } = asking('{ policy: default }');
    const approvers = way.policy.approvers?.replace(`input.${OWNER}`, 'input.day') ?? '';
    const scene = await open(
      { ...way, policy: { ...way.policy, approvers } },
      { tools },
      { acts: { book_table: (_name, _input, helpers, run) => run(helpers) } },
    );
    await scene.ask({ day: emailOf(BEN) }, { tool: 'book_table' });
    await scene.click(RITA, answer);
    await scene.inVain();
    expect(booked()).toEqual([]);
    const asked = await scene.approve();
    expect(asked).toBeDefined();
    expect((await scene.click(ANN, answer)).open).toBe(asked);
    expect(booked()).toEqual([]);
    expect((await scene.click(RITA, answer)).open).toBeDefined();
    await scene.inVain();
    expect(booked()).toEqual([]);
    expect(await scene.approve()).toBeUndefined();
    expect(booked()).toHaveLength(1);
    expect(await scene.logged()).toBe(2);
  });

  test('what pauses inside a call needs the same people again', async () => {
    const { booked, pay } = nestedBooking();
    const scene = await open(way, {}, { acts: { pay } });
    await scene.ask(owned({ amount: 5 }));
    await scene.inVain();
    expect(await scene.approve()).toBeDefined();
    await scene.inVain();
    expect(booked).toEqual([]);
    expect(await scene.approve()).toBeUndefined();
    expect(booked).toEqual(['Ballroom']);
    expect(await scene.logged()).toBe(2);
  });

  test('an idempotent call that is tried again needs no second vote', async () => {
    const tried: unknown[] = [];
    const pay = (_name: string, input: unknown) => {
      tried.push(input);
      if (tried.length === 1) throw new Error('The connection was cut');
      return 'paid';
    };
    const scene = await open(way, { pay: '    effect: idempotent' }, { acts: { pay } });
    await scene.ask(owned({ amount: 5 }));
    await scene.inVain();
    await scene.approve();
    await scene.settle();
    expect(tried).toEqual([owned({ amount: 5 }), owned({ amount: 5 })]);
    expect(await scene.logged()).toBe(1);
  });

  test('a first time asks those people, and the next call asks nobody', async () => {
    const approval = '[{ policy: default, when: first.tool }, { require: never }]';
    const scene = await open(way, { approval });
    await scene.ask(owned({ amount: 5 }));
    await scene.inVain();
    await scene.approve();
    expect(await scene.ask(owned({ amount: 6 }))).toBeUndefined();
    expect(scene.paid).toEqual([owned({ amount: 5 }), owned({ amount: 6 })]);
    expect(await scene.logged()).toBe(1);
  });
});

test('nobody who asked approves what a preview shows, and it is read once for both', async () => {
  let looks = 0;
  const look = () => {
    looks += 1;
    return { paid: 0 };
  };
  const scene = await openScene({ text: manifest({ pay: PREVIEW, tools: LOOK }), acts: { look } });
  await scene.ask({}, { tool: '' });
  const request = await scene.ask({ amount: 5 }, { by: ANN });
  expect((await scene.record(request ?? '')).requesters).toEqual(expect.arrayContaining([RITA, ANN]));
  expect(looks).toBe(1);
  expect((await scene.click(ANN)).open).toBe(request);
  expect(scene.paid).toEqual([]);
  await scene.click(BEN);
  expect(scene.paid).toEqual([{ amount: 5 }]);
});

test('a server asks nobody for a call whose preview has changed, and a call that has begun has no preview', async () => {
  const { tools, booked } = asking('{ policy: default }');
  let paid = 0;
  const previewed = `${tools.trimEnd()}
    cards: [{ match: book_table, preview: { tool: look, input: {}, before: "{{output.paid}}", after: "-" } }]
`;
  const scene = await openScene({
    text: manifest({ tools: `${previewed}${LOOK}` }),
    acts: { look: () => ({ paid }), book_table: (_name, _input, helpers, run) => run(helpers) },
  });
  await scene.ask({ day: 'Monday' }, { tool: 'book_table' });
  paid = 7;
  const { open: changed = '' } = await scene.click(ANN);
  expect((await scene.record(changed)).shown.facets.preview?.current).toMatchObject({ before: '7' });
  expect((await scene.click(RITA, answer)).open).toBe(changed);
  await scene.click(ANN);
  const { open: answered = '' } = await scene.click(RITA, answer);
  expect((await scene.record(answered)).shown.facets.preview).toBeUndefined();
  expect(booked()).toEqual([]);
  await scene.click(ANN);
  expect(booked()).toHaveLength(1);
});

test('the reverse of a call with another inside it undoes the outer one', async () => {
  const { booked, pay } = nestedBooking();
  const scene = await openScene({
    text: manifest({
      pay: '    undo: { tool: repay, input: { back: "{{input.amount}}" } }',
      tools: `
  repay: { description: Repays., input: { type: object, properties: { back: { type: number } } }, http: { method: POST, url: "https://example.com/" }, approval: { policy: boss } }`,
    }),
    acts: { pay },
  });
  const request = await scene.ask({ amount: 5 });
  const { open: inside } = await scene.click(ANN);
  expect((await scene.click(RITA, { type: 'undo' }, { request })).open).toBe(inside);
  await scene.click(BEN);
  expect(booked).toEqual(['Ballroom']);
  await scene.click(RITA, { type: 'undo' }, { request });
  await scene.click(ROY);
  expect(scene.paid).toEqual([{ back: 5 }]);
});
