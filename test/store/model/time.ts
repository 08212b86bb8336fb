import { isSettled, settled, UNKNOWN, type Verbs, type World } from './world.ts';

type TimeVerbs = Pick<Verbs, 'notify' | 'recover' | 'purge'>;

/** Applies a timer to a request, never before it is due. */
export function timeModel(world: World): TimeVerbs {
  return {
    notify(requestId, timer, { row, quietUntil = 0, revision, views = [] }) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (request.state !== (timer === 'recover' ? 'unknown' : 'pending')) return settled(request);
      const at = { remind: request.remindAt, escalate: request.escalateAt, recover: request.askAt }[timer];
      if (at === undefined || world.now < at) return { outcome: 'not-due' };
      if (revision !== undefined && request.revision !== revision) return { outcome: 'changed' };
      const { remindEveryMs = 0, escalate } = request.asked.policy;
      const isQuiet = world.now < quietUntil;
      if (timer === 'remind') request.remindAt = isQuiet ? quietUntil : world.now + remindEveryMs;
      if (isQuiet) return { outcome: 'postponed' };
      world.send(row);
      world.addViews(request, views);
      if (timer === 'remind') world.audit(request, 'reminded');
      if (timer === 'recover') request.askAt = undefined;
      if (timer === 'escalate') {
        request.escalateAt = undefined;
        request.principals = [...request.principals, ...(escalate?.to ?? [])];
        world.redraw(request);
        world.audit(request, 'escalated', escalate?.to.join(' '));
      }
      return { outcome: 'sent' };
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
