import type { Verbs, World } from './world.ts';
import { isCovered, isSettled } from './world.ts';

type Joined = 'enqueue' | 'vote' | 'finish';

/** Adds the second step that these verbs can take: two steps at once are the one after the other, and nothing more. */
export function joinedModel(world: World, verbs: Verbs): Pick<Verbs, Joined> {
  const turnOf = (threadId: string, leaseMs: number) => {
    const taken = verbs.claimTurn(threadId, leaseMs);
    return taken.outcome === 'claimed' ? taken.turn : undefined;
  };
  return {
    enqueue(threadId, item, options = {}) {
      const { leaseMs } = options;
      if (leaseMs === undefined) return verbs.enqueue(threadId, item, options);
      const thread = world.thread(threadId);
      const waiting = (thread?.round ?? []).filter((id) => {
        const request = world.request(id);
        return request !== undefined && !isSettled(request) && !isCovered(request);
      });
      if (world.open(thread) > 0) return { outcome: 'waiting', requestIds: waiting };
      const isRepeated = thread?.lease?.owner === world.caller;
      const put = verbs.enqueue(threadId, item, options);
      if (put.outcome === 'enqueued') return { ...put, turn: turnOf(threadId, leaseMs) };
      if (put.outcome !== 'duplicate' || !isRepeated) return put;
      const place = thread?.inbox.length ?? 0;
      return { outcome: 'enqueued', waiting: 0, place, busy: false, turn: turnOf(threadId, leaseMs) };
    },

    vote(requestId, vote, attempt) {
      const before = world.request(requestId)?.attempt;
      const voted = verbs.vote(requestId, vote);
      world.followPlans();
      if (voted.outcome !== 'voted' || attempt === undefined) return voted;
      const isDue = world.request(requestId)?.state === 'approved' || before === attempt.attempt;
      return isDue ? { ...voted, started: verbs.start(requestId, attempt) } : voted;
    },

    finish(requestId, outcome, leaseMs) {
      const finished = verbs.finish(requestId, outcome);
      world.followPlans();
      if (finished.outcome !== 'finished' || leaseMs === undefined) return finished;
      const [threadId = ''] = requestId.split('~');
      return { ...finished, turn: turnOf(threadId, leaseMs) };
    },
  };
}
