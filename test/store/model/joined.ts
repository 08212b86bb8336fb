import { expiryOf, isSettled, type Verbs, votesFor, type World } from './world.ts';

type Joined = 'putAndTake' | 'voteAndStart' | 'sign' | 'finishAndTake';

/** Two verbs in one step are the one after the other, and nothing more. */
export function joinedModel(world: World, verbs: Omit<Verbs, Joined>): Pick<Verbs, Joined> {
  const turnOf = (threadId: string, leaseMs: number) => {
    const taken = verbs.take(threadId, leaseMs);
    return taken.outcome === 'taken' ? taken.turn : undefined;
  };
  return {
    putAndTake(threadId, item, { leaseMs, onlyKnown = false }) {
      const thread = world.thread(threadId);
      const waiting = (thread?.round ?? []).filter((id) => {
        const request = world.request(id);
        return request !== undefined && !isSettled(request);
      });
      if (waiting.length > 0) return { outcome: 'waiting', requestIds: waiting };
      const isRepeated = thread?.lease?.owner === world.caller;
      const put = verbs.put(threadId, item, { onlyKnown });
      if (put.outcome === 'put') return { ...put, turn: turnOf(threadId, leaseMs) };
      if (put.outcome !== 'duplicate' || !isRepeated) return put;
      const place = thread?.inbox.length ?? 0;
      return { outcome: 'put', waiting: 0, place, busy: false, turn: turnOf(threadId, leaseMs) };
    },

    voteAndStart(requestId, vote, attempt) {
      const before = world.request(requestId)?.attempt;
      const voted = verbs.vote(requestId, vote);
      if (voted.outcome !== 'voted') return voted;
      const isDue = world.request(requestId)?.state === 'approved' || before === attempt.attempt;
      return { ...voted, started: isDue ? verbs.start(requestId, attempt) : undefined };
    },

    sign(requestId, { who, evidence, ground, seenAt, attempt, silenceMs }) {
      const request = world.request(requestId);
      const look = { outcome: 'look', loaded: { outcome: 'unknown' } } as const;
      if (request === undefined) return look;
      const { asked, state, principals, views } = request;
      const { requester, digest, details } = asked;
      const [threadId = ''] = requestId.split('~');
      const signed = {
        outcome: 'signed',
        request: { id: requestId, threadId, requester, digest, details, by: who },
        history: undefined,
      } as const;
      if (state === 'started' && request.attempt === attempt) return signed;
      const isAble =
        state === 'pending' &&
        asked.kind === 'approval' &&
        world.now < expiryOf(request) &&
        asked.policy.quorum === 1 &&
        votesFor(request, 'reject') === 0 &&
        (who !== asked.requester || asked.policy.selfApproval) &&
        asked.ground === ground &&
        principals.includes(who) &&
        (seenAt.length === 0 || views.some(({ id }) => seenAt.includes(id)));
      if (!isAble) return look;
      const vote = { who, evidence, eligible: true, shown: asked.digest } as const;
      verbs.vote(requestId, { ...vote, decision: 'approve' });
      verbs.start(requestId, { attempt, silenceMs, digest: asked.digest, stillEligible: [who], evidence });
      return signed;
    },

    finishAndTake(requestId, outcome, leaseMs) {
      const finished = verbs.finish(requestId, outcome);
      if (finished.outcome !== 'finished') return finished;
      const [threadId = ''] = requestId.split('~');
      return { ...finished, turn: turnOf(threadId, leaseMs) };
    },
  };
}
