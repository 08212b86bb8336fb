import { describe, expect, test } from 'vitest';
import type { Message } from '../../src/agent/messages.ts';
import { threadOf } from '../../src/store/keys.ts';
import type { Subject } from './suite.ts';
import {
  beginTurn,
  deed,
  MINUTE_MS,
  message,
  newRequest,
  newThreadId,
  outcome,
  resultMessage,
  signature,
  suspendTurn,
} from './support.ts';

/** What a signature tells of the turn that will follow, and what becomes of the messages that were expected in it. */
export function describeSigning(subject: () => Subject): void {
  /** Opens so many requests in one thread that has one message, and gives their ids. */
  async function askFor(count: number): Promise<string[]> {
    const { store } = subject();
    const threadId = newThreadId();
    const requests = Array.from({ length: count }, () => newRequest(threadId));
    await suspendTurn(store, await beginTurn(store, threadId), { requests, messages: [message('hello')] });
    return requests.map(({ id }) => id);
  }

  async function signed(requestId: string) {
    const result = await subject().store.sign(requestId, signature('U-ann', 'first'));
    if (result.outcome !== 'signed') throw new Error(`The request ${requestId} is ${result.outcome}`);
    return result;
  }

  describe('a signature', () => {
    test('tells what was said in the thread, where its next turn is about nothing else', async () => {
      const [id = ''] = await askFor(1);
      const { history } = await signed(id);
      expect(history?.()).toEqual([message('hello')]);
    });

    test('that is sent twice tells the same', async () => {
      const [id = ''] = await askFor(1);
      await signed(id);
      expect((await signed(id)).history?.()).toEqual([message('hello')]);
    });

    test('tells nothing of a thread in which another request waits', async () => {
      const [id = ''] = await askFor(2);
      expect((await signed(id)).history).toBeUndefined();
    });

    test('tells nothing of a thread in which another request of the round is settled, since the turn is about both', async () => {
      const [id = '', other = ''] = await askFor(2);
      await subject().store.withdraw(other, deed('U-rita'), '');
      expect((await signed(id)).history).toBeUndefined();
    });

    test('tells nothing of a thread in which somebody has spoken since', async () => {
      const [id = ''] = await askFor(1);
      await subject().store.put(threadOf(id) ?? '', { id: 'said', body: { text: 'wait' } });
      expect((await signed(id)).history).toBeUndefined();
    });
  });

  describe('the messages that were expected after an action', () => {
    const finishExpecting = async (id: string, expected: () => readonly Message[] | undefined) => {
      const finished = await subject().store.finishAndTake(id, outcome('first'), MINUTE_MS, expected);
      return finished.outcome === 'finished' ? finished.turn?.messages : undefined;
    };

    test('are those of the turn where as many stand in the thread', async () => {
      const [id = ''] = await askFor(1);
      await signed(id);
      const expected = [message('hello'), resultMessage()];
      expect(await finishExpecting(id, () => expected)).toBe(expected);
    });

    test.each([
      { how: 'too few', expected: [resultMessage()] },
      { how: 'too many', expected: [message('hello'), message('hello'), resultMessage()] },
      { how: 'none', expected: undefined },
    ])('are read from the thread where they were $how', async ({ expected }) => {
      const [id = ''] = await askFor(1);
      await signed(id);
      expect(await finishExpecting(id, () => expected)).toEqual([message('hello'), resultMessage()]);
    });
  });
}
