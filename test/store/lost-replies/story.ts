import { exportIn } from '../../../src/audit/export-progress.ts';
import { delegationsIn } from '../../../src/store/documents/delegations.ts';
import type { Store } from '../../../src/store/port/store.ts';
import type { ClaimedTurn, OutboxItem } from '../../../src/store/port/values.ts';
import type { ScriptName } from '../../../src/store/redis/scripts.ts';
import {
  actor,
  approve,
  attempt,
  effectFinish,
  effectStart,
  found,
  MINUTE_MS,
  message,
  newFreeze,
  newRequest,
  newRun,
  outcome,
  type RequestChanges,
  reject,
  unfreezeVote,
} from '../support.ts';

/** One telling of the story: a store, a thread, and what the steps hand on to each other. */
export interface Telling {
  readonly store: Store;
  readonly threadId: string;
  /** Makes a timer due. */
  hasten(timer: string): Promise<void>;
  /** Breaks a thread's log behind the store's back. */
  spoil(threadId: string): Promise<void>;
  /** Breaks a row of the outbox behind the store's back. */
  spoilRow(rowId: string): Promise<void>;
  turn?: ClaimedTurn;
  items?: readonly OutboxItem[];
}

/** One call whose reply is lost, named after the script that it sends. */
export interface Step {
  readonly script: ScriptName;
  /** Steps before the call, which lose no reply. */
  readonly prepare?: (telling: Telling) => Promise<unknown>;
  readonly call: (telling: Telling) => Promise<unknown>;
  /** The answer when Redis has already run the call; the same as the first by default. */
  readonly again?: unknown;
  /** The number of scripts that the call sends before this one. */
  readonly after?: number;
}

const VIEWS = [{ id: 'thread', place: { channel: 'C1' } }];
const REQUESTS: Readonly<Record<string, RequestChanges>> = {
  run: { views: VIEWS, policy: { quorum: 2 } },
  vetoed: {},
  changed: {},
  silent: {},
  again: {},
  retried: { execution: { idempotent: true } },
  question: { kind: 'question' },
  withdrawn: {},
  stopped: { requester: 'U-zoe' },
  superseded: {},
  abandoned: {},
  doubtful: { unsigned: true },
  expired: { policy: { expiresInMs: 0 } },
  waiting: { policy: { remindEveryMs: 60 * MINUTE_MS, escalate: { afterMs: 0, to: ['U-boss'] } } },
};

const spending = (threadId: string) => ({
  callId: 'one',
  threadId,
  person: 'U-rita',
  channel: 'C1',
  model: 'gpt-6-luna',
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
});

const FAILURE = {
  mostFailures: 5,
  delayMs: 1_000,
  reason: 'it failed',
  notices: [{ id: 'failed', body: { text: 'it failed' } }],
};
const ONE_CLICK = { evidence: { click: 'one' } };
const NOTICE = { id: 'notice', body: { text: 'please look' } };
const by = (who: string) => actor(who, ONE_CLICK);
const yes = (who: string) => approve(who, ONE_CLICK);
const settled = (state: string, who: string) => ({ outcome: 'settled', state, by: who });
const id = ({ threadId }: Telling, name: string) => `${threadId}~${name}`;

async function takeTurn(telling: Telling): Promise<unknown> {
  const taken = await telling.store.claimTurn(telling.threadId, MINUTE_MS);
  if (taken.outcome !== 'claimed') return taken;
  telling.turn = taken.turn;
  // The two tellings start their effects at different times.
  return { ...taken.turn, effects: taken.turn.effects.map(({ firstStart: _, ...effect }) => effect) };
}

function turnOf({ turn }: Telling): ClaimedTurn {
  if (turn === undefined) throw new Error('No turn was taken');
  return turn;
}

async function takeItems(telling: Telling, leaseMs = MINUTE_MS): Promise<string[]> {
  telling.items = await telling.store.claimOutbox({ leaseMs, limit: 100 });
  return telling.items.map(({ item }) => item);
}

function rowOf({ items = [] }: Telling) {
  for (const item of items) if (item.kind === 'row') return item;
  throw new Error('No row was taken');
}

function viewOf({ items = [] }: Telling) {
  for (const item of items) if (item.kind === 'view') return item;
  throw new Error('No view was taken');
}

function summaryOf({ items = [] }: Telling) {
  for (const item of items) if (item.kind === 'summary') return item;
  throw new Error('No summary was taken');
}

async function begin(telling: Telling, name: string): Promise<void> {
  await telling.store.vote(id(telling, name), yes('U-ann'));
  await telling.store.start(id(telling, name), attempt(name, { heartbeatTimeoutMs: 0 }));
}

async function settleAll(telling: Telling): Promise<void> {
  // In the order of their names, which is also that of a list whose entries have the same time.
  for (const name of ['again', 'doubtful', 'retried'])
    await telling.store.resolve(id(telling, name), by('U-ops'), 'ran', 'I looked');
  await telling.store.end(id(telling, 'waiting'), { state: 'withdrawn', ...by('U-rita'), reason: 'enough' });
}

async function lastRow(telling: Telling) {
  let last = { seq: 0, hash: '' };
  for await (const row of telling.store.exportAudit()) last = row;
  return last;
}

const FREEZE = newFreeze('*', { id: 'freeze-1' });
const UNFREEZE = unfreezeVote('*', { id: 'click-1', quorum: 2 });
/** A window with slices of days, so that two tellings of the story count in the same one. */
const USE = { key: 'refunds', amount: 5, max: 9, windowMs: 365 * 24 * 60 * MINUTE_MS };
const GRANT = {
  id: 'g-1',
  uses: 1,
  forMs: 60 * MINUTE_MS,
  details: { tool: 'refund_order' },
};
const DELEGATION = {
  ...{ id: 'd-1', from: 'U-ann', to: 'U-ben', until: Date.now() + 60 * MINUTE_MS, reason: 'away' },
  evidence: {},
};
const END = { from: 'U-ann', id: 'click-3', who: 'U-ann', isAdmin: false, evidence: {} };
const BEN = { ...UNFREEZE, id: 'click-2', who: 'U-ben', stillEligible: ['U-ann'] };

/** Freezes, limits, grants and delegations, while requests wait. */
const POLICY_STEPS: readonly Step[] = [
  { script: 'freeze', call: ({ store }) => store.freeze(FREEZE) },
  { script: 'redraw', call: (telling) => telling.store.redraw(id(telling, 'vetoed'), { cause: 'by hand' }) },
  { script: 'unfreeze', call: ({ store }) => store.unfreeze(UNFREEZE) },
  { script: 'unfreeze', call: ({ store }) => store.unfreeze(BEN) },
  {
    script: 'count-call',
    call: ({ store, threadId }) => store.countCall(threadId, { ref: 'one', limits: [USE] }),
  },
  {
    script: 'count-call',
    call: ({ store, threadId }) => store.countCall(threadId, { ref: 'two', limits: [USE] }),
  },
  { script: 'read-totals', call: ({ store }) => store.readTotals([USE]) },
  {
    script: 'count-call',
    call: ({ store, threadId }) =>
      store.countCall(threadId, { ref: 'three', grant: { id: 'g-1', call: 'three', evidence: {} } }),
  },
  { script: 'revoke-grant', call: ({ store }) => store.revokeGrant('g-1', by('U-ann')) },
  { script: 'write-document', call: ({ store }) => delegationsIn(store).delegate(DELEGATION) },
  { script: 'write-document', call: ({ store }) => delegationsIn(store).end(END) },
];

const THREAD_STEPS: readonly Step[] = [
  {
    script: 'enqueue',
    call: ({ store, threadId }) => store.enqueue(threadId, { id: 'first', body: {} }),
    again: { outcome: 'duplicate' },
  },
  { script: 'claim-turn', call: takeTurn },
  { script: 'renew-lease', call: (telling) => telling.store.renewLease(turnOf(telling), MINUTE_MS) },
  {
    script: 'enqueue',
    call: ({ store, threadId }) => store.enqueue(threadId, { id: 'aside', body: {} }, { onlyKnown: true }),
    again: { outcome: 'duplicate' },
  },
  {
    script: 'start',
    call: (telling) => telling.store.startEffect(turnOf(telling), effectStart('call-1')),
  },
  {
    script: 'finish',
    call: (telling) => telling.store.finishEffect(turnOf(telling), effectFinish('call-1')),
  },
  { script: 'release', call: (telling) => telling.store.release(turnOf(telling)) },
  { script: 'claim-turn', call: takeTurn },
  { script: 'release', call: (telling) => telling.store.release(turnOf(telling), FAILURE) },
  { script: 'claim-turn', call: takeTurn },
  {
    script: 'release',
    call: (telling) => telling.store.release(turnOf(telling), { ...FAILURE, mostFailures: 2 }),
  },
  {
    script: 'unquarantine',
    call: ({ store, threadId }) => store.unquarantine(threadId, {}),
    again: { outcome: 'not-quarantined' },
  },
  { script: 'claim-turn', call: takeTurn },
  { script: 'stop', call: ({ store, threadId }) => store.stop(threadId, by('U-zoe')) },
  {
    script: 'enqueue',
    call: ({ store, threadId }) => store.enqueue(threadId, { id: 'stop', body: {} }, { stops: by('U-yan') }),
    again: { outcome: 'duplicate' },
  },
  { script: 'renew-lease', call: (telling) => telling.store.renewLease(turnOf(telling), MINUTE_MS) },
  {
    script: 'suspend',
    call: (telling) =>
      telling.store.suspend(turnOf(telling), {
        messages: [message('one'), message('two')],
        read: 1,
        requests: Object.entries(REQUESTS).map(([name, changes]) =>
          newRequest(telling.threadId, changes, name),
        ),
        rows: [{ id: 'status', body: { text: 'waiting' } }],
      }),
  },
];

const OUTBOX_STEPS: readonly Step[] = [
  { script: 'outbox-claim', call: (telling) => takeItems(telling, 0) },
  { script: 'outbox-done', prepare: takeItems, call: (telling) => telling.store.done(rowOf(telling)) },
  {
    script: 'outbox-done',
    call: (telling) => telling.store.done(viewOf(telling), { revision: 1, postedAt: { ts: '171.2' } }),
  },
  { script: 'outbox-enqueue', call: ({ store, threadId }) => store.enqueueOutbox(threadId, NOTICE) },
  {
    script: 'outbox-enqueue',
    call: async (telling) => {
      const { store, threadId } = telling;
      telling.items = [await store.enqueueOutbox(threadId, { ...NOTICE, id: 'held' }, MINUTE_MS)];
      return telling.items.length;
    },
  },
  { script: 'outbox-done', call: (telling) => telling.store.done(rowOf(telling)) },
  { script: 'outbox-claim', call: takeItems, again: [] },
  {
    script: 'vote',
    call: (telling) => telling.store.vote(id(telling, 'run'), { ...yes('U-ann'), grants: GRANT }),
  },
  {
    script: 'vote',
    prepare: takeItems,
    call: (telling) => telling.store.vote(id(telling, 'run'), { ...yes('U-ben'), grants: GRANT }),
  },
  {
    script: 'outbox-done',
    call: (telling) => telling.store.done(viewOf(telling), { revision: 2, postedAt: { ts: '171.2' } }),
    again: 'stale',
  },
  {
    script: 'outbox-retry',
    prepare: takeItems,
    call: (telling) => telling.store.retryOutbox(viewOf(telling), MINUTE_MS),
    again: 'stale',
  },
  {
    script: 'outbox-done',
    prepare: async ({ store, threadId, spoilRow }) => {
      await store.enqueueOutbox(threadId, { ...NOTICE, id: 'spoilt' });
      await spoilRow('spoilt');
    },
    call: takeItems,
    after: 1,
  },
  {
    script: 'tell',
    call: ({ store, threadId }) =>
      store.tell(threadId, { id: `${threadId}~one`, revision: 1 }, -1, { after: 0, withinMs: MINUTE_MS }),
  },
  {
    script: 'tell',
    call: ({ store, threadId }) => store.tell(threadId, { id: `${threadId}~two`, revision: 1 }, -1),
  },
  {
    script: 'outbox-done',
    prepare: (telling) => takeItems(telling, 0),
    call: (telling) =>
      telling.store.done(summaryOf(telling), {
        ...{ revision: 2, postedAt: { ts: '171.3' }, number: 1 },
        gone: [`${telling.threadId}~one`],
      }),
  },
];

const RUN_STEPS: readonly Step[] = [
  { script: 'start', call: (telling) => telling.store.start(id(telling, 'run'), attempt('run')) },
  {
    script: 'heartbeat',
    call: (telling) => telling.store.heartbeat(id(telling, 'run'), 'run', MINUTE_MS, '3 of 7'),
  },
  { script: 'finish', call: (telling) => telling.store.finish(id(telling, 'run'), outcome('run')) },
  {
    script: 'note-undo',
    call: (telling) => telling.store.noteUndo(id(telling, 'run'), 'offered', {}, 60 * MINUTE_MS),
  },
  {
    script: 'note-undo',
    prepare: (telling) => telling.hasten(`undo|${id(telling, 'run')}`),
    call: (telling) => telling.store.noteUndo(id(telling, 'run'), 'over'),
  },
  {
    script: 'note-undo',
    call: (telling) => telling.store.noteUndo(id(telling, 'run'), 'asked', { by: 'U-rita' }),
  },
  {
    script: 'start',
    prepare: (telling) => telling.store.vote(id(telling, 'changed'), yes('U-ann')),
    call: (telling) =>
      telling.store.start(id(telling, 'changed'), attempt('changed', { digest: 'digest-2' })),
    again: settled('superseded', ''),
  },
  {
    script: 'recover',
    prepare: (telling) => begin(telling, 'silent'),
    call: (telling) => telling.store.recover(id(telling, 'silent')),
    again: { outcome: 'still-unknown' },
  },
  {
    script: 'notify',
    call: async (telling) => {
      const { revision } = await found(telling.store, id(telling, 'silent'));
      const question = { row: { ...NOTICE, id: 'unknown' }, views: VIEWS, revision };
      return telling.store.notify(id(telling, 'silent'), 'recover', question);
    },
    again: { outcome: 'not-due' },
  },
  {
    script: 'resolve',
    call: (telling) => telling.store.resolve(id(telling, 'silent'), by('U-ops'), 'ran', 'I looked'),
  },
  { script: 'finish', call: (telling) => telling.store.finish(id(telling, 'silent'), outcome('silent')) },
  {
    script: 'recover',
    prepare: (telling) => begin(telling, 'retried'),
    call: (telling) => telling.store.recover(id(telling, 'retried')),
    again: settled('approved', 'U-ann'),
  },
  {
    script: 'resolve',
    prepare: async (telling) => {
      await begin(telling, 'again');
      await telling.store.recover(id(telling, 'again'));
    },
    call: (telling) =>
      telling.store.resolve(id(telling, 'again'), by('U-ops'), 'run-again', 'it had not begun'),
  },
  {
    script: 'end',
    call: (telling) =>
      telling.store.end(id(telling, 'again'), { state: 'superseded', reason: 'not-allowed' }),
  },
  {
    script: 'end',
    call: (telling) =>
      telling.store.end(id(telling, 'retried'), { state: 'withdrawn', ...by('U-rita'), reason: 'enough' }),
  },
  {
    script: 'start',
    call: (telling) =>
      telling.store.start(id(telling, 'retried'), attempt('retried-2', { digest: 'digest-2' })),
    again: settled('unknown', 'U-ann'),
  },
];

const PEOPLE_STEPS: readonly Step[] = [
  {
    script: 'vote',
    call: (telling) =>
      telling.store.vote(id(telling, 'vetoed'), approve('U-eve', { ...ONE_CLICK, eligible: false })),
  },
  {
    script: 'vote',
    call: (telling) => telling.store.vote(id(telling, 'vetoed'), reject('U-ann', ONE_CLICK)),
  },
  {
    script: 'vote',
    call: (telling) => telling.store.vote(id(telling, 'vetoed'), approve('U-ben', ONE_CLICK)),
  },
  { script: 'answer', call: (telling) => telling.store.answer(id(telling, 'question'), by('U-ann'), 'blue') },
  {
    script: 'end',
    call: (telling) => telling.store.end(id(telling, 'withdrawn'), { state: 'withdrawn', ...by('U-eve') }),
  },
  {
    script: 'end',
    call: (telling) => telling.store.end(id(telling, 'withdrawn'), { state: 'withdrawn', ...by('U-rita') }),
  },
  {
    script: 'end',
    call: (telling) =>
      telling.store.end(id(telling, 'superseded'), { state: 'superseded', reason: 'changed' }),
  },
  {
    script: 'end',
    call: (telling) => telling.store.end(id(telling, 'abandoned'), { state: 'failed', reason: 'no channel' }),
  },
  {
    script: 'redraw',
    call: (telling) => telling.store.redraw(id(telling, 'waiting'), { views: VIEWS }),
    again: { outcome: 'redrawn', added: 0 },
  },
  { script: 'end', call: (telling) => telling.store.end(id(telling, 'expired'), { state: 'expired' }) },
  {
    script: 'notify',
    prepare: (telling) => telling.hasten(`remind|${id(telling, 'waiting')}`),
    call: (telling) =>
      telling.store.notify(id(telling, 'waiting'), 'remind', { row: { ...NOTICE, id: 'reminder' } }),
    again: { outcome: 'not-due' },
  },
  {
    script: 'notify',
    call: (telling) =>
      telling.store.notify(id(telling, 'waiting'), 'escalate', {
        row: { ...NOTICE, id: 'escalation' },
        views: [...VIEWS, { id: 'to-U-boss', place: { user: 'U-boss' } }],
      }),
    again: { outcome: 'not-due' },
  },
];

/** Keeps the turn that a call gave beside its own result. */
async function keepTurn<Said extends { readonly outcome: string }>(
  telling: Telling,
  call: Promise<Said>,
): Promise<Said> {
  const said = await call;
  if ('turn' in said && said.turn !== undefined) telling.turn = said.turn as ClaimedTurn;
  return said;
}

const JOINED_STEPS: readonly Step[] = [
  {
    script: 'enqueue',
    prepare: async (telling) => {
      await settleAll(telling);
      await takeTurn(telling);
      await telling.store.suspend(turnOf(telling), { messages: [], read: 0 });
    },
    call: (telling) =>
      keepTurn(
        telling,
        telling.store.enqueue(telling.threadId, { id: 'joined', body: {} }, { leaseMs: MINUTE_MS }),
      ),
  },
  {
    script: 'vote',
    prepare: (telling) =>
      telling.store.suspend(turnOf(telling), {
        messages: [],
        read: 1,
        requests: [newRequest(telling.threadId, {}, 'joined')],
      }),
    call: (telling) => telling.store.vote(id(telling, 'joined'), yes('U-ann'), attempt('joined')),
    again: {
      outcome: 'voted',
      state: 'started',
      approvals: 1,
      quorum: 1,
      started: { outcome: 'started', tries: 1 },
    },
  },
  {
    script: 'finish',
    call: (telling) =>
      keepTurn(
        telling,
        telling.store.finish(id(telling, 'joined'), outcome('joined', { state: 'paused' }), MINUTE_MS),
      ),
  },
  {
    script: 'finish',
    call: (telling) =>
      telling.store.finish(id(telling, 'joined'), {
        turn: turnOf(telling),
        state: 'succeeded',
        summary: 'done',
      }),
  },
];

const END_STEPS: readonly Step[] = [
  {
    script: 'due',
    call: ({ store }) => store.due({ overdueMs: -MINUTE_MS, limit: 100 }),
  },
  {
    script: 'measure',
    call: async ({ store }) => (await store.measure()).requests,
  },
  {
    script: 'write-file',
    call: ({ store, threadId }) =>
      store.writeFile(threadId, 'note', { type: 'text/plain', bytes: Buffer.from('note') }),
  },
  { script: 'write-file', call: ({ store, threadId }) => store.writeFile(threadId, 'note', undefined) },
  { script: 'suspend', call: (telling) => telling.store.suspend(turnOf(telling), { messages: [], read: 0 }) },
  {
    script: 'purge',
    call: (telling) => telling.store.purge(id(telling, 'run')),
    again: { outcome: 'unknown' },
  },
  {
    script: 'retire',
    call: ({ store, threadId }) => store.retire(threadId),
    again: { outcome: 'not-due' },
  },
  {
    script: 'note',
    call: ({ store, threadId }) => store.note('note-1', 'configured', threadId, { sha: 'a' }),
  },
  {
    script: 'trim-audit',
    call: async (telling) => telling.store.trimAudit(await lastRow(telling)),
    again: { outcome: 'trimmed', rows: 0, checkpoints: 0 },
  },
  {
    script: 'spend',
    call: ({ store, threadId }) => store.spend(spending(threadId)),
  },
  {
    script: 'rename-usage',
    call: ({ store, threadId }) => store.renameUsage(spending(threadId).person, 'erased'),
  },
  {
    script: 'write-document',
    call: ({ store }) => store.writeDocument('docs', 'U1', { version: 'one', value: 'first' }),
  },
  {
    script: 'write-document',
    call: ({ store }) => store.writeDocument('docs', 'U1', undefined, { replaces: 'one' }),
  },
  { script: 'write-document', call: ({ store }) => exportIn(store).claim('one', MINUTE_MS) },
  {
    script: 'append-checkpoint',
    call: ({ store }) => store.appendCheckpoint('one', { n: 1, hash: 'one', previous: '', text: '{}' }),
  },
  {
    script: 'quarantine',
    prepare: async ({ store, threadId, spoil }) => {
      await spoil(threadId);
      await store.enqueue(threadId, { id: 'last', body: {} });
    },
    call: ({ store, threadId }) => store.claimTurn(threadId, MINUTE_MS),
    after: 1,
  },
];

/** A Run that no thread made, and the one that takes its place. */
const OPEN_STEPS: readonly Step[] = [
  { script: 'open', call: ({ store }) => store.open(newRun('change')) },
  { script: 'vote', call: ({ store }) => store.vote(newRun('change').id, reject('U-ann', ONE_CLICK)) },
  { script: 'open', call: ({ store }) => store.open(newRun('change_2'), newRun('change').id) },
  { script: 'vote', call: ({ store }) => store.vote(newRun('change_2').id, reject('U-ann', ONE_CLICK)) },
  {
    script: 'notify',
    call: ({ store }) => store.notify(newRun('change_2').id, 'ended', {}),
    again: { outcome: 'not-due' },
  },
];

/** A thread's whole life; it uses every script, most of them in more than one way. */
export const CHAPTERS: readonly (readonly Step[])[] = [
  THREAD_STEPS,
  POLICY_STEPS,
  OUTBOX_STEPS,
  RUN_STEPS,
  PEOPLE_STEPS,
  JOINED_STEPS,
  OPEN_STEPS,
  END_STEPS,
];
