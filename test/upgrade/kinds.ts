import { expect } from 'vitest';
import { verifyReceipt } from '../../src/client.ts';
import { command, delegate } from '../stories/delegating.ts';
import { CAST, PLACES, type Thread } from '../stories/support.ts';
import { openWorkshop } from '../stories/workshop.ts';
import type { Running, World } from './world.ts';

const { alice, bruno, admin, requester } = CAST;

/** Ends what was begun, with whatever bots run by then. */
type Finish = (bot: Running) => Promise<void>;
/** A kind of record: writes one with the bot that runs, and returns how people and callers end it. */
export type Kind = (world: World, bot: Running) => Promise<Finish>;

type Workshop = Awaited<ReturnType<typeof openWorkshop>>;
const folderOf = (workshop: Workshop) => workshop.call('').arguments.folder;

/** Asks for a part, in a workshop of its own. */
async function order({ ask }: World, tool: string, hold?: 'before' | 'after') {
  const workshop = await openWorkshop();
  if (hold !== undefined) await workshop.hold(hold);
  return { workshop, thread: ask(`please ${tool} ${folderOf(workshop)}`) };
}

/** Each effect happened once, however often it was tried. */
async function happenedOnce(workshop: Workshop, times = 1): Promise<void> {
  expect(await workshop.linesOf('effects')).toHaveLength(times);
  expect(await workshop.keys('effects')).toHaveProperty('size', times);
}

let looking = Promise.resolve();

/** Says what happened where nobody knows it, and waits for the end of the turn. The admin has one dialog open at a time. */
function lookAndEnd(world: World, thread: Thread): Promise<void> {
  const looked = looking.then(() => look(world, thread));
  looking = looked.catch(() => {});
  return looked;
}

async function look({ workspace, modalFor }: World, thread: Thread): Promise<void> {
  const card = await thread.shows(/Outcome unknown|All ended\./);
  if (!/Outcome unknown/.test(JSON.stringify(card))) return;
  await workspace.as(admin).click({ channel: thread.channel, ts: card.ts }, 'ran');
  const modal = await modalFor(admin);
  await workspace.as(admin).submit(modal.id, { reason: 'I looked.' });
  await thread.shows(/All ended\./);
}

const pending: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'press_part');
  await thread.shows(/Approval needed/);
  return async () => {
    await thread.click(bruno, /Approval needed/, 'approve');
    await thread.shows(/All ended\./);
    await happenedOnce(workshop);
  };
};

const halfApproved: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'engrave_part');
  await thread.click(alice, /Needs 2 approvals/, 'approve');
  await thread.shows(/1 of 2 approvals/);
  return async () => {
    await thread.click(bruno, /1 of 2 approvals/, 'approve');
    await thread.shows(/All ended\./);
    await happenedOnce(workshop);
  };
};

/** Runs when its bot is killed: after its effect, so that nobody knows, if the killed one ran it. */
const running: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'press_part', 'after');
  await thread.click(alice, /Approval needed/, 'approve');
  await workshop.has(1, 'effects');
  return async () => {
    await workshop.release('after');
    await lookAndEnd(world, thread);
    await happenedOnce(workshop);
  };
};

/** Runs when its bot is killed, and another bot tries it again by itself. */
const repeatable: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'stamp_part', 'after');
  await thread.click(alice, /Approval needed/, 'approve');
  await workshop.has(1, 'effects');
  return async () => {
    await workshop.release('after');
    await thread.shows(/All ended\./);
    await happenedOnce(workshop);
  };
};

/** An action that took effect and got no answer; nobody has looked yet. */
const unknown: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'cut_part');
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/Outcome unknown/);
  return async () => {
    await lookAndEnd(world, thread);
    await happenedOnce(workshop);
  };
};

/** A card in the thread and one in a direct message, which says the same in the end. */
const directMessage: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'polish_part');
  const words = (text: string) => new RegExp(`${text}[\\s\\S]*${folderOf(workshop)}`);
  const message = await world.directly(bruno).shows(words('Approval needed'));
  return async () => {
    await world.directly(bruno).click(bruno, words('Approval needed'), 'approve');
    await thread.shows(/All ended\./);
    expect(await world.directly(bruno).shows(words('Done'))).toMatchObject({ ts: message.ts });
    await happenedOnce(workshop);
  };
};

const question: Kind = async ({ ask }) => {
  const thread = ask('please ask_question');
  await thread.shows(/Which one\?/);
  return async () => {
    await thread.click(requester, /Which one\?/, 'choose:1');
    await thread.shows(/All ended\./);
  };
};

/** A plan of which one step has run, the second is asked alone, and the third waits for it. */
const planHalfDone: Kind = async ({ ask }) => {
  const parts = [await openWorkshop(), await openWorkshop(), await openWorkshop()];
  const thread = ask(`please plan_parts ${parts.map(folderOf).join(' ')}`);
  await thread.click(bruno, /Press part 2 times\?/, 'approve');
  await thread.shows(/Approval needed: Paint part/);
  await parts[0]?.has(1, 'effects');
  return async () => {
    await thread.click(alice, /Approval needed: Paint part/, 'approve');
    await thread.shows(/All ended\./);
    for (const part of parts) await happenedOnce(part);
  };
};

const grant: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'drill_part');
  const card = await thread.shows(/Approval needed/);
  const person = world.workspace.as(alice);
  await person.choose({ channel: thread.channel, ts: card.ts }, 'more', 'approve-grant');
  const modal = await world.modalFor(alice, /without asking anyone/);
  await person.submit(modal.id, {});
  await thread.shows(/All ended\./);
  return async () => {
    world.ask(`please drill_part ${folderOf(workshop)}`, { threadTs: thread.ts });
    await thread.shows(/pre-approved by <@\w+> \(1 of 3\)/);
    await workshop.has(2, 'effects');
    await happenedOnce(workshop, 2);
  };
};

const freeze: Kind = async (world) => {
  const { workshop, thread } = await order(world, 'weld_part');
  await thread.shows(/Approval needed/);
  await command(world, admin, 'freeze weld_part Looks wrong');
  await thread.shows(/Frozen: /);
  await thread.click(alice, /Approval needed/, 'approve');
  await thread.shows(/On hold/);
  return async () => {
    expect(await workshop.linesOf('effects')).toEqual([]);
    await command(world, admin, 'unfreeze weld_part');
    await thread.shows(/All ended\./);
    await happenedOnce(workshop);
  };
};

const delegation: Kind = async (world) => {
  await delegate(world, alice, world.dora, 'for 5 days');
  const { workshop, thread } = await order(world, 'coat_part');
  await thread.shows(/Approval needed/);
  return async () => {
    await thread.click(world.dora, /Approval needed/, 'approve');
    await thread.shows(/All ended\./);
    await happenedOnce(workshop);
  };
};

/** A caller that was allowed to run something, and has the receipt. */
const receipt: Kind = async ({ placeIn, publicPem }, { client }) => {
  const title = `Release ${Math.random()}`;
  const { id } = await client.ask({ policy: 'default', title, command: title });
  await placeIn(PLACES.general).click(alice, new RegExp(`Approval needed[\\s\\S]*${title}`), 'approve');
  const { receipt: signed = '' } = await client.waitForAsk(id);
  return async (bot) => {
    const proof = await verifyReceipt(signed, { publicKeys: publicPem, caller: 'release-pipeline' });
    expect(proof).toMatchObject({ ask: id, approvers: [alice] });
    // The client waits no longer than a caller should, which is too short for a busy machine.
    expect([await bot.startAsk(id), await bot.startAsk(id)]).toEqual([200, 409]);
    expect(await bot.client.reportAsk(id, { outcome: 'succeeded' })).toMatchObject({ status: 'succeeded' });
  };
};

/** A caller's call that waits, and a message about it that its address has not taken yet. */
const webhook: Kind = async ({ placeIn, hook }, { client }) => {
  hook.takes = false;
  const workshop = await openWorkshop();
  const { id } = await client.run({ tool: 'press_part', input: { folder: folderOf(workshop) } });
  await expect.poll(() => hook.refused).toBeGreaterThan(0);
  return async (bot) => {
    hook.takes = true;
    await expect.poll(() => hook.taken.has(`${id} waiting`)).toBe(true);
    const words = new RegExp(`Approval needed[\\s\\S]*${folderOf(workshop)}`);
    await placeIn(PLACES.general).click(alice, words, 'approve');
    expect(await bot.client.waitForRun(id)).toMatchObject({ status: 'succeeded' });
    await expect.poll(() => hook.taken.has(`${id} succeeded`)).toBe(true);
    await happenedOnce(workshop);
  };
};

export const KINDS: Readonly<Record<string, Kind>> = {
  pending,
  'half approved': halfApproved,
  running,
  'running, repeatable': repeatable,
  unknown,
  question,
  'a card in a direct message': directMessage,
  'plan half done': planHalfDone,
  grant,
  freeze,
  delegation,
  "a caller's ask with its receipt": receipt,
  "a caller's run with a webhook": webhook,
};
