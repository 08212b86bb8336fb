import { z } from 'zod';
import { UNSIGNED } from '../world/cast.ts';
import { editedAmount } from '../world/errand.ts';
import type { Evidence } from '../world/gather-evidence.ts';
import type { Violation } from './invariants.ts';
import { groupBy, rowsOf, type SeenRequest } from './requests.ts';

/** The digest that was stored with a request, and the one that its start was checked against. */
const Started = z.object({ idempotencyKey: z.string() });
const Digested = z.object({ digest: z.string() });

/** Checks that each receipt of a caller was accepted at most once, and that all of them are genuine. */
export function checkReceipts({
  receiptUses,
  badReceipts,
}: Pick<Evidence, 'receiptUses' | 'badReceipts'>): Violation[] {
  const twice = [...receiptUses].filter(([, times]) => times > 1);
  return [
    ...twice.map(([path, times]) => ({
      invariant: 1,
      what: `the receipt of ${path} was accepted ${times} times`,
    })),
    ...badReceipts.map((path) => ({ invariant: 3, what: `the receipt of ${path} does not verify` })),
  ];
}

/** Checks which actions ran, how often, and that people were shown the same. */
export function checkEffects(
  { audit, effects, errands }: Evidence,
  requests: readonly SeenRequest[],
): Violation[] {
  const violations: Violation[] = [];
  const calls = new Map(
    errands.flatMap(({ intent, calls }) => calls.map((call) => [call.token, { ...call, intent }] as const)),
  );
  for (const [token, ofCall] of groupBy(effects, (effect) => effect.token)) {
    const call = calls.get(token);
    if (call === undefined) {
      violations.push({
        invariant: 4,
        what: `an effect that nobody asked for: ${JSON.stringify(ofCall[0])}`,
      });
      continue;
    }
    const keys = new Set(ofCall.map(({ key }) => key));
    if (ofCall.length > 1)
      violations.push({ invariant: 1, what: `${call.tool} ${token} took effect ${ofCall.length} times` });
    if (keys.size > 1) violations.push({ invariant: 1, what: `${call.tool} ${token} had ${keys.size} keys` });
    const meant = call.intent === 'edit-and-approve' ? editedAmount(call.amount) : call.amount;
    const expected = JSON.stringify({ token, amount: meant });
    for (const { input } of ofCall)
      if (input !== expected)
        violations.push({ invariant: 3, what: `${call.tool} ran with ${input} and not with ${expected}` });
  }
  for (const { together, calls: steps, kind, ts } of errands) {
    if (!together) continue;
    const order = effects
      .map(({ token }) => steps.findIndex((step) => step.token === token))
      .filter((at) => at >= 0);
    if (order.some((at, index) => index > 0 && at < (order[index - 1] ?? 0)))
      violations.push({
        invariant: 4,
        what: `the steps of "${kind}" in ${ts} ran in the order ${order.join(', ')}`,
      });
  }
  const started = new Set(
    audit.flatMap(({ event, body }) =>
      event === 'effect-started' ? [Started.parse(JSON.parse(body)).idempotencyKey] : [],
    ),
  );
  for (const { tool, token, key } of effects)
    if (UNSIGNED[tool] !== undefined && !started.has(key))
      violations.push({
        invariant: 5,
        what: `${tool} ${token} took effect, and no row says that it started`,
      });
  for (const request of requests) {
    const digestsOf = (event: string) =>
      rowsOf(request, event).map(({ body }) => Digested.parse(JSON.parse(body)).digest);
    const stored = digestsOf('asked');
    if (!digestsOf('started').every((digest) => stored.includes(digest)))
      violations.push({
        invariant: 3,
        what: `${request.id} was started with other arguments than were stored`,
      });
    for (const effect of request.effects) {
      const { amount }: { amount?: unknown } = JSON.parse(effect.input);
      if (
        !request.shown.some((text) => text.includes(effect.token) && new RegExp(`\\b${amount}\\b`).test(text))
      )
        violations.push({
          invariant: 3,
          what: `${request.id} ran with ${effect.input}, which no card showed`,
        });
    }
  }
  return violations;
}
