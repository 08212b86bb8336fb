import type { Engine } from './engine-port.ts';
import { shardOf, threadOf } from './keys.ts';
import type { StartResult, Store, VoteResult } from './port.ts';
import type { NewRequest } from './request-record.ts';

/** The same record; after a verb that makes something due it wakes who does it, and a verb that changed nothing wakes nobody. */
export function wakingStore(store: Store, engine: Pick<Engine, 'wake'>): Store {
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
  // Its time is over, and nobody has said so on the record yet.
  const overdue = (requestId: string): void => engine.wake({ kind: 'timer', timer: 'expire', id: requestId });

  const afterVote = (requestId: string, result: VoteResult): void => {
    if (result.outcome === 'expired') overdue(requestId);
    if (result.outcome !== 'voted') return;
    if (result.state === 'approved') approved(requestId);
    else if (result.state === 'rejected') settled(requestId);
    else redrawn(requestId);
  };
  const afterStart = (requestId: string, result: StartResult, silenceMs: number): void => {
    if (result.outcome === 'superseded') settled(requestId);
    if (result.outcome !== 'started') return;
    redrawn(requestId);
    engine.wake({ kind: 'timer', timer: 'recover', id: requestId }, silenceMs);
  };

  return {
    ...store,

    async put(threadId, item, options) {
      const result = await store.put(threadId, item, options);
      if (result.outcome === 'put' && result.waiting === 0) wakeThread(threadId);
      return result;
    },

    async putAndTake(threadId, item, options) {
      const result = await store.putAndTake(threadId, item, options);
      // Whoever was given the turn reads the item in it.
      if (result.outcome === 'put' && result.turn === undefined) wakeThread(threadId);
      return result;
    },

    async suspend(turn, end) {
      const result = await store.suspend(turn, end);
      if (result.outcome !== 'suspended') return result;
      const { requests = [], rows = [] } = end;
      // Something may have been said during the turn.
      if (result.waiting === 0) wakeThread(turn.threadId);
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
        afterStart(requestId, result.started, attempt.silenceMs);
      else afterVote(requestId, result);
      return result;
    },

    async sign(requestId, signature) {
      const result = await store.sign(requestId, signature);
      if (result.outcome === 'signed')
        afterStart(requestId, { outcome: 'started', tries: 1 }, signature.silenceMs);
      return result;
    },

    async answer(requestId, deed, value) {
      const result = await store.answer(requestId, deed, value);
      if (result.outcome === 'answered') settled(requestId);
      if (result.outcome === 'expired') overdue(requestId);
      return result;
    },

    async withdraw(requestId, deed, reason) {
      const result = await store.withdraw(requestId, deed, reason);
      if (result.outcome === 'withdrawn') settled(requestId);
      return result;
    },

    async supersede(requestId, reason) {
      const result = await store.supersede(requestId, reason);
      if (result.outcome === 'superseded') settled(requestId);
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

    async start(requestId, attempt) {
      const result = await store.start(requestId, attempt);
      afterStart(requestId, result, attempt.silenceMs);
      return result;
    },

    async beat(requestId, attempt, silenceMs, progress = '') {
      const result = await store.beat(requestId, attempt, silenceMs, progress);
      if (result.outcome === 'beaten' && progress !== '') redrawn(requestId);
      return result;
    },

    async finish(requestId, outcome) {
      const result = await store.finish(requestId, outcome);
      if (result.outcome === 'finished') settled(requestId);
      return result;
    },

    async finishAndTake(requestId, outcome, leaseMs, expected) {
      const result = await store.finishAndTake(requestId, outcome, leaseMs, expected);
      if (result.outcome !== 'finished') return result;
      if (result.turn === undefined) settled(requestId);
      else redrawn(requestId);
      return result;
    },

    async resolve(requestId, deed, verdict, reason, tries) {
      const result = await store.resolve(requestId, deed, verdict, reason, tries);
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

    async remind(requestId, row) {
      const result = await store.remind(requestId, row);
      if (result.outcome === 'reminded') redrawn(requestId);
      return result;
    },

    async escalate(requestId, row) {
      const result = await store.escalate(requestId, row);
      if (result.outcome === 'escalated') redrawn(requestId);
      return result;
    },

    async recover(requestId) {
      const result = await store.recover(requestId);
      if (result.outcome === 'retry') approved(requestId);
      if (result.outcome === 'unknown-outcome') redrawn(requestId);
      return result;
    },

    async putOutbox(threadId, row) {
      await store.putOutbox(threadId, row);
      wakeOutbox(threadId);
    },

    async takeOutbox(shard, options) {
      const items = await store.takeOutbox(shard, options);
      // A full hand means that there may be more.
      if (items.length === options.limit) engine.wake({ kind: 'outbox', shard });
      return items;
    },

    async doneView(item, revision, stands) {
      const result = await store.doneView(item, revision, stands);
      if (result === 'due-again') engine.wake({ kind: 'outbox', shard: item.shard });
      return result;
    },

    async retryOutbox(item, delayMs) {
      const result = await store.retryOutbox(item, delayMs);
      if (result === 'later') engine.wake({ kind: 'outbox', shard: item.shard }, delayMs);
      return result;
    },
  };
}
