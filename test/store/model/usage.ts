import type { Verbs, World } from './world.ts';

/** Tokens are added up for the bot, the person and the thread; a call that is repeated gives its first answer and adds nothing. */
export function usageModel({ usage }: World): Pick<Verbs, 'spend' | 'usageOf'> {
  const totalsOf = (threadId: string, person: string) => ({
    bot: usage.tokens.get('bot') ?? 0,
    person: usage.tokens.get(`person ${person}`) ?? 0,
    thread: usage.tokens.get(`thread ${threadId}`) ?? 0,
  });
  return {
    spend({ callId, threadId, person, usage: { inputTokens, outputTokens } }) {
      const last = usage.last.get(threadId);
      if (last?.callId === callId) return last.totals;
      for (const key of ['bot', `person ${person}`, `thread ${threadId}`])
        usage.tokens.set(key, (usage.tokens.get(key) ?? 0) + inputTokens + outputTokens);
      const totals = totalsOf(threadId, person);
      usage.last.set(threadId, { callId, totals });
      return totals;
    },
    usageOf: totalsOf,
  };
}
