import { z } from 'zod';
import { type JsonValue, tryParseJson } from '../../agent/json.ts';
import type { RequestRecord } from '../../store/port/store.ts';
import { PAUSED_AGAIN } from './request-details.ts';

const Paused = z.discriminatedUnion('paused', [
  /** Its server has asked these people. */
  z.object({ paused: z.literal('question'), server: z.string(), asked: z.array(z.string()) }),
  /** Its server runs it as a task. */
  z.object({ paused: z.literal('task'), server: z.string() }),
  /** It was continued, and nobody knows whether it took effect; its resolvers are asked by a request of its own. */
  z.object({ paused: z.literal('unknown') }),
  /** Its tool has asked somebody. */
  z.object({ paused: z.literal('tool') }),
]);
/** The reason why an action paused while it ran. */
export type Paused = Readonly<z.infer<typeof Paused>>;

const Unanswered = z.strictObject({
  unanswered: z.enum(['declined', 'withdrawn', 'expired']),
  server: z.string(),
  result: z.custom<JsonValue>((value) => value !== undefined),
});
/** The result of an action whose server went on without an answer. */
export type Unanswered = Readonly<z.infer<typeof Unanswered>>;

const Former = z.strictObject({ status: z.literal(PAUSED_AGAIN) });

/** Returns what a request waits for whose action paused while it ran; `undefined` for any other. */
export function pausedIn({ state, payload = '' }: RequestRecord): Paused | undefined {
  const value = tryParseJson(payload);
  if (state === 'paused') return Paused.safeParse(value).data ?? { paused: 'tool' };
  // A record of an older version says that the action succeeded.
  return state === 'succeeded' && Former.safeParse(value).success ? { paused: 'tool' } : undefined;
}

/** Returns the result of an action whose server got no answer; `undefined` for any other. */
export function unansweredIn({ state, payload = '' }: RequestRecord): Unanswered | undefined {
  return state === 'succeeded' ? Unanswered.safeParse(tryParseJson(payload)).data : undefined;
}
