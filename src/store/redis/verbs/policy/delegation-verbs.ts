import { z } from 'zod';
import type { Delegation, DelegationStore } from '../../../port/workspace.ts';
import type { Keys } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

const FROM = 'from|';
/** The time, the id, to whom, until when, then why. */
const ENTRY = /^(\d+) (\S+) (\S+) (\d+) (.*)$/s;
const Why = z.object({ reason: z.string() });

/** Keeps the table of delegations. */
export function delegationVerbs(run: RunScript, client: RedisClient, keys: Keys): DelegationStore {
  const change = async (name: 'delegate' | 'end-delegation', args: readonly (string | number)[]) =>
    new ScriptReply(await run(name, { threadId: '', args }));

  return {
    async delegate({ id, from, to, until, reason, evidence }) {
      const body = run.auditBody({ from, to, until, reason, evidence });
      const reply = await change('delegate', [from, id, to, until, JSON.stringify({ reason }), ...body]);
      return { outcome: reply.oneOf('delegated', 'over') };
    },

    async endDelegation({ from, shown = '', id, who, isAdmin, evidence }) {
      const body = run.auditBody({ from, who, evidence });
      const reply = await change('end-delegation', [from, shown, id, who, isAdmin ? 1 : 0, ...body]);
      return { outcome: reply.oneOf('ended', 'none', 'not-eligible') };
    },

    async readDelegations() {
      const table = await client.hgetall(keys.shared('delegations'));
      const delegations = Object.entries(table).flatMap(([name, entry]) =>
        name.startsWith(FROM) ? parseEntry(name.slice(FROM.length), entry) : [],
      );
      return { delegations: delegations.sort(byStart) };
    },
  };
}

function parseEntry(from: string, entry: string): Delegation[] {
  const [, at, id = '', to = '', until, text = ''] = ENTRY.exec(entry) ?? [];
  const { reason } = Why.parse(JSON.parse(text));
  return [{ id, from, to, startedAt: Number(at), until: Number(until), reason }];
}

function byStart(left: Delegation, right: Delegation): number {
  return left.startedAt - right.startedAt || (left.from < right.from ? -1 : 1);
}
