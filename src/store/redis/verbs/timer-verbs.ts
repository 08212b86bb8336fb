import type { Store } from '../../port/store.ts';
import type { DueWork } from '../../port/values.ts';
import { workNamed } from '../../port/work.ts';
import { pack, type RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { askAbout, viewValues } from './about-request.ts';

type TimerVerbs = Pick<Store, 'notify' | 'recover' | 'purge' | 'due' | 'noteUndo'>;

/** The timed transitions, the offer of an undo among them, and the look-up of due work. */
export function timerVerbs(run: RunScript): TimerVerbs {
  return {
    async notify(requestId, timer, { row, quietUntil = '', revision = '', views = [] }) {
      const listed = viewValues(views);
      if (listed === undefined) return { outcome: 'invalid-view' };
      const told = { row_id: row?.id ?? '', row: JSON.stringify(row?.body ?? {}), views: listed };
      const values = pack({ timer, quiet: quietUntil, seen: revision, ...told });
      const reply = await askAbout(run, 'notify', requestId, [values]);
      return reply.plain('sent', 'postponed', 'changed', 'not-due');
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
      const work = reply.list(1).flatMap((name) => workNamed(name) ?? []);
      return {
        threads: work.flatMap((each) => (each.kind === 'thread' ? [each.threadId] : [])),
        runs: work.flatMap((each) => (each.kind === 'run' ? [each.requestId] : [])),
        timers: work.flatMap((each) => (each.kind === 'timer' ? [{ kind: each.timer, id: each.id }] : [])),
        hasOutbox: reply.list(2).length > 0,
      };
    },
  };
}
