import { z } from 'zod';
import type { Evidence } from '../world/gather-evidence.ts';
import type { Violation } from './invariants.ts';
import { groupBy, rowsOf, type SeenRequest } from './requests.ts';

const Conversation = z.array(
  z.object({
    role: z.string(),
    content: z.unknown(),
    tool_calls: z
      .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
      .optional(),
    tool_call_id: z.string().optional(),
  }),
);

/** Checks by the model's requests that no two turns wrote into one thread, and that each call has exactly one result. */
export function checkTurns(
  { conversations, modelRefusals, timesOrdered }: Evidence,
  requests: readonly SeenRequest[],
): Violation[] {
  const violations: Violation[] = modelRefusals.map((what) => ({
    invariant: 8,
    what: `the model was sent something that it refused: ${what}`,
  }));
  for (const [token, asked] of groupBy(requests, (request) => request.token ?? '')) {
    const standing = asked.filter((request) => rowsOf(request, 'superseded').length === 0);
    if (token !== '' && standing.length > 1)
      violations.push({ invariant: 7, what: `${token} was asked for by ${standing.length} turns` });
  }
  for (const [token, messages] of conversations) {
    const read = Conversation.parse(messages);
    const orders = read.filter(
      ({ role, content }) => role === 'user' && JSON.stringify(content).includes(token),
    );
    if (orders.length > (timesOrdered.get(token) ?? 1))
      violations.push({ invariant: 7, what: `the thread of ${token} has the same words twice` });
    const calls = read.flatMap(({ tool_calls }) => tool_calls ?? []);
    const results = read.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    const ids = new Set(calls.map(({ id }) => id));
    if (
      // A plan names the calls that stand beside it.
      calls.filter(
        ({ function: { name, arguments: input } }) => name !== 'propose_plan' && input.includes(token),
      ).length > 1 ||
      ids.size !== calls.length
    )
      violations.push({ invariant: 7, what: `the thread of ${token} was worked on by two turns` });
    if (results.length !== calls.length || new Set(results).size !== results.length)
      violations.push({
        invariant: 8,
        what: `${token}: ${calls.length} calls have ${results.length} results`,
      });
  }
  return violations;
}
