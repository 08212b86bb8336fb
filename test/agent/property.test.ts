import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ChatRequest } from '../../playground/model/chat-request.ts';
import { checkRequest } from '../../playground/model/check-request.ts';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { type LocalModel, startLocalModel } from '../../playground/model/start-local-model.ts';
import { type Message, type Model, openAIModel } from '../../src/index.ts';
import { countFor } from '../support/count-for.ts';
import { type ForetoldCall, type ForetoldTurn, foretell } from './property/foretell.ts';
import { type PlayedThread, play } from './property/play.ts';
import { threadPlan } from './property/thread-plan.ts';

const runs = countFor('PROPERTY_RUNS', { quick: 50, full: 200 });

let local: LocalModel;
let model: Model;
let script: ModelReply[] = [];
beforeAll(async () => {
  local = await startLocalModel({ script: () => script.shift() });
  model = openAIModel({ model: 'scripted', apiKey: 'test', baseURL: local.url, maxRetries: 0 });
});
afterAll(() => local.stop());

test(`each approved call of ${runs} random threads takes effect once, and each call has one result`, async () => {
  const threads = fc.asyncProperty(threadPlan, async (plan) => {
    const turns = foretell(plan);
    script = scriptOf(turns);
    const earlier = { requests: local.requests.length, refusals: local.refusals.length };

    const played = await play(turns, model);

    expect(script).toEqual([]);
    expect(local.refusals.slice(earlier.refusals)).toEqual([]);
    checkThread(turns, played);
    checkRequests(turns, local.requests.slice(earlier.requests), played.messages);
  });
  // A failure prints the seed, the path and the smallest thread that fails; COUNTERSIGN_SEED takes the seed back.
  await fc.assert(threads, { numRuns: runs });
});

function scriptOf(turns: readonly ForetoldTurn[]): ModelReply[] {
  return turns.flatMap(({ rounds }): ModelReply[] => [
    ...rounds.map(({ calls, cut }): ModelReply => {
      const sent = calls.map((call) => call.sent);
      return cut ? { calls: sent, finishReason: 'length' } : { calls: sent };
    }),
    { text: 'Done.' },
  ]);
}

function roundsOf(turns: readonly ForetoldTurn[]): (readonly ForetoldCall[])[] {
  return turns.flatMap(({ rounds }) => rounds.map(({ calls }) => calls));
}

/** The calls that the messages hold, one list for each message of the model that has any. */
function callsIn(messages: readonly Message[]) {
  return messages
    .map((message) =>
      message.role === 'model'
        ? message.content.flatMap((part) => ('toolRequest' in part ? [part] : []))
        : [],
    )
    .filter((calls) => calls.length > 0);
}

/** Holds the messages and the effects to what was foretold, call by call. */
function checkThread(turns: readonly ForetoldTurn[], { messages, effects }: PlayedThread): void {
  const rounds = roundsOf(turns);
  const made = callsIn(messages);
  expect(made.map((calls) => calls.length)).toEqual(rounds.map((calls) => calls.length));
  const places = new Map(made.flat().map((call, place) => [call.toolRequest.ref, place]));
  expect(places.size).toBe(made.flat().length);

  const results = messages.flatMap((message) => {
    if (message.role !== 'tool') return [];
    const refs = message.content.map((part) =>
      'interrupt' in part ? part.interrupt.toolRequest.ref : part.toolResponse.ref,
    );
    const order = refs.map((ref) => places.get(ref) ?? -1);
    expect(order).toEqual([...order].sort((left, right) => left - right));
    return message.content.flatMap((part) => ('toolResponse' in part ? [part] : []));
  });
  expect(results.map(({ toolResponse }) => toolResponse.ref).sort()).toEqual([...places.keys()].sort());

  const expectedEffects = rounds.flat().flatMap(({ outcome, sent, key }, place) => {
    const call = made.flat()[place];
    const result = results.find(({ toolResponse }) => toolResponse.ref === call?.toolRequest.ref);
    expect(call?.toolRequest.name).toBe(sent.name);
    expect(result?.status).toBe(outcome.status);
    if (outcome.output !== undefined) expect(result?.toolResponse.output).toEqual(outcome.output);
    return outcome.effect === undefined
      ? []
      : [{ key, amount: outcome.effect, idempotencyKey: call?.idempotencyKey }];
  });
  const byKey = (left: { key: string }, right: { key: string }) => (left.key < right.key ? -1 : 1);
  expect([...effects].sort(byKey)).toEqual(expectedEffects.sort(byKey));
}

/** Holds every request to OpenAI's rules, and the last one, which all others must be beginnings of, to what was foretold. */
function checkRequests(
  turns: readonly ForetoldTurn[],
  requests: readonly ChatRequest[],
  messages: readonly Message[],
): void {
  const rounds = roundsOf(turns);
  expect(requests).toHaveLength(rounds.length + turns.length);
  const whole = requests.at(-1)?.messages ?? [];
  for (const request of requests) {
    expect(checkRequest(request)).toBeUndefined();
    expect(request.messages).toEqual(whole.slice(0, request.messages.length));
  }

  const refs = callsIn(messages).map((calls) => calls.map(({ toolRequest }) => toolRequest.ref));
  const sentRounds = whole.flatMap((message) =>
    message.role === 'assistant' && message.tool_calls !== undefined ? [message.tool_calls] : [],
  );
  expect(sentRounds.map((calls) => calls.map(({ id }) => id))).toEqual(refs);
  const answered = whole.flatMap((message) => (message.role === 'tool' ? [message] : []));
  expect(answered.map((message) => message.tool_call_id)).toEqual(refs.flat());

  for (const [place, { outcome }] of rounds.flat().entries()) {
    const sent = sentRounds.flat()[place];
    if (outcome.input !== undefined)
      expect(JSON.parse(sent?.function.arguments ?? '')).toEqual(outcome.input);
    if (outcome.output === undefined) continue;
    const told = typeof outcome.output === 'string' ? outcome.output : JSON.stringify(outcome.output);
    expect(answered[place]?.content).toBe(told);
  }
}
