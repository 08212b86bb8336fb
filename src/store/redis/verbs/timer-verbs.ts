import type { DueWork, Store } from '../../port/store.ts';
import { workNamed } from '../../port/work.ts';
import type { RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { askAbout, viewFields } from './request-verbs.ts';

type TimerVerbs = Pick<
  Store,
  'expire' | 'remind' | 'escalate' | 'recover' | 'askResolvers' | 'purge' | 'due' | 'noteUndo'
>;

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

    async recover(requestId, own) {
      const body = own === undefined ? ['', ''] : run.auditBody({ ...own });
      const answer = await askAbout(run, 'recover', requestId, [
        own?.attempt ?? '',
        own?.reason ?? '',
        ...body,
      ]);
      if (answer.code === 'retry') return { outcome: 'retry', tries: answer.number(1) };
      return answer.plain('unknown-outcome', 'still-unknown', 'not-due');
    },

    async askResolvers(requestId, revision, { row, views }) {
      const listed = viewFields(views);
      if (listed === undefined) return { outcome: 'invalid-view' };
      const args = [revision, row.id, JSON.stringify(row.body), ...listed];
      return (await askAbout(run, 'ask-resolvers', requestId, args)).plain('asked', 'changed', 'not-due');
    },

    async noteUndo(requestId, step, note = {}, withinMs = 0) {
      const reply = await askAbout(run, 'note-undo', requestId, [step, JSON.stringify(note), withinMs]);
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

    async due({ overdueMs, limit }): Promise<DueWork> {
      const reply = new ScriptReply(await run('due', { threadId: '', args: [overdueMs, limit] }));
      return {
        threads: reply.list(1),
        runs: reply.list(2),
        timers: reply.list(3).flatMap((entry) => {
          const work = workNamed(entry);
          return work?.kind === 'timer' ? [{ kind: work.timer, id: work.id }] : [];
        }),
        hasOutbox: reply.list(4).length > 0,
      };
    },
  };
}
