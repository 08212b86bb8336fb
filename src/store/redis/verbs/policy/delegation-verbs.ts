import { z } from 'zod';
import type { Delegation, DelegationStore } from '../../../port/delegations.ts';
import { type Keys, SHARDS } from '../../../record/keys.ts';
import type { RedisClient, RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';

/** The shard of the table; every shard has a copy of it, so that a vote and the end of a delegation meet in one script. */
const TABLE_SHARD = 0;
const ALL_SHARDS = [...Array(SHARDS).keys()];

const FROM = 'from|';
/** The epoch, the time, the id, to whom, until when, then why. */
const ENTRY = /^\d+ (\d+) (\S+) (\S+) (\d+) (.*)$/s;
const Why = z.object({ reason: z.string() });

/** Keeps the table of delegations, and brings it to all shards. */
export function delegationVerbs(run: RunScript, client: RedisClient, keys: Keys): DelegationStore {
  const readTable = () => client.hgetall(keys.shard(TABLE_SHARD, 'delegations'));
  const change = async (name: 'delegate' | 'end-delegation', args: readonly (string | number)[]) =>
    new ScriptReply(await run(name, { threadId: '', shard: TABLE_SHARD, args }));

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
      const table = await readTable();
      const delegations = Object.entries(table).flatMap(([name, entry]) =>
        name.startsWith(FROM) ? parseEntry(name.slice(FROM.length), entry) : [],
      );
      return { epoch: Number(table.epoch ?? 0), delegations: delegations.sort(byStart) };
    },

    async spreadDelegations(shards = ALL_SHARDS) {
      const { epoch = '0', ...table } = await readTable();
      const entries = Object.entries(table).filter(([name]) => name.startsWith(FROM));
      const args = [epoch, ...entries.flat()];
      await Promise.all(shards.map((shard) => run('apply-delegations', { threadId: '', shard, args })));
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
