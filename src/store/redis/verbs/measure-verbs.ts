import type { Store } from '../../port/store.ts';
import type { RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

/** The verb for metrics. */
export function measureVerbs(run: RunScript): Pick<Store, 'measure'> {
  return {
    async measure() {
      const reply = new ScriptReply(await run('measure', { threadId: '', args: [] }));
      const [pending = 0, approved = 0, started = 0, unknown = 0, ...others] = reply.strings(1).map(Number);
      const [quarantinedThreads = 0, waiting = 0, due = 0, oldestMs = 0, overdueTimers = 0] = others;
      return {
        requests: { pending, approved, started, unknown },
        quarantinedThreads,
        outbox: { waiting, due, oldestMs },
        overdueTimers,
      };
    },
  };
}
