import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import type { Cell } from './cell.ts';
import { inTurn, type Strike, striking } from './strike.ts';

const CALLS = 6;

/** The next calls of the model get this. */
function failing(replyOf: (call: number) => ModelReply): Strike {
  return async ({ failing: model }, round) => {
    model.failNext(...Array.from({ length: CALLS }, (_, call) => replyOf(round * CALLS + call)));
    await sleep(300);
  };
}

const MALFORMED: readonly string[] = [
  'data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0',
  'data: not json at all\n\n',
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","tool_calls":[{"index":0,"function":{"arguments":"{"}}]}}]}\n\n',
  'data: {"choices":"none"}\n\ndata: [DONE]\n\n',
];

/** A model that fails; what it had begun to say is not acted upon. */
const MODEL_STRIKES: Readonly<Record<string, Strike>> = {
  'model: 429': failing(() => ({ status: 429, headers: { 'retry-after': '1' } })),
  'model: 5xx': failing((call) => ({ status: 500 + (call % 4) })),
  'model hangs': failing(() => ({ hang: true })),
  'model cut off at every chunk': failing((call) => ({
    text: ['one ', 'two ', 'three ', 'four ', 'five'],
    cut: call % 7 === 6 ? 'headers' : call % 7,
  })),
  'model: malformed': failing((call) => ({ chunksRaw: [MALFORMED[call % MALFORMED.length] ?? ''] })),
};

export const MODEL_CELLS: readonly Cell[] = Object.entries(MODEL_STRIKES).map(([name, strike]) => ({
  name,
  rounds: { long: 50, short: 2 },
  world: { workers: 2 },
  play: striking(strike),
}));

export const MODEL_IN_TURN = inTurn('model: each fault in turn', MODEL_STRIKES);
