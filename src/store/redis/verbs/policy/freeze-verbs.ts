import { z } from 'zod';
import { isCallInTurn, type Keys, threadOf } from '../../../port/keys.ts';
import { type Freeze, type FreezeStore, type FreezeTable, THE_MODEL } from '../../../port/workspace.ts';
import { pack, type RedisClient, type RunScript } from '../../run-script.ts';
import { ScriptReply } from '../../script-reply.ts';
import { askAbout } from '../about-request.ts';

const SCOPE = 'scope|';
/** The time, the id, then who and why. */
const ENTRY = /^(\d+) (\S+) (.*)$/s;
const Author = z.object({ who: z.string(), reason: z.string() });

/** Keeps the table of freezes. */
export function freezeVerbs(run: RunScript, client: RedisClient, keys: Keys): FreezeStore {
  /** Lists what has work of this kind, the first due first. */
  const idsOf = async (kind: 'run' | 'thread'): Promise<string[]> => {
    const names = await client.zrange(keys.shared('timers'), '0', '-1');
    return names.flatMap((name) => (name.startsWith(`${kind}|`) ? [name.slice(kind.length + 1)] : []));
  };

  return {
    async freeze({ scope, id, who, reason, evidence }) {
      const body = run.auditBody({ scope, who, reason, evidence });
      const args = [scope, id, JSON.stringify({ who, reason }), ...body];
      const reply = new ScriptReply(await run('freeze', { threadId: '', args }));
      return { outcome: reply.oneOf('frozen', 'already-frozen') };
    },

    async unfreeze({ scope, shown = '', id, who, eligible, quorum, stillEligible, reason, evidence }) {
      const [body, digest] = run.auditBody({ scope, who, reason, evidence });
      const voter = { who, eligible: eligible ? 1 : 0, quorum, still: stillEligible.join(' ') };
      const values = pack({ scope, shown, click: id, ...voter, body, digest });
      const reply = new ScriptReply(await run('unfreeze', { threadId: '', args: [values] }));
      if (reply.code === 'voted') return { outcome: 'voted', votes: reply.number(1) };
      return { outcome: reply.oneOf('unfrozen', 'not-frozen', 'not-as-shown', 'not-eligible') };
    },

    async readFreezes() {
      return parseTable(await client.hgetall(keys.shared('freezes')));
    },

    async showFreeze(change) {
      const open = await client.zrangebyscore(keys.shared('states'), 1, 2);
      for (const requestId of open)
        await askAbout(run, 'redraw', requestId, [pack({ cause: `freeze ${change}`, views: [] })]);
      const toRun = await idsOf('run');
      for (const requestId of toRun) run.wake({ kind: 'run', requestId });
      // Turns that a freeze of the model held; one that runs is busy.
      const { freezes } = parseTable(await client.hgetall(keys.shared('freezes')));
      const isHeld = freezes.some(({ scope }) => scope === THE_MODEL);
      if (!isHeld) for (const threadId of await idsOf('thread')) run.wake({ kind: 'thread', threadId });
      // Only now, so that a process that dies before leaves the rest to another.
      await client.zrem(keys.shared('timers'), `freeze|${change}`);
      return { toRun, redrawn: open };
    },

    async listRunning() {
      const running = await client.zrangebyscore(keys.shared('states'), 3, 3);
      const calls = running.filter((id) => isCallInTurn(id));
      const tools = await Promise.all(calls.map((id) => client.hget(keys.run(id), 'tool')));
      const effects = calls.map((id, index) => ({ threadId: threadOf(id) ?? '', tool: tools[index] ?? '' }));
      return { requestIds: running.filter((id) => !isCallInTurn(id)), effects };
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
    freezes: freezes.sort((left, right) => left.at - right.at || (left.scope < right.scope ? -1 : 1)),
  };
}
