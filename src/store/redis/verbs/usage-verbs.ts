import type { Keys } from '../../port/keys.ts';
import type { UsageRow, UsageStore, UsageTotals } from '../../port/workspace.ts';
import type { RedisClient, RunScript } from '../run-script.ts';
import { ScriptReply } from '../script-reply.ts';

const DAY_MS = 86_400_000;
/** Enough for a comparison with the quarter before. */
const KEPT_DAYS = 190;

/** Counts tokens in one hash per day in UTC, by the clock of the process. */
export function usageVerbs(run: RunScript, client: RedisClient, keys: Keys): UsageStore {
  return {
    async spend({ callId, threadId, person, channel, model, usage }) {
      const { inputTokens, outputTokens, cachedTokens = 0, reasoningTokens = 0 } = usage;
      const counts = [inputTokens, outputTokens, cachedTokens, reasoningTokens];
      const args = [callId, threadId, person, `${channel}|${model}`, ...counts, KEPT_DAYS * DAY_MS];
      const reply = new ScriptReply(await run('spend', { threadId: dayOf(Date.now()), args }));
      return { bot: reply.number(1), person: reply.number(2), thread: reply.number(3) };
    },

    async usageOf(threadId, person) {
      const fields = ['all', `person|${person}`, `thread|${threadId}`];
      const found = await client.hmget(keys.usage(dayOf(Date.now())), ...fields);
      const [bot = 0, own = 0, thread = 0] = found.map(Number);
      return { bot, person: own, thread } satisfies UsageTotals;
    },

    async renameUsage(person, name) {
      for (let back = 0; back < KEPT_DAYS; back += 1) {
        const day = dayOf(Date.now() - back * DAY_MS);
        if ((await client.exists(keys.usage(day))) === 1)
          await run('rename-usage', { threadId: day, args: [person, name] });
      }
    },

    async listUsage(days) {
      const listed: UsageRow[] = [];
      for (let back = 0; back < days; back += 1) {
        const day = dayOf(Date.now() - back * DAY_MS);
        listed.push(...readDay(day, await client.hgetall(keys.usage(day))));
      }
      return listed;
    },
  };
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function readDay(day: string, fields: Readonly<Record<string, string>>): UsageRow[] {
  return Object.keys(fields)
    .filter((field) => field.startsWith('calls|'))
    .map((field) => {
      const row = field.slice('calls|'.length);
      const [person = '', channel = '', ...model] = row.split('|');
      const count = (name: string): number => Number(fields[`${name}|${row}`] ?? 0);
      return {
        day,
        person,
        channel,
        model: model.join('|'),
        calls: count('calls'),
        inputTokens: count('input'),
        outputTokens: count('output'),
        cachedTokens: count('cached'),
        reasoningTokens: count('reasoning'),
      };
    });
}
