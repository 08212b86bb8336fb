import { runIdOf } from '../../port/keys.ts';
import type { Store } from '../../port/store.ts';
import { pack, type RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { countValues, doneValues, readRefusal } from './policy/limit-verbs.ts';

type EffectVerbs = Pick<Store, 'startEffect' | 'countCall' | 'finishEffect'>;

/** The verbs about one call in a turn. */
export function effectVerbs(run: RunScript): EffectVerbs {
  return {
    async startEffect({ threadId, token }, start) {
      const { ref, tool, run: attempt, logged, read, messages, evidence } = start;
      const [body, digest] = run.auditBody(evidence);
      const values = pack({
        ...countValues(run, threadId, start),
        attempt,
        tool,
        body,
        digest,
        token,
        ref,
        logged,
        read,
        messages: messages.map((message) => JSON.stringify(message)),
      });
      const id = runIdOf(threadId, ref);
      const reply = new ScriptReply(await run('start', { threadId, requestIds: [id], args: [id, values] }));
      if (reply.code === 'started') return { outcome: 'started', used: reply.number(2) };
      return readRefusal(reply) ?? { outcome: reply.oneOf('stale', 'finished', 'frozen', 'stopped') };
    },

    async countCall(threadId, call) {
      const args = [pack(countValues(run, threadId, call))];
      const reply = new ScriptReply(await run('count-call', { threadId, args }));
      return readRefusal(reply) ?? { outcome: reply.oneOf('counted'), used: reply.number(1) };
    },

    async finishEffect({ threadId, token }, { ref, run: attempt, end, part, evidence, done }) {
      const [body, digest] = run.auditBody(evidence);
      const values = pack({
        attempt,
        outcome: end,
        body,
        digest,
        token,
        action: `${threadId}/${ref}`,
        part: JSON.stringify(part),
        done: doneValues(done),
      });
      const id = runIdOf(threadId, ref);
      const reply = new ScriptReply(await run('finish', { threadId, requestIds: [id], args: [id, values] }));
      return { outcome: reply.oneOf('finished', 'stale') };
    },
  };
}
