import type { DueWork, Store, TimerKind } from '../../port/store.ts';
import type { RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { askAbout, viewFields } from './request-verbs.ts';

type TimerVerbs = Pick<
  Store,
  'expire' | 'remind' | 'escalate' | 'recover' | 'askResolvers' | 'purge' | 'due' | 'offerUndo' | 'noteUndo'
>;

const KINDS: readonly string[] = [
  'expire',
  'remind',
  'escalate',
  'recover',
  'purge',
  'retire',
  'undo',
] satisfies TimerKind[];

/** The timed transitions, the offer of an undo among them, and the look-up of due work. */
export function timerVerbs(run: RunScript): TimerVerbs {
  return {
    async expire(requestId) {
      return (await askAbout(run, 'expire', requestId, [])).plain('expired', 'not-due');
    },

    async remind(requestId, { id, body }, quietUntil) {
      const args = [id, JSON.stringify(body), quietUntil ?? ''];
      return (await askAbout(run, 'remind', requestId, args)).plain('reminded', 'postponed', 'not-due');
    },

    async escalate(requestId, { id, body }, views = []) {
      const listed = viewFields(views);
      if (listed === undefined) return { outcome: 'invalid-view' };
      const args = [id, JSON.stringify(body), ...listed];
      return (await askAbout(run, 'escalate', requestId, args)).plain('escalated', 'not-due');
    },

    async recover(requestId) {
      const answer = await askAbout(run, 'recover', requestId, []);
      if (answer.code === 'retry') return { outcome: 'retry', tries: answer.number(1) };
      return answer.plain('unknown-outcome', 'still-unknown', 'not-due');
    },

    async askResolvers(requestId, revision, { row, views }) {
      const listed = viewFields(views);
      if (listed === undefined) return { outcome: 'invalid-view' };
      const args = [revision, row.id, JSON.stringify(row.body), ...listed];
      return (await askAbout(run, 'ask-resolvers', requestId, args)).plain('asked', 'changed', 'not-due');
    },

    async offerUndo(requestId, withinMs) {
      const reply = await askAbout(run, 'note-undo', requestId, ['offered', '{}', withinMs]);
      return reply.plain('noted', 'not-due');
    },

    async noteUndo(requestId, step, note = {}) {
      const reply = await askAbout(run, 'note-undo', requestId, [step, JSON.stringify(note), 0]);
      return reply.plain('noted', 'not-due');
    },

    async purge(requestId, { early = false } = {}) {
      const answer = await askAbout(run, 'purge', requestId, [early ? 1 : 0]);
      const reply =
        answer.code === 'not-settled'
          ? { outcome: 'not-settled' as const }
          : answer.plain('purged', 'not-due');
      return reply.outcome === 'settled' ? { outcome: 'not-settled' } : reply;
    },

    async due(shard, { overdueMs, limit }): Promise<DueWork> {
      const reply = new ScriptReply(await run('due', { threadId: '', shard, args: [overdueMs, limit] }));
      return {
        threads: reply.list(1),
        runs: reply.list(2),
        timers: reply.list(3).flatMap((entry) => {
          const cut = entry.indexOf('|');
          const kind = entry.slice(0, cut);
          return isTimerKind(kind) ? [{ kind, id: entry.slice(cut + 1) }] : [];
        }),
        hasOutbox: reply.list(4).length > 0,
      };
    },
  };
}

function isTimerKind(kind: string): kind is TimerKind {
  return KINDS.includes(kind);
}
