import { z } from 'zod';
import type { Freeze, FreezeStore, FreezeTable, RunningActions } from '../../port/freezes.ts';
import { type Keys, SHARDS } from '../../record/keys.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';
import { askAbout } from './request-verbs.ts';

/** The shard of the table; every shard has a copy of it, so that a start and a freeze meet in one script. */
const TABLE_SHARD = 0;
const ALL_SHARDS = [...Array(SHARDS).keys()];

const SCOPE = 'scope|';
/** The epoch, the time, the id, then who and why. */
const ENTRY = /^\d+ (\d+) (\S+) (.*)$/s;
const Author = z.object({ who: z.string(), reason: z.string() });

/** Keeps the table of freezes, and brings it to all shards. */
export function freezeVerbs(run: RunScript, client: RedisClient, keys: Keys): FreezeStore {
  const readTable = () => client.hgetall(keys.shard(TABLE_SHARD, 'freezes'));

  async function spreadTo(shard: number, table: Readonly<Record<string, string>>) {
    const { epoch = '0' } = table;
    const entries = Object.entries(table).filter(([name]) => name.startsWith(SCOPE));
    const apply = async (isShown: boolean) =>
      new ScriptReply(
        await run('apply-freezes', {
          threadId: '',
          shard,
          args: [epoch, isShown ? 1 : 0, entries.length, ...entries.flat()],
        }),
      );
    const reply = await apply(false);
    if (reply.code === 'current') return { held: [], redrawn: [] };
    const open = reply.list(2);
    for (const requestId of open) await askAbout(run, 'redraw', requestId, [`freezes ${epoch}`]);
    await apply(true);
    return { held: reply.list(1), redrawn: open };
  }

  async function runningIn(shard: number): Promise<RunningActions> {
    const [requestIds, threads] = await Promise.all([
      client.zrangebyscore(keys.shard(shard, 'states'), 3, 3),
      // A thread whose turn runs is due when the lease of the turn ends.
      client.zrange(keys.shard(shard, 'wake'), '0', '-1'),
    ]);
    const journals = await Promise.all(
      threads.map(async (threadId) => ({ threadId, calls: await client.hvals(keys.effects(threadId)) })),
    );
    const effects = journals.flatMap(({ threadId, calls }) =>
      calls.flatMap((call) => {
        const [state, , , , tool = ''] = call.split(' ');
        return state === 'started' ? [{ threadId, tool }] : [];
      }),
    );
    return { requestIds, effects };
  }

  return {
    async freeze({ scope, id, who, reason, evidence }) {
      const body = run.auditBody({ scope, who, reason, evidence });
      const args = [scope, id, JSON.stringify({ who, reason }), ...body];
      const reply = new ScriptReply(await run('freeze', { threadId: '', shard: TABLE_SHARD, args }));
      return { outcome: reply.oneOf('frozen', 'already-frozen') };
    },

    async unfreeze({ scope, shown = '', id, who, eligible, quorum, stillEligible, reason, evidence }) {
      const body = run.auditBody({ scope, who, reason, evidence });
      const args = [scope, shown, id, who, eligible ? 1 : 0, quorum, stillEligible.join(' '), ...body];
      const reply = new ScriptReply(await run('unfreeze', { threadId: '', shard: TABLE_SHARD, args }));
      if (reply.code === 'voted') return { outcome: 'voted', votes: reply.number(1) };
      return { outcome: reply.oneOf('unfrozen', 'not-frozen', 'not-as-shown', 'not-eligible') };
    },

    async readFreezes() {
      return parseTable(await readTable());
    },

    async spreadFreezes(shards = ALL_SHARDS) {
      const table = await readTable();
      const results = await Promise.all(shards.map((shard) => spreadTo(shard, table)));
      return {
        held: results.flatMap(({ held }) => held),
        redrawn: results.flatMap(({ redrawn }) => redrawn),
      };
    },

    async listRunning() {
      const all = await Promise.all(ALL_SHARDS.map(runningIn));
      return {
        requestIds: all.flatMap(({ requestIds }) => requestIds),
        effects: all.flatMap(({ effects }) => effects),
      };
    },
  };
}

function parseTable(table: Readonly<Record<string, string>>): FreezeTable {
  const freezes = Object.entries(table).flatMap(([name, value]): Freeze[] => {
    if (!name.startsWith(SCOPE)) return [];
    const scope = name.slice(SCOPE.length);
    const [, at, id = '', text = ''] = ENTRY.exec(value) ?? [];
    const { who, reason } = Author.parse(JSON.parse(text));
    const votes = (table[`votes|${scope}`] ?? '').split(' ').filter((person) => person !== '');
    return [{ scope, id, at: Number(at), who, reason, votes }];
  });
  return {
    epoch: Number(table.epoch ?? 0),
    freezes: freezes.sort((left, right) => left.at - right.at || (left.scope < right.scope ? -1 : 1)),
  };
}
