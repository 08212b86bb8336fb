import type { Actor, Attempt, Continuation } from '../../../src/store/port/values.ts';
import { standsFor, voteBeside } from './delegations.ts';
import { freezeIn } from './freezes.ts';
import { openGrant } from './grants.ts';
import { countAction, countDone, takeBack } from './limits.ts';
import {
  expiryOf,
  isCovered,
  type Request,
  settled,
  UNKNOWN,
  type Verbs,
  votesFor,
  type World,
} from './world.ts';

/** A held action is tried again after this time, if nothing wakes it before. */
const HOLD_MS = 60_000;

type Attempts = 'start' | 'heartbeat' | 'finish' | 'resolve';
type Verb = 'vote' | 'answer' | 'end' | Attempts;

/** The transitions of a request by people and workers; each checks everything before it changes anything. */
export function requestModel(world: World): Pick<Verbs, Verb> {
  /** The first 20 refusals of a person go on record; the same click sent again does not. */
  function refuse<Result extends { readonly outcome: string }>(
    request: Request,
    { who, evidence }: Omit<Actor, 'eligible'>,
    result: Result,
  ): Result {
    const click = JSON.stringify(evidence);
    const { click: last, times = 0 } = request.refused.get(who) ?? {};
    if (times >= 20 || last === click) return result;
    world.audit(request, 'refused', `${result.outcome} ${who}`);
    request.refused.set(who, { click, times: times + 1 });
    return result;
  }

  /** A Run that paused goes on in the turn that has its thread; its round had an end of it already. */
  function goOn(
    request: Request,
    { turn: { threadId, token }, ...continued }: Continuation,
  ): ReturnType<Verbs['finish']> {
    if (!request.asked.id.startsWith(`${threadId}~`)) return UNKNOWN;
    const { state } = continued;
    const payload = 'reason' in continued ? continued.reason : JSON.stringify(continued.summary);
    if (request.state === state && request.payload === payload) return { outcome: 'finished', state };
    if (request.state !== 'paused') return settled(request);
    if (world.thread(threadId)?.lease?.token !== token) return { outcome: 'stale', state: 'paused' };
    if (state === 'paused') {
      world.redraw(request);
    } else {
      world.enter(request, state);
      if (request.asked.step === undefined) request.purgeAt = world.now + world.keepMs;
    }
    request.payload = payload;
    world.audit(request, state, 'continued');
    return { outcome: 'finished', state };
  }

  return {
    vote(requestId, vote) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      const { kind, digest, policy } = request.asked;
      const { who, decision, reason } = vote;
      if (kind !== 'approval' || isCovered(request)) return { outcome: 'not-an-approval' };
      const earlier = request.votes.get(who)?.decision;
      if (earlier === decision) return voted(request);
      if (request.state !== 'pending') return refuse(request, vote, settled(request));
      if (world.now >= expiryOf(request)) return refuse(request, vote, { outcome: 'expired' });
      if (!vote.eligible) return refuse(request, vote, { outcome: 'not-eligible' });
      if (isBarred(request, who)) return refuse(request, vote, { outcome: 'own-request' });
      const delegator = vote.standsFor;
      const isDelegated = delegator === undefined || standsFor(world, request, who, delegator);
      if (!isDelegated) return refuse(request, vote, { outcome: 'not-delegated' });
      if (delegator !== undefined && (requestersOf(request).includes(who) || isBarred(request, delegator)))
        return refuse(request, vote, { outcome: 'own-request' });
      if (vote.shown !== digest) return refuse(request, vote, { outcome: 'not-as-shown' });
      // An approval can be taken back while the request is pending; a rejection stands.
      if (earlier === 'reject') return refuse(request, vote, { outcome: 'already-voted', decision: earlier });

      const beside = voteBeside(request, who, delegator);
      if (beside !== undefined) return refuse(request, vote, { outcome: 'represented', by: beside });

      if (decision === 'approve' && policy.passkey === true && vote.proof === undefined)
        return { outcome: 'not-proven' };
      const rate = (decision === 'reject' ? [] : (vote.rates ?? [])).map((one) => ({ ...one, amount: 1 }));
      if (countAction(world, `vote/${requestId}`, rate) !== undefined)
        return refuse(request, vote, { outcome: 'too-many' });

      const groups = policy.groups === undefined ? {} : { groups: vote.groups ?? [] };
      const grants = vote.grants !== undefined && decision === 'approve' ? { grants: true as const } : {};
      const { grants: before } = request.votes.get(who) ?? {};
      request.votes.set(who, {
        decision,
        at: world.now,
        ...groups,
        ...(delegator !== undefined && { standsFor: delegator }),
        ...(reason !== undefined && reason !== '' && { reason }),
        ...(before && { grants: before }),
        ...grants,
      });
      const count = `${votesFor(request, 'approve')} of ${policy.quorum}`;
      const place = delegator === undefined ? '' : ` for ${delegator}`;
      world.audit(request, 'voted', `${decision} ${who} ${count}${place}`);
      if (decision === 'reject' && votesFor(request, 'reject') >= policy.vetoes) {
        world.settle(request, 'rejected', who, reason);
        world.audit(request, 'rejected', who);
      } else if (votesFor(request, 'approve') >= policy.quorum && isComplete(request)) {
        world.enter(request, 'approved');
        request.by = who;
        request.decidedAt = world.now;
        const { step, steps } = request.asked;
        if (step !== undefined || steps !== undefined) world.moves(step?.plan ?? requestId);
        world.audit(request, 'approved', count);
        const granting = granted(request);
        if (vote.grants !== undefined && granting >= policy.quorum) {
          request.granted = true;
          world.audit(request, 'granted', `${granting} of ${policy.quorum}`);
          openGrant(world, vote.grants, grantersOf(request));
        }
      } else {
        world.redraw(request);
      }
      return voted(request);
    },

    answer(requestId, actor, value) {
      const request = world.request(requestId);
      const payload = JSON.stringify(value);
      if (request === undefined) return UNKNOWN;
      if (request.asked.kind === 'approval') return { outcome: 'is-an-approval' };
      const same = request.by === actor.who && request.payload === payload;
      if (request.state === 'answered' && same) return { outcome: 'answered' };
      if (request.state !== 'pending') return refuse(request, actor, settled(request));
      if (world.now >= expiryOf(request)) return refuse(request, actor, { outcome: 'expired' });
      if (!actor.eligible) return refuse(request, actor, { outcome: 'not-eligible' });
      if (isBarred(request, actor.who)) return refuse(request, actor, { outcome: 'own-request' });
      world.settle(request, 'answered', actor.who, payload);
      world.audit(request, 'answered', actor.who);
      return { outcome: 'answered' };
    },

    end(requestId, end) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      const withdrawn = end.state === 'withdrawn' ? end : undefined;
      const reason = end.state === 'expired' ? '' : (end.reason ?? '');
      if (
        withdrawn !== undefined &&
        withdrawn.isOperator !== true &&
        !requestersOf(request).includes(withdrawn.who)
      )
        return refuse(request, withdrawn, { outcome: 'not-yours' });
      if (request.state === end.state && request.payload === reason) return { outcome: 'ended' };
      const isSuperseded = end.state === 'superseded';
      if (isSuperseded && request.state === 'unknown' && request.payload === reason)
        return { outcome: 'unknown-outcome' };
      const isOpen = withdrawn || isSuperseded ? ['pending', 'approved'] : ['pending'];
      const isLate = !isOpen.includes(request.state) || (withdrawn && request.attempts > 0);
      if (isLate) return withdrawn ? refuse(request, withdrawn, settled(request)) : settled(request);
      if (end.state === 'expired' && world.now < expiryOf(request)) return { outcome: 'not-due' };
      if (request.attempts > 0) {
        world.askPeople(request, reason);
        world.audit(request, 'unknown', `try ${request.attempts}`);
        return { outcome: 'unknown-outcome' };
      }
      world.settle(request, end.state, withdrawn?.who, reason);
      world.audit(request, end.state === 'failed' ? 'abandoned' : end.state, withdrawn?.who);
      return { outcome: 'ended' };
    },

    start(requestId, attempt) {
      const request = world.request(requestId);
      if (request === undefined || request.asked.steps !== undefined) return UNKNOWN;
      const { state, attempts: tries } = request;
      if (state === 'started' && request.attempt === attempt.attempt) return { outcome: 'started', tries };
      const isOpen = state === 'pending' || state === 'approved';
      if (isOpen && request.isWaiting === true) return { outcome: 'not-next' };
      if (request.state === 'pending') return { outcome: 'not-approved', state: request.state };
      if (request.state !== 'approved') return settled(request);
      const { frozenBy } = attempt;
      const planned = frozenBy === undefined ? undefined : { id: `manifest:${encodeURIComponent(frozenBy)}` };
      const freeze = freezeIn(world, attempt.tool) ?? planned;
      if (freeze !== undefined) {
        if (request.held !== freeze.id) {
          request.held = freeze.id;
          world.redraw(request);
          world.audit(request, 'held', freeze.id);
        }
        Object.assign(request, { runAt: world.now + HOLD_MS, isIdle: false });
        return { outcome: 'frozen' };
      }
      const reason = problemAtStart(request, attempt, world.now);
      if (reason !== undefined && tries > 0) {
        world.askPeople(request, reason);
        world.audit(request, 'unknown', `try ${tries} ${reason}`);
        return { outcome: 'unknown-outcome', reason };
      }
      if (reason !== undefined) {
        world.settle(request, 'superseded', '', reason);
        world.audit(request, 'superseded', reason);
        return { outcome: 'superseded', reason };
      }
      if (request.asked.execution.elsewhere === true && attempt.elsewhere !== true) {
        const { decidedAt = world.now, asked } = request;
        request.runAt = decidedAt + (asked.policy.startWithinMs ?? HOLD_MS) + 1;
        return { outcome: 'elsewhere' };
      }
      const { action = '', limits = [] } = attempt.counts ?? {};
      const over = countAction(world, action, limits);
      if (over !== undefined) return over;
      if (limits.length > 0) request.action = action;
      request.done = attempt.done;
      request.attempts += 1;
      request.attempt = attempt.attempt;
      request.firstStart ??= world.now;
      request.startedAt = world.now;
      request.recoverAt = world.now + attempt.heartbeatTimeoutMs;
      world.enter(request, 'started');
      world.audit(request, 'started', `try ${request.attempts} ${request.attempt}`);
      return { outcome: 'started', tries: request.attempts };
    },

    heartbeat(requestId, attempt, heartbeatTimeoutMs, progress = '') {
      const request = world.request(requestId);
      if (request?.state !== 'started' || request.attempt !== attempt)
        return { outcome: 'lost', state: request?.state ?? '' };
      request.recoverAt = world.now + heartbeatTimeoutMs;
      if (progress !== '' && progress !== request.progress) {
        request.progress = progress;
        world.draw(request, 1);
      }
      return { outcome: 'alive' };
    },

    finish(requestId, outcome) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if ('turn' in outcome) return goOn(request, outcome);
      const { attempt, state, message, summary } = outcome;
      const mine = request.attempt === attempt;
      if (mine && ['succeeded', 'failed', 'paused'].includes(request.state))
        return { outcome: 'finished', state: request.state };
      // An attempt that was given up as unknown is believed, until a person or another attempt has gone on.
      if (!mine || (request.state !== 'started' && request.state !== 'unknown')) {
        if (!request.late.has(attempt)) world.audit(request, 'late', `${state} ${attempt}`);
        request.late.add(attempt);
        return { outcome: 'stale', state: request.state };
      }
      world.threadOf(request)?.log.push(message);
      world.settle(request, state, request.by, JSON.stringify(summary));
      if (state === 'failed' && request.action !== undefined) takeBack(world, request.action);
      if (state === 'succeeded') countDone(world, request.done);
      world.audit(request, state, attempt);
      return { outcome: 'finished', state };
    },

    resolve(requestId, actor, verdict, reason, tries) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      const { state } = request;
      const said = `${verdict} ${actor.who}`;
      if (request.verdict === said) return { outcome: 'resolved', state };
      if (state === 'pending' || state === 'approved' || state === 'started')
        return refuse(request, actor, { outcome: 'not-unknown', state });
      if (state !== 'unknown') return refuse(request, actor, settled(request));
      if (!actor.eligible) return refuse(request, actor, { outcome: 'not-eligible' });
      if (verdict === 'run-again' && isBarred(request, actor.who))
        return refuse(request, actor, { outcome: 'own-request' });
      const { quorum, passkey } = request.asked.policy;
      if (verdict === 'run-again' && request.asked.unsigned !== true && (quorum > 1 || passkey === true))
        return refuse(request, actor, { outcome: 'not-eligible' });
      if (verdict === 'run-again' && request.asked.execution.elsewhere === true)
        return refuse(request, actor, { outcome: 'not-eligible' });
      if (tries !== undefined && tries !== request.attempts)
        return refuse(request, actor, { outcome: 'not-as-shown' });
      world.audit(request, 'resolved', said);
      request.verdict = said;
      if (verdict === 'run-again') {
        request.attempt = undefined;
        request.decidedAt = world.now;
        world.enter(request, 'approved');
      } else {
        if (verdict === 'did-not-run' && request.action !== undefined) takeBack(world, request.action);
        if (verdict === 'ran') countDone(world, request.done);
        world.settle(request, 'resolved', actor.who, `${verdict}\n${reason}`);
      }
      return { outcome: 'resolved', state: request.state };
    },
  };
}

function requestersOf({ asked: { requester, requesters = [requester] } }: Request): readonly string[] {
  return requesters;
}

/** Nobody who asked may approve, unless the policy allows it, and nobody whom the separation bars. */
function isBarred(request: Request, who: string): boolean {
  const { barred = [], policy } = request.asked;
  return barred.includes(who) || (requestersOf(request).includes(who) && !policy.selfApproval);
}

/** Each approver group must get its quorum, and nobody counts for two. */
function isComplete({ asked: { policy }, votes }: Request): boolean {
  const people = [...votes.values()].filter(({ decision }) => decision === 'approve');
  return (
    policy.groups === undefined ||
    fillsAll(
      placesOf(policy.groups),
      people.map(({ groups = [] }) => groups),
    )
  );
}

/** The quorum, if those who allow the same again fill it by themselves; else 0. */
function grantersOf({ votes }: Request): string[] {
  return [...votes].flatMap(([who, { decision, grants }]) =>
    decision === 'approve' && grants === true ? [who] : [],
  );
}

function granted(request: Request): number {
  const { policy } = request.asked;
  const people = grantersOf(request).flatMap((who) => request.votes.get(who) ?? []);
  const isWhole =
    policy.groups === undefined
      ? people.length >= policy.quorum
      : fillsAll(
          placesOf(policy.groups),
          people.map(({ groups = [] }) => groups),
        );
  return isWhole ? policy.quorum : 0;
}

/** The number of the group of each place. */
function placesOf(groups: readonly { readonly quorum: number }[]): number[] {
  return groups.flatMap(({ quorum }, index) => new Array<number>(quorum).fill(index + 1));
}

/** Tries everybody who may for the first place, and the others for the rest. */
function fillsAll(places: readonly number[], people: readonly (readonly number[])[]): boolean {
  const [first, ...rest] = places;
  if (first === undefined) return true;
  return people.some(
    (groups, index) =>
      groups.includes(first) &&
      fillsAll(
        rest,
        people.filter((_, at) => at !== index),
      ),
  );
}

function voted(request: Request) {
  const { quorum } = request.asked.policy;
  return {
    outcome: 'voted',
    state: request.state,
    approvals: votesFor(request, 'approve'),
    quorum,
  } as const;
}

/** The approved digest must still hold, enough approvers must still be eligible, and the approval must not be stale. */
function problemAtStart(request: Request, attempt: Attempt, now: number): string | undefined {
  const { asked, votes, decidedAt = now, startedAt = 0 } = request;
  const { quorum, startWithinMs = Number.POSITIVE_INFINITY } = asked.policy;
  if (attempt.digest !== asked.digest) return 'changed';
  const counted = [...votes].filter(
    ([who, { decision }]) => decision === 'approve' && attempt.stillEligible.includes(who),
  );
  if (asked.unsigned !== true && counted.length < quorum) return 'quorum-lost';
  const { groups } = asked.policy;
  // A group counts only for somebody who was in it at the vote and is in it now.
  const still = counted.map(([who, { groups: before = [] }]) =>
    before.filter((number) => attempt.groups?.[who]?.includes(number) === true),
  );
  if (asked.unsigned !== true && groups !== undefined && !fillsAll(placesOf(groups), still))
    return 'quorum-lost';
  // A retry of an action that started in time is never stale.
  return startedAt < decidedAt && now > decidedAt + startWithinMs ? 'stale-approval' : undefined;
}
