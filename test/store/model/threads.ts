import { threadOf } from '../../../src/store/port/keys.ts';
import { type NewRequest, type NewRun, SettledState } from '../../../src/store/port/request-record.ts';
import { THE_MODEL } from '../../../src/store/port/workspace.ts';
import { effectRecord } from './effects.ts';
import { isCovered, isSettled, type Request, type Thread, type Verbs, type World } from './world.ts';

/** A turn that a freeze of the model held is tried again so much later. */
const HOLD_MS = 60_000;

type ThreadVerbs = Pick<
  Verbs,
  | 'enqueue'
  | 'claimTurn'
  | 'renewLease'
  | 'release'
  | 'unquarantine'
  | 'stop'
  | 'waitingIn'
  | 'readThread'
  | 'suspend'
  | 'open'
  | 'retire'
>;

/** What people say of a plan they say of its steps. */
function restOn(plan: Request, step: Request): void {
  let decidedAt: number | undefined;
  Object.defineProperties(step, {
    principals: { get: () => plan.principals },
    votes: { get: () => new Map([...plan.votes].map(([who, { grants: _, ...vote }]) => [who, vote])) },
    decidedAt: {
      get: () => decidedAt ?? plan.decidedAt,
      set: (at: number) => {
        decidedAt = at;
      },
    },
  });
}

/** A thread has one live turn, and none while a request of the last one is open. */
export function threadModel(world: World): ThreadVerbs {
  function lend(thread: Thread, owner: string, token: string, leaseMs: number): void {
    thread.lease = { owner, token, until: world.now + leaseMs };
    thread.token = token;
    thread.wakeAt = thread.lease.until;
  }

  /** Ends the claim of a turn that ends in a regular way. */
  function endClaim(threadId: string, thread: Thread): void {
    thread.lease = undefined;
    thread.claims = 0;
    if (world.suspect?.threadId === threadId) world.suspect = undefined;
  }

  function isBusy({ lease }: Thread): boolean {
    return lease !== undefined && lease.until > world.now;
  }

  function hasTurn({ token, committed }: Thread): boolean {
    return token !== undefined && token !== committed;
  }

  /** Stops the turn that has not ended, and returns its token. */
  function stopTurn(thread: Thread, who: string): string | undefined {
    const { token } = thread;
    if (token === undefined || !hasTurn(thread)) return undefined;
    const others = thread.stop === token ? (thread.stoppers ?? []) : [];
    thread.stoppers = others.includes(who) ? others : [...others, who];
    thread.stop = token;
    return token;
  }

  function open(asked: NewRequest | NewRun): void {
    const { views = [], unsigned = false } = asked;
    const { principals, remindEveryMs, escalate } = asked.policy;
    const isTimed = !unsigned && !isCovered({ asked });
    const request: Request = {
      ...{ asked, principals, views, createdAt: world.now, since: world.now, revision: 1 },
      ...{ votes: new Map(), refused: new Map(), late: new Set<string>(), drawn: new Map() },
      state: unsigned ? ('unknown' as const) : ('pending' as const),
      attempts: unsigned ? 1 : 0,
      done: asked.done,
      remindAt: remindEveryMs === undefined || !isTimed ? undefined : world.now + remindEveryMs,
      escalateAt: escalate === undefined || !isTimed ? undefined : world.now + escalate.afterMs,
      ...(asked.step !== undefined && { isWaiting: true }),
    };
    const plan = world.request(asked.step?.plan ?? '');
    if (plan !== undefined && isCovered({ asked })) restOn(plan, request);
    world.requests.set(asked.id, request);
    world.draw(request);
    if (unsigned) world.audit(request, 'unknown', 'try 1');
    else world.audit(request, 'asked', isCovered({ asked }) ? 'step' : asked.kind);
  }

  /** The requests of a turn that its stop has withdrawn, or somebody since. */
  function withdrawnBy({ stop, round }: Thread, token: string) {
    const withdrawn = round.flatMap((requestId) => {
      const { state, by = '' } = world.request(requestId) ?? {};
      return stop === token && state === 'withdrawn' ? [{ requestId, by }] : [];
    });
    return withdrawn.length === 0 ? {} : { withdrawn };
  }

  function settlement(requestId: string) {
    const { state, by = '', payload = '' } = world.request(requestId) ?? {};
    return { requestId, state: SettledState.parse(state), by, payload };
  }

  return {
    enqueue(threadId, item, { onlyKnown = false, bodyAtWork, stops } = {}) {
      if (onlyKnown && world.thread(threadId) === undefined) return { outcome: 'unknown-thread' };
      const thread: Thread = world.thread(threadId) ?? {
        seen: new Set(),
        log: [],
        inbox: [],
        round: [],
        effects: new Map(),
        files: new Map(),
      };
      if (thread.seen.has(item.id)) return { outcome: 'duplicate' };
      world.threads.set(threadId, thread);
      thread.seen.add(item.id);
      const isAtWork = hasTurn(thread) || thread.round.length > 0 || thread.inbox.length > 0;
      thread.inbox.push(isAtWork && bodyAtWork !== undefined ? { id: item.id, body: bodyAtWork } : item);
      thread.retireAt = undefined;
      const waiting = world.open(thread);
      if (waiting === 0) thread.wakeAt ??= world.now;
      const stop = stops && { stop: { token: stopTurn(thread, stops.who), at: world.now } };
      return { outcome: 'enqueued', waiting, place: thread.inbox.length, busy: hasTurn(thread), ...stop };
    },

    claimTurn(threadId, leaseMs) {
      const thread = world.thread(threadId);
      if (thread === undefined) return { outcome: 'idle' };
      const { lease, log, inbox, round, effects } = thread;
      if (thread.quarantine !== undefined) {
        thread.wakeAt = undefined;
        return { outcome: 'quarantined', reason: thread.quarantine };
      }
      const held = isBusy(thread) ? lease : undefined;
      if (held !== undefined && held.owner !== world.caller) return { outcome: 'busy', until: held.until };
      const requests = world.open(thread);
      if (requests > 0) return { outcome: 'waiting', requests };
      if (inbox.length === 0 && round.length === 0 && effects.size === 0) {
        thread.wakeAt = undefined;
        return { outcome: 'idle' };
      }
      const { claims = 0 } = thread;
      const { suspect } = world;
      if (held === undefined && claims >= 5) return { outcome: 'died', token: thread.token ?? '' };
      if (held === undefined && claims >= 2) {
        if (suspect !== undefined && suspect.threadId !== threadId && suspect.until > world.now)
          return { outcome: 'busy', until: suspect.until };
        world.suspect = { threadId, until: world.now + leaseMs };
      }
      if (held === undefined) {
        world.tokens += 1;
        thread.claims = claims + 1;
      }
      const token = held?.token ?? String(world.tokens);
      // A stop is for the turn that was running until it ends, whoever ends it, and for nothing that was written later.
      const isStopped =
        thread.stop !== undefined && thread.stop === thread.token && thread.committed !== thread.token;
      const given = isStopped ? inbox.slice(0, Math.max(0, thread.inboxClaimed ?? inbox.length)) : inbox;
      if (isStopped) thread.stop = token;
      thread.inboxClaimed = given.length;
      lend(thread, world.caller, token, leaseMs);
      const journal = [...effects].map(([ref, effect]) => effectRecord(ref, effect));
      const turn = {
        ...{ threadId, token, messages: [...log], inbox: [...given], settled: round.map(settlement) },
        effects: journal.sort((a, b) => (a.ref < b.ref ? -1 : 1)),
        ...(isStopped && { isStopped: true as const }),
      };
      return { outcome: 'claimed', turn };
    },

    renewLease({ threadId, token }, leaseMs) {
      const thread = world.thread(threadId);
      if (thread?.lease?.token !== token) return { outcome: 'stale' };
      lend(thread, thread.lease.owner, token, leaseMs);
      if (world.suspect?.threadId === threadId) world.suspect = { threadId, until: world.now + leaseMs };
      if (thread.stop === token) return { outcome: 'stopped' };
      return { outcome: world.table.freezes.has(THE_MODEL) ? 'held' : 'renewed' };
    },

    unquarantine(threadId) {
      const thread = world.thread(threadId);
      if (thread?.quarantine === undefined) return { outcome: 'not-quarantined' };
      world.auditThread(threadId, 'unquarantined', thread.quarantine);
      Object.assign(thread, { quarantine: undefined, failures: 0, failed: undefined, wakeAt: world.now });
      thread.quarantinedAt = undefined;
      return { outcome: 'unquarantined' };
    },

    release({ threadId, token }, failure) {
      const thread = world.thread(threadId);
      if (failure !== undefined && thread?.failed === token)
        return { outcome: thread.quarantine === undefined ? 'failed' : 'quarantined' };
      if (thread?.token !== token || thread.committed === token) return { outcome: 'stale' };
      if (thread.lease?.token !== token) return { outcome: failure === undefined ? 'released' : 'stale' };
      endClaim(threadId, thread);
      if (failure === undefined) {
        thread.wakeAt = world.now + (world.table.freezes.has(THE_MODEL) ? HOLD_MS : 0);
        return { outcome: 'released' };
      }
      const { mostFailures, delayMs, reason, notices } = failure;
      const failures = (thread.failures ?? 0) + 1;
      Object.assign(thread, { failures, failed: token });
      if (failures < mostFailures) {
        thread.wakeAt = world.now + delayMs * 2 ** (failures - 1);
        return { outcome: 'failed' };
      }
      Object.assign(thread, { quarantine: reason, wakeAt: undefined, retireAt: undefined });
      thread.quarantinedAt = world.now;
      for (const notice of notices) world.send(notice);
      world.auditThread(threadId, 'quarantined', reason);
      return { outcome: 'quarantined' };
    },

    stop(threadId, { who }) {
      const thread = world.thread(threadId);
      const token = thread && stopTurn(thread, who);
      return { outcome: token === undefined ? 'idle' : 'stopping' };
    },

    waitingIn(threadId) {
      return (world.thread(threadId)?.round ?? []).filter((id) => {
        const request = world.request(id);
        return request !== undefined && !isSettled(request) && !isCovered(request);
      });
    },

    readThread(threadId) {
      const { log = [], inbox = [], seen = [], quarantine } = world.thread(threadId) ?? {};
      const read = { messages: [...log], inbox: [...inbox], seen: [...seen].sort() };
      return quarantine === undefined ? read : { ...read, isQuarantined: true };
    },

    suspend({ threadId, token }, { messages, read, requests = [], rows = [] }) {
      const thread = world.thread(threadId);
      const foreign = requests.find(({ id }) => threadOf(id) !== threadId);
      if (foreign !== undefined) return { outcome: 'foreign-request', requestId: foreign.id };
      if (thread?.committed === token)
        return {
          ...{ outcome: 'suspended', waiting: world.open(thread), unread: thread.inbox.length },
          ...withdrawnBy(thread, token),
        };
      if (thread?.lease?.token !== token) return { outcome: 'stale' };
      const existing = requests.find(({ id }) => world.request(id) !== undefined);
      if (existing !== undefined) return { outcome: 'existing-request', requestId: existing.id };
      thread.log.push(...messages);
      thread.inbox = thread.inbox.slice(read);
      thread.round = requests.map(({ id }) => id);
      thread.committed = token;
      thread.effects.clear();
      thread.failures = 0;
      endClaim(threadId, thread);
      thread.inboxClaimed = undefined;
      thread.wakeAt = requests.length === 0 && thread.inbox.length > 0 ? world.now : undefined;
      if (requests.length === 0) thread.retireAt = world.now + world.keepMs;
      const earlier = new Set(world.outbox.keys());
      for (const row of rows) world.send(row);
      for (const request of requests) open(request);
      // What one turn sends goes out in its order.
      const cards = requests.flatMap(({ id, views = [] }) => views.map((view) => `view|${id}|${view.id}`));
      [...rows.map(({ id }) => `row|${id}`), ...cards].forEach((item, index) => {
        const sent = world.outbox.get(item);
        if (sent !== undefined && !earlier.has(item)) sent.at = world.now - 1 + (index + 1) / 1024;
      });
      for (const { id, requester, requesters = [requester], unsigned = false } of requests) {
        const stoppers = thread.stop === token ? (thread.stoppers ?? []) : [];
        const who = stoppers.find((person) => requesters.includes(person));
        const request = world.request(id);
        if (unsigned || who === undefined || request === undefined) continue;
        world.settle(request, 'withdrawn', who);
        const place = isCovered(request) ? `plan ${request.asked.step?.number}` : who;
        world.audit(request, 'withdrawn', place);
      }
      // Each was drawn as it is.
      for (const { id } of requests) {
        const request = world.request(id);
        if (request !== undefined) request.revision = Math.min(request.revision, 2);
      }
      return {
        ...{ outcome: 'suspended', waiting: world.open(thread), unread: thread.inbox.length },
        ...withdrawnBy(thread, token),
      };
    },

    open(run, former) {
      if (world.request(run.id) !== undefined) return { outcome: 'opened' };
      const before = former === undefined ? undefined : world.request(former);
      if (former !== undefined && before?.endedAt === undefined) return { outcome: 'not-due' };
      open(run);
      if (before !== undefined) Object.assign(before, { endedAt: undefined, again: run.id });
      return { outcome: 'opened' };
    },

    retire(threadId) {
      const thread = world.thread(threadId);
      if (thread?.retireAt === undefined || world.now < thread.retireAt) return { outcome: 'not-due' };
      if (thread.lease !== undefined || world.open(thread) > 0 || thread.inbox.length > 0) {
        // A turn that leaves the thread with nothing to do sets the time anew.
        thread.retireAt = undefined;
        return { outcome: 'in-use' };
      }
      world.threads.delete(threadId);
      return { outcome: 'retired' };
    },
  };
}
