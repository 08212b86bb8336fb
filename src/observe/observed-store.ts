import type { Logger } from 'pino';
import type { OutboxRow, StartResult, Store, Vote, VoteResult } from '../store/port/store.ts';
import type { Metrics } from './metrics.ts';
import { factsOf, factsOfNew, KnownRequests, type RequestFacts } from './request-facts.ts';
import { currentTrace, pastSpan, traceIdOf } from './tracing.ts';

export interface Watch {
  readonly metrics: Metrics;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
}

/** One step of a request, as its log line names it. */
interface Step {
  /** The state that the request is in afterwards. */
  readonly state: string;
  /** Follows "request" in the log. */
  readonly says: string;
  readonly by?: string | undefined;
  /** Whether it ends the wait for people, unless they had decided before. */
  readonly endsWait?: boolean;
  readonly more?: object;
}

/** Wraps the record: each step of a request is one line in the log, one count, and the wait for people is one span. */
export function observedStore(store: Store, { metrics, logger }: Watch): Store {
  const known = new KnownRequests(store);

  async function note(requestId: string, step: Step): Promise<void> {
    const facts = await known.find(requestId);
    if (facts !== undefined) report(facts, step);
  }

  function report(facts: RequestFacts, { state, says, by, endsWait = false, more }: Step): void {
    const { requestId, threadId, kind, tool, policy, requester, trace } = facts;
    const log = state === 'unknown' ? 'warn' : 'info';
    const traceId = traceIdOf(trace);
    logger[log](
      { requestId, threadId, traceId, kind, tool, policy, requester, by, ...more },
      `request ${says}`,
    );
    // A reminder, an escalation and a vote that does not decide leave the request where it is.
    if (state !== 'pending' || says === 'asked')
      metrics.count('countersign_request_transitions_total', { state, policy, tool });
    const now = Date.now();
    const hasWaited = endsWait && facts.decidedAt === undefined;
    if (hasWaited) {
      const seconds = (now - facts.createdAt) / 1_000;
      metrics.time('countersign_request_decision_seconds', { policy, decision: state }, seconds);
      pastSpan(`wait for ${kind}`, facts.createdAt, {
        parent: trace,
        attributes: { 'countersign.request.id': requestId, 'countersign.request.state': state },
      });
    }
    if ((state === 'succeeded' || state === 'failed') && facts.decidedAt !== undefined)
      metrics.time('countersign_request_effect_seconds', { tool, state }, (now - facts.decidedAt) / 1_000);
    known.keep({ ...facts, state, decidedAt: hasWaited && state === 'approved' ? now : facts.decidedAt });
  }

  async function voted(requestId: string, vote: Vote, result: VoteResult): Promise<void> {
    if (result.outcome !== 'voted') return;
    const facts = await known.find(requestId);
    const cast = `${vote.decision} ${vote.who}`;
    // The same vote again changes nothing.
    if (facts === undefined || facts.votes.includes(cast)) return;
    const { state, approvals, quorum } = result;
    const voting = known.keep({ ...facts, votes: [...facts.votes, cast] });
    const more = { approvals, quorum, ...(vote.standsFor !== undefined && { standsFor: vote.standsFor }) };
    const { decision, who: by } = vote;
    if (state !== 'pending') report(voting, { state, says: state, by, endsWait: true, more });
    else
      report(voting, {
        state,
        says: decision === 'approve' ? 'approved in part' : 'rejected in part',
        by,
        more,
      });
  }

  async function started(requestId: string, result: StartResult): Promise<void> {
    if (result.outcome === 'started')
      await note(requestId, { state: 'started', says: 'started', more: { attempt: result.tries } });
    if (result.outcome === 'frozen') logger.info({ requestId }, 'request held');
    if (result.outcome === 'superseded')
      await note(requestId, {
        state: 'superseded',
        says: 'superseded',
        more: { reason: result.reason },
      });
    if (result.outcome === 'unknown-outcome')
      await note(requestId, { state: 'unknown', says: 'unknown', more: { reason: result.reason } });
  }

  return {
    ...store,

    async load(requestId) {
      const loaded = await store.load(requestId);
      if (loaded.outcome === 'found') known.keep(factsOf(loaded.request));
      return loaded;
    },

    async suspend(turn, end) {
      const trace = currentTrace();
      const requests = (end.requests ?? []).map((request) => ({ ...request, trace }));
      const rows = (end.rows ?? []).map((row) => inTrace(row, trace));
      const result = await store.suspend(turn, { ...end, requests, rows });
      if (result.outcome !== 'suspended') return result;
      for (const request of requests) {
        const facts = known.keep(factsOfNew(request, turn.threadId));
        report(facts, { state: facts.state, says: facts.state === 'unknown' ? 'unknown' : 'asked' });
      }
      for (const { requestId, by } of result.withdrawn ?? [])
        await note(requestId, { state: 'withdrawn', says: 'withdrawn', by, endsWait: true });
      return result;
    },

    async vote(requestId, vote) {
      const result = await store.vote(requestId, vote);
      await voted(requestId, vote, result);
      return result;
    },

    async voteAndStart(requestId, vote, attempt) {
      const result = await store.voteAndStart(requestId, vote, attempt);
      if (result.outcome !== 'voted') return result;
      const { started: start } = result;
      await voted(requestId, vote, start === undefined ? result : { ...result, state: 'approved' });
      if (start !== undefined) await started(requestId, start);
      return result;
    },

    async answer(requestId, actor, value) {
      const result = await store.answer(requestId, actor, value);
      if (result.outcome === 'answered')
        await note(requestId, { state: 'answered', says: 'answered', by: actor.who, endsWait: true });
      return result;
    },

    async withdraw(requestId, actor, reason) {
      const result = await store.withdraw(requestId, actor, reason);
      if (result.outcome === 'withdrawn')
        await note(requestId, { state: 'withdrawn', says: 'withdrawn', by: actor.who, endsWait: true });
      return result;
    },

    async supersede(requestId, reason) {
      const result = await store.supersede(requestId, reason);
      if (result.outcome === 'superseded')
        await note(requestId, { state: 'superseded', says: 'superseded', endsWait: true });
      if (result.outcome === 'unknown-outcome')
        await note(requestId, { state: 'unknown', says: 'unknown', more: { reason } });
      return result;
    },

    async start(requestId, attempt) {
      const result = await store.start(requestId, attempt);
      await started(requestId, result);
      return result;
    },

    async finish(requestId, outcome) {
      const result = await store.finish(requestId, outcome);
      if (result.outcome === 'finished')
        await note(requestId, { state: result.state, says: 'finished', more: { state: result.state } });
      return result;
    },

    async finishAndClaim(requestId, outcome, leaseMs) {
      const result = await store.finishAndClaim(requestId, outcome, leaseMs);
      if (result.outcome === 'finished')
        await note(requestId, { state: result.state, says: 'finished', more: { state: result.state } });
      if (result.outcome === 'stale') metrics.count('countersign_leases_lost_total', { kind: 'attempt' });
      return result;
    },

    async conclude(turn, requestId, conclusion) {
      const before = await known.find(requestId);
      const result = await store.conclude(turn, requestId, conclusion);
      const isChanged = result.outcome === 'concluded' && before?.state !== result.state;
      if (isChanged)
        await note(requestId, { state: result.state, says: 'concluded', more: { state: result.state } });
      return result;
    },

    async abandon(requestId, reason) {
      const result = await store.abandon(requestId, reason);
      if (result.outcome === 'abandoned')
        await note(requestId, { state: 'failed', says: 'abandoned', endsWait: true, more: { reason } });
      return result;
    },

    async resolve(requestId, actor, verdict, reason, tries) {
      const result = await store.resolve(requestId, actor, verdict, reason, tries);
      if (result.outcome === 'resolved')
        await note(requestId, { state: result.state, says: 'resolved', by: actor.who, more: { verdict } });
      return result;
    },

    async expire(requestId) {
      const result = await store.expire(requestId);
      if (result.outcome === 'expired')
        await note(requestId, { state: 'expired', says: 'expired', endsWait: true });
      return result;
    },

    async remind(requestId, row, quietUntil) {
      const result = await store.remind(requestId, row, quietUntil);
      if (result.outcome === 'reminded') await note(requestId, { state: 'pending', says: 'reminded' });
      return result;
    },

    async escalate(requestId, row, views) {
      const result = await store.escalate(requestId, row, views);
      if (result.outcome === 'escalated') await note(requestId, { state: 'pending', says: 'escalated' });
      return result;
    },

    async enqueueOutbox(threadId, row) {
      await store.enqueueOutbox(threadId, inTrace(row, currentTrace()));
    },

    async recover(requestId) {
      const result = await store.recover(requestId);
      if (result.outcome === 'retry')
        await note(requestId, { state: 'approved', says: 'retried', more: { attempts: result.tries } });
      if (result.outcome === 'unknown-outcome') await note(requestId, { state: 'unknown', says: 'unknown' });
      return result;
    },
  };
}

/** Lets a message be sent in the trace of the work that wrote it. */
function inTrace({ id, body }: OutboxRow, trace: string | undefined): OutboxRow {
  return { id, body: trace === undefined ? body : { ...body, trace } };
}
