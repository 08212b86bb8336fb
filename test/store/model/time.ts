import { isSettled, settled, UNKNOWN, type Verbs, type World } from './world.ts';

type TimeVerbs = Pick<Verbs, 'notify' | 'recover' | 'purge'>;

/** Applies a timer to a request, never before it is due. */
export function timeModel(world: World): TimeVerbs {
  return {
    notify(requestId, timer, { row, quietUntil = 0, revision, views = [] }) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (timer !== 'ended' && request.state !== (timer === 'recover' ? 'unknown' : 'pending'))
        return settled(request);
      const { remindAt: remind, escalateAt, askAt: recover, endedAt: ended } = request;
      const at = { remind, escalate: escalateAt, recover, ended }[timer];
      if (at === undefined || world.now < at) return { outcome: 'not-due' };
      if (revision !== undefined && request.revision !== revision) return { outcome: 'changed' };
      const { remindEveryMs = 0, escalate } = request.asked.policy;
      const isQuiet = world.now < quietUntil;
      if (timer === 'remind') request.remindAt = isQuiet ? quietUntil : world.now + remindEveryMs;
      if (isQuiet) return { outcome: 'postponed' };
      if (row !== undefined) world.send(row);
      world.addViews(request, views);
      if (timer === 'remind') world.audit(request, 'reminded');
      if (timer === 'recover') request.askAt = undefined;
      if (timer === 'ended') request.endedAt = undefined;
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

    /** Keeps requests that are not settled, not yet read by their thread or seen to, or that another has taken the place of. */
    purge(requestId) {
      const request = world.request(requestId);
      if (request === undefined) return UNKNOWN;
      if (!isSettled(request)) return { outcome: 'not-settled' };
      if (request.asked.step !== undefined) return { outcome: 'not-due' };
      if (world.now < request.since + world.keepMs) return { outcome: 'not-due' };
      const isReplaced = request.again !== undefined && world.request(request.again) !== undefined;
      const isUnread = world.threadOf(request)?.round.includes(requestId) === true;
      if (isUnread || isReplaced || request.endedAt !== undefined) {
        request.purgeAt = world.now + world.keepMs;
        return { outcome: 'not-due' };
      }
      const { requests, outbox } = world;
      const steps = (request.asked.steps ?? []).flatMap(({ id }) => world.request(id) ?? []);
      for (const { asked, views } of [request, ...steps]) {
        requests.delete(asked.id);
        for (const { id } of views) outbox.delete(`view|${asked.id}|${id}`);
      }
      return { outcome: 'purged' };
    },
  };
}
