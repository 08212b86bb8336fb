import type { Engine } from '../port/engine.ts';
import type { StartResult, Store, VoteResult } from '../port/store.ts';
import { shardOf, threadOf } from '../record/keys.ts';
import type { NewRequest } from '../record/request-record.ts';
import { wakingDigests } from './waking-digests.ts';

/** Most actions end within this time, and their card is drawn once; the others show that they are running. */
const RUNNING_CARD_MS = 500;

/** Wraps the record: a verb that makes work due wakes a worker for it; a verb that changed nothing wakes none. */
export function wakingStore(store: Store, engine: Pick<Engine, 'wake' | 'markActive'>): Store {
  const wakeThread = (threadId: string): void => engine.wake({ kind: 'thread', threadId });
  const wakeOutbox = (threadId: string): void => engine.wake({ kind: 'outbox', shard: shardOf(threadId) });
  const wakeTimers = ({ id, policy }: NewRequest): void => {
    const { expiresInMs, remindEveryMs, escalate } = policy;
    engine.wake({ kind: 'timer', timer: 'expire', id }, expiresInMs);
    if (remindEveryMs !== undefined) engine.wake({ kind: 'timer', timer: 'remind', id }, remindEveryMs);
    if (escalate !== undefined) engine.wake({ kind: 'timer', timer: 'escalate', id }, escalate.afterMs);
  };
  const redrawn = (requestId: string): void => wakeOutbox(threadOf(requestId) ?? '');
  const settled = (requestId: string): void => {
    wakeThread(threadOf(requestId) ?? '');
    redrawn(requestId);
  };
  const approved = (requestId: string): void => {
    engine.wake({ kind: 'run', requestId });
    redrawn(requestId);
  };
  const unknown = (requestId: string): void => {
    engine.wake({ kind: 'timer', timer: 'recover', id: requestId });
    redrawn(requestId);
  };
  // The deadline has passed, and the record does not show it yet.
  const overdue = (requestId: string): void => engine.wake({ kind: 'timer', timer: 'expire', id: requestId });

  const afterVote = (requestId: string, result: VoteResult): void => {
    if (result.outcome === 'expired') overdue(requestId);
    if (result.outcome !== 'voted') return;
    if (result.state === 'approved') approved(requestId);
    else if (result.state === 'rejected') settled(requestId);
    else redrawn(requestId);
  };
  const afterStart = (requestId: string, result: StartResult, heartbeatTimeoutMs: number): void => {
    if (result.outcome === 'superseded') settled(requestId);
    if (result.outcome === 'unknown-outcome') unknown(requestId);
    if (result.outcome === 'frozen') redrawn(requestId);
    if (result.outcome !== 'started') return;
    engine.wake({ kind: 'outbox', shard: shardOf(threadOf(requestId) ?? '') }, RUNNING_CARD_MS);
    engine.wake({ kind: 'timer', timer: 'recover', id: requestId }, heartbeatTimeoutMs);
  };

  return {
    ...store,
    ...wakingDigests(store, engine),

    async enqueue(threadId, item, options) {
      const result = await store.enqueue(threadId, item, options);
      if (result.outcome === 'enqueued' && result.waiting === 0) wakeThread(threadId);
      return result;
    },

    async enqueueAndClaim(threadId, item, options) {
      const result = await store.enqueueAndClaim(threadId, item, options);
      if (result.outcome !== 'enqueued') return result;
      // A claimed turn reads the item itself.
      if (result.turn === undefined) wakeThread(threadId);
      else engine.markActive(shardOf(threadId));
      return result;
    },

    async claimTurn(threadId, leaseMs) {
      const result = await store.claimTurn(threadId, leaseMs);
      if (result.outcome === 'claimed') engine.markActive(shardOf(threadId));
      return result;
    },

    async renewLease(turn, leaseMs) {
      const result = await store.renewLease(turn, leaseMs);
      if (result.outcome === 'renewed') engine.markActive(shardOf(turn.threadId));
      return result;
    },

    async release(turn) {
      const result = await store.release(turn);
      if (result.outcome === 'released') wakeThread(turn.threadId);
      return result;
    },

    async failTurn(turn, failure) {
      const result = await store.failTurn(turn, failure);
      if (result.outcome === 'quarantined') wakeOutbox(turn.threadId);
      return result;
    },

    async unquarantine(threadId, evidence) {
      const result = await store.unquarantine(threadId, evidence);
      if (result.outcome === 'unquarantined') wakeThread(threadId);
      return result;
    },

    async suspend(turn, end) {
      const result = await store.suspend(turn, end);
      if (result.outcome !== 'suspended') return result;
      const { requests = [], rows = [] } = end;
      const { waiting, unread, withdrawn = [] } = result;
      if (waiting === 0 && (unread > 0 || withdrawn.length > 0)) wakeThread(turn.threadId);
      if (rows.length > 0 || requests.some(({ views = [] }) => views.length > 0)) wakeOutbox(turn.threadId);
      for (const request of requests) wakeTimers(request);
      return result;
    },

    async vote(requestId, vote) {
      const result = await store.vote(requestId, vote);
      afterVote(requestId, result);
      return result;
    },

    async voteAndStart(requestId, vote, attempt) {
      const result = await store.voteAndStart(requestId, vote, attempt);
      if (result.outcome === 'voted' && result.started !== undefined)
        afterStart(requestId, result.started, attempt.heartbeatTimeoutMs);
      else afterVote(requestId, result);
      return result;
    },

    async answer(requestId, actor, value) {
      const result = await store.answer(requestId, actor, value);
      if (result.outcome === 'answered') settled(requestId);
      if (result.outcome === 'expired') overdue(requestId);
      return result;
    },

    async withdraw(requestId, actor, reason) {
      const result = await store.withdraw(requestId, actor, reason);
      if (result.outcome === 'withdrawn') settled(requestId);
      return result;
    },

    async supersede(requestId, reason) {
      const result = await store.supersede(requestId, reason);
      if (result.outcome === 'superseded') settled(requestId);
      if (result.outcome === 'unknown-outcome') unknown(requestId);
      return result;
    },

    async abandon(requestId, reason) {
      const result = await store.abandon(requestId, reason);
      if (result.outcome === 'abandoned') settled(requestId);
      return result;
    },

    async addViews(requestId, views) {
      const result = await store.addViews(requestId, views);
      if (result.outcome === 'added') redrawn(requestId);
      return result;
    },

    async redraw(requestId, cause) {
      const result = await store.redraw(requestId, cause);
      if (result.outcome === 'redrawn') redrawn(requestId);
      return result;
    },

    async offerUndo(requestId, withinMs) {
      const result = await store.offerUndo(requestId, withinMs);
      if (result.outcome === 'noted') engine.wake({ kind: 'timer', timer: 'undo', id: requestId }, withinMs);
      return result;
    },

    async noteUndo(requestId, step, note) {
      const result = await store.noteUndo(requestId, step, note);
      if (result.outcome === 'noted') redrawn(requestId);
      return result;
    },

    async spreadFreezes(shards) {
      const result = await store.spreadFreezes(shards);
      for (const requestId of result.held) engine.wake({ kind: 'run', requestId });
      for (const requestId of result.redrawn) redrawn(requestId);
      return result;
    },

    async start(requestId, attempt) {
      const result = await store.start(requestId, attempt);
      afterStart(requestId, result, attempt.heartbeatTimeoutMs);
      return result;
    },

    async heartbeat(requestId, attempt, heartbeatTimeoutMs, progress = '') {
      const result = await store.heartbeat(requestId, attempt, heartbeatTimeoutMs, progress);
      if (result.outcome === 'alive') engine.markActive(shardOf(threadOf(requestId) ?? ''));
      if (result.outcome === 'alive' && progress !== '') redrawn(requestId);
      return result;
    },

    async finish(requestId, outcome) {
      const result = await store.finish(requestId, outcome);
      if (result.outcome === 'finished') settled(requestId);
      return result;
    },

    async finishAndClaim(requestId, outcome, leaseMs) {
      const result = await store.finishAndClaim(requestId, outcome, leaseMs);
      if (result.outcome !== 'finished') return result;
      if (result.turn === undefined) settled(requestId);
      else redrawn(requestId);
      return result;
    },

    async conclude(turn, requestId, conclusion) {
      const result = await store.conclude(turn, requestId, conclusion);
      if (result.outcome === 'concluded') redrawn(requestId);
      return result;
    },

    async resolve(requestId, actor, verdict, reason, tries) {
      const result = await store.resolve(requestId, actor, verdict, reason, tries);
      if (result.outcome !== 'resolved') return result;
      if (result.state === 'approved') approved(requestId);
      else settled(requestId);
      return result;
    },

    async expire(requestId) {
      const result = await store.expire(requestId);
      if (result.outcome === 'expired') settled(requestId);
      return result;
    },

    async remind(requestId, row, quietUntil) {
      const result = await store.remind(requestId, row, quietUntil);
      if (result.outcome === 'reminded') redrawn(requestId);
      return result;
    },

    async escalate(requestId, row, views) {
      const result = await store.escalate(requestId, row, views);
      if (result.outcome === 'escalated') redrawn(requestId);
      return result;
    },

    async recover(requestId) {
      const result = await store.recover(requestId);
      if (result.outcome === 'retry') approved(requestId);
      // The caller itself looks for the outcome.
      if (result.outcome === 'unknown-outcome') redrawn(requestId);
      return result;
    },

    async askResolvers(requestId, revision, question) {
      const result = await store.askResolvers(requestId, revision, question);
      if (result.outcome === 'asked') redrawn(requestId);
      return result;
    },

    async enqueueOutbox(threadId, row) {
      await store.enqueueOutbox(threadId, row);
      wakeOutbox(threadId);
    },

    async holdOutbox(threadId, row, leaseMs) {
      const held = await store.holdOutbox(threadId, row, leaseMs);
      engine.wake({ kind: 'outbox', shard: held.shard }, leaseMs);
      return held;
    },

    async claimOutbox(shard, options) {
      const items = await store.claimOutbox(shard, options);
      // A full claim means that there may be more.
      if (items.length === options.limit) engine.wake({ kind: 'outbox', shard });
      return items;
    },

    async doneView(item, revision, postedAt, againMs) {
      const result = await store.doneView(item, revision, postedAt, againMs);
      if (result === 'due-again') engine.wake({ kind: 'outbox', shard: item.shard });
      if (againMs !== undefined && againMs > 0 && result !== 'stale')
        engine.wake({ kind: 'outbox', shard: item.shard }, againMs);
      return result;
    },

    async retryOutbox(item, delayMs, options) {
      const result = await store.retryOutbox(item, delayMs, options);
      if (result === 'later') engine.wake({ kind: 'outbox', shard: item.shard }, delayMs);
      return result;
    },
  };
}
