import { describe, expect, test } from 'vitest';
import type { Spending } from '../../../src/store/port/workspace.ts';
import { newThreadId } from '../support.ts';
import type { Subject } from './suite.ts';

/** Tokens, counted across processes. */
export function describeUsage(subject: () => Subject): void {
  const usage = {
    inputTokens: 100,
    outputTokens: 20,
    totalTokens: 120,
    cachedTokens: 30,
    reasoningTokens: 10,
  };

  function spending(changes: Partial<Spending> = {}): Spending {
    const threadId = newThreadId();
    return {
      callId: threadId,
      threadId,
      person: `U-${threadId}`,
      channel: 'C1',
      model: 'gpt-6-luna',
      usage,
      ...changes,
    };
  }

  describe('the usage', () => {
    test('adds up for the thread, the person and the bot', async () => {
      const { store } = subject();
      const first = spending();
      const before = await store.usageOf(first.threadId, first.person);
      expect(before).toMatchObject({ person: 0, thread: 0 });
      expect(await store.spend(first)).toEqual({ bot: before.bot + 120, person: 120, thread: 120 });
      const second = spending({ person: first.person });
      expect(await store.spend(second)).toEqual({ bot: before.bot + 240, person: 240, thread: 120 });
      expect(await store.usageOf(first.threadId, first.person)).toEqual({
        bot: before.bot + 240,
        person: 240,
        thread: 120,
      });
    });

    test('counts a call once, and answers its copy in the same way', async () => {
      const { store } = subject();
      const once = spending();
      const answer = await store.spend(once);
      await store.spend(spending());
      expect(await store.spend(once)).toEqual(answer);
      expect(await store.usageOf(once.threadId, once.person)).toMatchObject({ thread: 120 });
    });

    test('is moved to another name whole, also while the person goes on spending', async () => {
      const { store } = subject();
      const { person } = spending();
      const name = `${person}-renamed`;
      const spend = () => Promise.all(Array.from({ length: 50 }, () => store.spend(spending({ person }))));
      await Promise.all([spend(), store.renameUsage(person, name), spend()]);
      await store.renameUsage(person, name);
      await store.renameUsage(person, name);
      expect((await store.usageOf('T-none', person)).person).toBe(0);
      expect((await store.usageOf('T-none', name)).person).toBe(12_000);
      const rows = (await store.listUsage(1)).filter((row) => [person, name].includes(row.person));
      expect(rows).toMatchObject([{ person: name, calls: 100, inputTokens: 10_000, reasoningTokens: 1_000 }]);
    });

    test('counts a hundred calls of as many processes', async () => {
      const { store } = subject();
      const { person } = spending();
      await Promise.all(Array.from({ length: 100 }, () => store.spend(spending({ person }))));
      expect((await store.usageOf('T-none', person)).person).toBe(12_000);
    });

    test('is listed by day, person, channel and model, with cached and reasoning tokens apart', async () => {
      const { store } = subject();
      const { person } = spending();
      await store.spend(spending({ person }));
      await store.spend(spending({ person }));
      await store.spend(spending({ person, model: 'open|odd', channel: 'C2' }));
      const rows = (await store.listUsage(1)).filter((row) => row.person === person);
      const day = new Date().toISOString().slice(0, 10);
      expect(rows.sort((left, right) => left.model.localeCompare(right.model))).toEqual([
        {
          day,
          person,
          channel: 'C1',
          model: 'gpt-6-luna',
          calls: 2,
          inputTokens: 200,
          outputTokens: 40,
          cachedTokens: 60,
          reasoningTokens: 20,
        },
        {
          day,
          person,
          channel: 'C2',
          model: 'open|odd',
          calls: 1,
          inputTokens: 100,
          outputTokens: 20,
          cachedTokens: 30,
          reasoningTokens: 10,
        },
      ]);
    });
  });
}
