import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import { generate } from '../../src/agent/generate.ts';
import { callerThreadId, parseCallerThread } from '../../src/engine/caller-threads.ts';
import { callerId, callerNamed } from '../../src/tools/callers.ts';
import { askForConsent } from '../../src/tools/mcp/auth/ask-for-consent.ts';
import { disallowed } from '../../src/tools/toolbox/toolbox.ts';

const OWNER = 'U0OWNER001';
const CALLER = callerId('night-job');
const EVERYBODY = { channels: undefined, people: undefined, groups: undefined };

describe('a caller among the requesters of a call', () => {
  test('is no person: no id of Slack names it, and its thread names nobody else', () => {
    expect([callerNamed(CALLER), callerNamed(OWNER)]).toEqual(['night-job', undefined]);
    const thread = { channel: 'C0GENERAL1', caller: 'night-job', id: 'a'.repeat(32) };
    expect(parseCallerThread(callerThreadId(thread))).toEqual(thread);
    for (const other of ['C0GENERAL1:1794944538.995', 'C0GENERAL1:policies-abc', 'C0GENERAL1:caller.a.b'])
      expect(parseCallerThread(other)).toBeUndefined();
  });

  test('may use a tool only if the manifest lets it, and its owner is one of the people', () => {
    const everyone = [OWNER, CALLER];
    const isIts = (name: string) => name === 'night-job';
    expect(disallowed(EVERYBODY, 'C0GENERAL1', everyone)).toBeDefined();
    expect(disallowed(EVERYBODY, 'C0GENERAL1', everyone, undefined, isIts)).toBeUndefined();
    expect(disallowed(EVERYBODY, 'C0GENERAL1', everyone, undefined, () => false)).toBeDefined();
    const people = { ...EVERYBODY, people: [OWNER] };
    expect(disallowed(people, 'C0GENERAL1', everyone, undefined, isIts)).toBeUndefined();
    expect(disallowed(people, 'C0GENERAL1', ['U0OTHER002', CALLER], undefined, isIts)).toBeDefined();
  });

  test("never runs a call in its owner's account", async () => {
    let runs = 0;
    const tool = defineTool({ name: 'post', description: 'Posts.', inputSchema: z.object({}) }, async () => {
      runs += 1;
      return {};
    });
    const asOwner = askForConsent(tool, { missing: async () => undefined, renew: async () => undefined });
    const replies = [{ id: 'one', name: 'post', arguments: '{}' }];
    const ask = (requesters: readonly string[]) =>
      generate({
        model: {
          name: 'caller',
          reply: async () => ({ finish: 'stop', text: '', calls: replies, usage: undefined }),
        },
        prompt: 'post it',
        tools: [asOwner],
        context: { requester: OWNER, requesters: [...requesters] },
        maxSteps: 1,
      });
    const { messages } = await ask([OWNER, CALLER]);
    expect(JSON.stringify(messages)).toContain('denied');
    expect(runs).toBe(0);
    await ask([OWNER]);
    expect(runs).toBe(1);
  });
});
