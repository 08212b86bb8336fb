import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/agent/json.ts';
import { userMessage } from '../../src/agent/messages.ts';
import { accountsIn } from '../../src/store/documents/accounts.ts';
import { feedbackIn } from '../../src/store/documents/feedback.ts';
import { threadOf } from '../../src/store/port/keys.ts';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { snapshotOf } from '../store/records-snapshot.ts';
import {
  approve,
  ask,
  beginTurn,
  findGrant,
  newThreadId,
  reject,
  suspendTurn,
  takeTurn,
  withdrawal,
} from '../store/support.ts';
import { eachWithRecord } from './support.ts';

const ANN = 'U0ANNA0001';
const BEN = 'U0BEN00001';

const here = eachWithRecord();

const runHere = (...argv: string[]) => here.run(argv);

/** A thread in which somebody wrote, left idle. */
async function write(person: string, text: string): Promise<string> {
  const threadId = newThreadId();
  const turn = await beginTurn(here.store, threadId);
  const messages = [userMessage(`Name: ${text}`, { user: person, role: 'requester' })];
  await suspendTurn(here.store, turn, { messages });
  return threadId;
}

/** Lets the thread read how its request ended. */
async function read(requestId: string): Promise<void> {
  await suspendTurn(here.store, await takeTurn(here.store, threadOf(requestId) ?? ''));
}

/** Everything on record but the audit log. */
async function remains(): Promise<string> {
  const snapshot = await snapshotOf(here.redis.client, here.redis.prefix);
  return JSON.stringify(Object.entries(snapshot).filter(([key]) => !['audit', 'head'].includes(key)));
}

describe('erase', () => {
  test('a limit that counts for each requester forgets the person, and nobody else', async () => {
    const of = (person: string) => ({ key: `refunds|requester|${person}`, windowMs: 3_600_000 });
    const limits = [ANN, BEN].map((person) => ({ ...of(person), amount: 5, max: 10 }));
    await here.store.countCall('T-1', { ref: 'one', limits });
    expect(await remains()).toContain(`requester|${ANN}`);
    expect(await runHere('erase', ANN, '--force')).toMatchObject({ code: 0 });
    expect(await remains()).not.toContain(ANN);
    expect(await here.store.readTotals([of(ANN), of(BEN)])).toEqual([
      { count: 0, sum: 0 },
      { count: 1, sum: 5 },
    ]);
  });

  test("removes a person's threads and requests and nobody else's, and the chain still verifies", async () => {
    await write(ANN, 'my secret wish');
    const other = await write(BEN, 'hello');
    const own = await ask(here.store, { requester: ANN, details: { why: 'Anna wants it' } });
    await here.store.vote(own, reject('U-ben', { reason: 'no' }));
    await read(own);
    const decided = await ask(here.store, { requester: BEN, policy: { principals: [ANN] } });
    await here.store.vote(decided, reject(ANN, { reason: 'because I say so' }));
    await read(decided);
    const unrelated = await ask(here.store, { requester: BEN });
    const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 7 };
    await here.store.spend({ callId: 'c', threadId: 'T', person: ANN, channel: 'C', model: 'm', usage });

    const dry = await runHere('erase', ANN, '--dry-run');
    expect(dry).toMatchObject({ code: 0, out: 'would remove (threads: 1, requests: 2)\n' });
    expect(await remains()).toContain('my secret wish');

    const { code, out } = await runHere('erase', ANN, '--reason', 'asked by letter', '--json');
    expect(code).toBe(0);
    const counts = { threads: 1, requests: 2, rows: 0, feedback: 0, accounts: 0, grants: 0 };
    expect(JSON.parse(out)).toEqual({ person: ANN, ...counts, left: [] });
    const rest = await remains();
    for (const trace of [ANN, 'my secret wish', 'Anna wants it', 'because I say so'])
      expect(rest, trace).not.toContain(trace);
    expect(rest).toContain(other);
    expect(await here.store.load(unrelated)).toMatchObject({ outcome: 'found' });
    expect(await here.store.listUsage(1)).toMatchObject([
      { person: 'erased', inputTokens: 5, outputTokens: 2 },
    ]);

    const { out: rows } = await runHere('audit', '--json');
    expect(rows).toMatch(/"erased".*asked by letter|asked by letter.*"erased"/);
    expect((await verifyChain(here.store)).problems).toEqual([]);
    expect((await runHere('audit', 'verify')).code).toBe(0);
  });

  test("removes a person's feedback, and nobody else's", async () => {
    const threadId = await write(BEN, 'hello');
    for (const person of [ANN, BEN])
      await feedbackIn(here.store).give({ threadId, answer: '1', person, verdict: 'bad' });
    const { out } = await runHere('erase', ANN, '--json');
    expect(JSON.parse(out)).toMatchObject({ feedback: 1, left: [] });
    expect(await remains()).not.toContain(ANN);
    expect(await feedbackIn(here.store).list()).toEqual([
      { threadId, answer: '1', person: BEN, verdict: 'bad' },
    ]);
  });

  test("revokes the grants that a person signed or that were given to them, and nobody else's, and keeps nothing that names them", async () => {
    const open = async (id: string, by: string, details: JsonObject) => {
      const grants = { id, uses: 3, forMs: 3_600_000, details: { ...details, title: 'Refund' } };
      const requestId = await ask(here.store);
      await here.store.vote(requestId, approve(by, { grants }));
      await here.store.end(requestId, withdrawal('U-rita'));
      await read(requestId);
    };
    await open('a', BEN, { requesters: [ANN] });
    await open('b', ANN, { requesters: [BEN] });
    await open('c', 'U-cid', { requesters: [BEN], principals: [ANN, 'U-cid'] });
    await here.store.revokeGrant('b', { who: ANN, eligible: true, evidence: {} });
    expect((await runHere('erase', ANN, '--dry-run')).out).toContain('grants: 2');
    const { out } = await runHere('erase', ANN, '--json');
    expect(JSON.parse(out)).toMatchObject({ grants: 2, left: [] });
    for (const id of ['a', 'b']) expect(JSON.stringify(await findGrant(here.store, id))).not.toContain(ANN);
    const held = (await here.store.listGrants()).filter(({ revokedBy }) => revokedBy === undefined);
    expect(held.map(({ id }) => id)).toEqual(['c']);
    expect((await verifyChain(here.store)).problems).toEqual([]);
  });

  test('removes the trace of an account that its issuer refused', async () => {
    const accounts = accountsIn(here.store);
    await accounts.saveConnection('docs', ANN, { version: 'one', sealed: 'sealed' });
    await accounts.removeConnection('docs', ANN, 'one');
    await runHere('erase', ANN);
    expect(await remains()).not.toContain(ANN);
  });

  test('leaves what is still open, names it, and removes it once it has ended', async () => {
    const open = await ask(here.store, { requester: ANN });
    const first = await runHere('erase', ANN);
    expect(first.code).toBe(1);
    expect(first.out).toContain(`still open: ${open}`);
    expect(await here.store.load(open)).toMatchObject({ outcome: 'found' });
    expect(await here.store.vote(open, approve('U-ben'))).toMatchObject({ outcome: 'voted' });

    await here.store.end(open, { state: 'superseded', reason: 'not needed' });
    expect((await runHere('erase', ANN)).code).toBe(1);
    await read(open);
    expect(await runHere('erase', ANN)).toMatchObject({ code: 0 });
    expect(await here.store.load(open)).toEqual({ outcome: 'unknown' });
  });

  test('finds a person by a name, as a whole word, where the id is missing', async () => {
    const named = await write(BEN, 'Anna Archer wants a refund');
    const annex = await write(BEN, 'the Annarium is closed');
    expect(await runHere('erase', ANN)).toMatchObject({
      out: `nothing of ${ANN} is on record, so nothing was removed\n`,
    });
    expect(await runHere('erase', ANN, '--name', 'Anna Archer', '--name', 'Anna')).toMatchObject({
      code: 0,
      out: 'removed (threads: 1, requests: 0)\n',
    });
    const rest = await remains();
    expect(rest).not.toContain(named);
    expect(rest).toContain(annex);
    expect(await runHere('erase', ANN, '--name', 'An')).toMatchObject({ code: 2 });
  });

  test('names a message that waits to be sent, until it was sent', async () => {
    const threadId = newThreadId();
    await here.store.enqueueOutbox(threadId, { id: `${threadId}/1`, body: { text: `Hello <@${ANN}>` } });
    expect(await runHere('erase', ANN)).toMatchObject({ code: 1 });
    expect((await runHere('erase', ANN)).out).toContain(`still open: ${threadId}/1`);
    const items = await here.store.claimOutbox({ leaseMs: 60_000, limit: 10 });
    for (const item of items) if (item.kind === 'row') await here.store.done(item);
    expect(await runHere('erase', ANN)).toMatchObject({ code: 0 });
  });

  test('needs the id of a person', async () => {
    expect(await runHere('erase')).toMatchObject({ code: 2 });
    expect(await runHere('erase', 'no id')).toMatchObject({ code: 2 });
  });
});
