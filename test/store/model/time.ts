import { expiryOf, isSettled, settled, UNKNOWN, type Verbs, type World } from './world.ts';

type TimeVerbs = Pick<Verbs, 'expire' | 'remind' | 'escalate' | 'recover' | 'askResolvers' | 'purge'>;

/** Applies a timer to a request, never before it is due. */
export function timeModel(world: World): TimeVerbs {
  return {
    expire(requestId) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (request.state === 'expired') return { outcome: 'expired' };
      if (request.state !== 'pending') return settled(request);
      if (world.now < expiryOf(request)) return { outcome: 'not-due' };
      world.settle(request, 'expired');
      world.audit(request, 'expired');
      return { outcome: 'expired' };
    },

    remind(requestId, row, quietUntil = 0) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (request.state !== 'pending') return settled(request);
      if (request.remindAt === undefined || world.now < request.remindAt) return { outcome: 'not-due' };
      if (world.now < quietUntil) {
        request.remindAt = quietUntil;
        return { outcome: 'postponed' };
      }
      request.remindAt = world.now + (request.asked.policy.remindEveryMs ?? 0);
      world.send(row);
      world.audit(request, 'reminded');
      return { outcome: 'reminded' };
    },

    escalate(requestId, row, views = []) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (request.state !== 'pending') return settled(request);
      if (request.escalateAt === undefined || world.now < request.escalateAt) return { outcome: 'not-due' };
      const to = request.asked.policy.escalate?.to ?? [];
      request.escalateAt = undefined;
      request.principals = [...request.principals, ...to];
      world.addViews(request, views);
      world.send(row);
      world.redraw(request);
      world.audit(request, 'escalated', to.join(' '));
      return { outcome: 'escalated' };
    },

    /** Only an action that is idempotent, young enough and not tried too often is tried again without asking. */
    recover(requestId) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (request.state === 'unknown' && request.askAt !== undefined) return { outcome: 'still-unknown' };
      if (request.state !== 'started') return settled(request);
      const { attempts: tries, firstStart = 0, recoverAt = 0 } = request;
      if (world.now < recoverAt) return { outcome: 'not-due' };
      const { idempotent, maxAttempts, retryForMs } = request.asked.execution;
      if (idempotent && world.now - firstStart < retryForMs && tries < maxAttempts) {
        request.attempt = undefined;
        world.enter(request, 'approved');
        world.audit(request, 'retried', `after try ${tries}`);
        return { outcome: 'retry', tries };
      }
      world.askPeople(request, '');
      world.audit(request, 'unknown', `try ${tries}`);
      return { outcome: 'unknown-outcome' };
    },

    askResolvers(requestId, revision, { row, views }) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (request.state !== 'unknown') return settled(request);
      if (request.askAt === undefined) return { outcome: 'not-due' };
      if (request.revision !== revision) return { outcome: 'changed' };
      request.askAt = undefined;
      world.addViews(request, views);
      world.send(row);
      return { outcome: 'asked' };
    },

    /** Keeps requests that are not settled or not yet read by their thread. */
    purge(requestId) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (!isSettled(request)) return { outcome: 'not-settled' };
      if (world.now < request.since + world.keepMs) return { outcome: 'not-due' };
      if (world.threadOf(request)?.round.includes(requestId)) {
        request.purgeAt = world.now + world.keepMs;
        return { outcome: 'not-due' };
      }
      const { requests, outbox } = world;
      requests.delete(requestId);
      for (const { id } of request.views) outbox.delete(`view|${requestId}|${id}`);
      return { outcome: 'purged' };
    },
  };
}
