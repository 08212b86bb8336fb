import type { CountedCall } from '../../../port/values.ts';
import type { DoneCounter, LimitStore, LimitUse, OverLimit, Ungranted } from '../../../port/workspace.ts';
import type { Named, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

/** Reads the counters of limits. */
export function limitVerbs(run: RunScript): LimitStore {
  return {
    async readTotals(limits) {
      if (limits.length === 0) return [];
      const args = limits.flatMap(({ key, windowMs }) => [key, windowMs]);
      const reply = new ScriptReply(await run('read-totals', { threadId: '', args }));
      return limits.map((_, index) => ({
        count: reply.number(1 + 2 * index),
        sum: reply.number(2 + 2 * index),
      }));
    },
  };
}

/** Writes limits as `uses_of` reads them. */
export function limitValues(limits: readonly LimitUse[] = []): readonly (string | number)[][] {
  return limits.map(({ key, amount, max, windowMs }) => [key, amount, max ?? '', windowMs]);
}

/** Writes the counters of a success as `uses_of` reads them. */
export function doneValues(done: readonly DoneCounter[] = []): readonly (string | number)[][] {
  return limitValues(done.map((counter) => ({ ...counter, amount: 0, max: undefined })));
}

/** Writes the counters of a success as a request keeps them. */
export function keptDone(done: readonly DoneCounter[] = []): string {
  return done.map(({ key, windowMs }) => `${windowMs} ${key}`).join('\n');
}

/** Writes the grant and the limits of a call in a turn. */
export function countValues(run: RunScript, threadId: string, { ref, grant, limits }: CountedCall): Named {
  const [body, digest] = grant === undefined ? ['', ''] : run.auditBody(grant.evidence);
  return {
    action: `${threadId}/${ref}`,
    limits: limitValues(limits),
    grant: grant?.id ?? '',
    call: grant?.call ?? '',
    use_body: body,
    use_digest: digest,
  };
}

/** Reads why a call did not start: a limit would be exceeded, or its grant does not hold any more. */
export function readRefusal(reply: ScriptReply): OverLimit | Ungranted | undefined {
  if (reply.code === 'over') return readOver(reply);
  if (reply.code !== 'ungranted') return undefined;
  const why = new ScriptReply([reply.string(1)]);
  return { outcome: 'ungranted', reason: why.oneOf('unknown', 'revoked', 'expired', 'spent') };
}

export function readOver(reply: ScriptReply): OverLimit {
  return { outcome: 'over', index: reply.number(1) - 1, used: reply.number(2) };
}
