import type { EffectRecord } from '../../../src/store/port/values.ts';
import { freezeIn } from './freezes.ts';
import { grantProblem, takeUse, usesOf } from './grants.ts';
import { countAction, countDone, takeBack } from './limits.ts';
import type { Effect, Verbs, World } from './world.ts';

/** Every effect of a turn is on record before it happens, with the messages that led to it. */
export function effectModel(world: World): Pick<Verbs, 'startEffect' | 'countCall' | 'finishEffect'> {
  return {
    startEffect({ threadId, token }, { ref, tool, run, logged, messages, read, limits, grant }) {
      const thread = world.thread(threadId);
      if (thread?.lease?.token !== token || thread.lease.until <= world.now) return { outcome: 'stale' };
      const before = thread.effects.get(ref);
      if (before?.state === 'finished') return { outcome: 'finished' };
      if (before?.state === 'started' && before.run === run)
        return { outcome: 'started', used: usesOf(world, grant) };
      if (thread.stop === token) return { outcome: 'stopped' };
      if (freezeIn(world, tool) !== undefined) return { outcome: 'frozen' };
      const refused = grantProblem(world, grant) ?? countAction(world, `${threadId}/${ref}`, limits);
      if (refused !== undefined) return refused;
      takeUse(world, grant);
      if (thread.log.length === logged) {
        thread.log.push(...messages);
        thread.inbox = thread.inbox.slice(read);
        if (thread.inboxClaimed !== undefined) thread.inboxClaimed -= read;
      }
      const runs = (before?.runs ?? 0) + 1;
      thread.effects.set(ref, {
        state: 'started',
        tool,
        run,
        runs,
        firstStart: before?.firstStart ?? world.now,
      });
      world.auditThread(threadId, 'effect-started', `try ${runs} ${run}`);
      return { outcome: 'started', used: usesOf(world, grant) };
    },

    countCall(threadId, { ref, limits, grant }) {
      const refused = grantProblem(world, grant) ?? countAction(world, `${threadId}/${ref}`, limits);
      if (refused !== undefined) return refused;
      takeUse(world, grant);
      return { outcome: 'counted', used: usesOf(world, grant) };
    },

    finishEffect({ threadId, token }, { ref, run, end, part, done }) {
      const thread = world.thread(threadId);
      const effect = thread?.effects.get(ref);
      if (thread === undefined || thread.token === undefined) return { outcome: 'stale' };
      if (thread.lease?.token !== token || effect === undefined || effect.run !== run) {
        if (thread.late !== run) world.auditThread(threadId, 'effect-late', `${end} ${run}`);
        thread.late = run;
        return { outcome: 'stale' };
      }
      if (effect.state !== 'started') return { outcome: 'finished' };
      if (end === 'failed') takeBack(world, `${threadId}/${ref}`);
      if (end === 'succeeded') countDone(world, done);
      thread.effects.set(ref, { ...effect, state: end === 'paused' ? 'paused' : 'finished', end, part });
      world.auditThread(threadId, `effect-${end}`, run);
      return { outcome: 'finished' };
    },
  };
}

/** An effect as a turn is told of it. */
export function effectRecord(ref: string, { state, run, runs, firstStart, part }: Effect): EffectRecord {
  const base = { ref, run, runs, firstStart };
  if (state === 'started') return { ...base, state };
  if (part === undefined) throw new Error(`The call ${ref} has no result`);
  return { ...base, state, part };
}
