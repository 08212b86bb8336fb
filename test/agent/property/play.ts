import { setImmediate as tick } from 'node:timers/promises';
import { expect } from 'vitest';
import { z } from 'zod';
import {
  closeInterrupt,
  defineInterrupt,
  defineTool,
  generate,
  type Interrupt,
  type Message,
  type Model,
  ReplyError,
  type Resume,
  settle,
} from '../../../src/index.ts';
import type { ForetoldCall, ForetoldTurn } from './foretell.ts';
import type { Ending, Reply } from './thread-plan.ts';

/** Something a tool did to the world. */
export interface Effect {
  readonly key: string;
  readonly amount: number;
  readonly idempotencyKey: string;
}

export interface PlayedThread {
  readonly messages: readonly Message[];
  readonly effects: readonly Effect[];
}

type AnyReply = Reply<Ending | { readonly act: 'pause' }>;

const inputSchema = z.object({ key: z.string(), amount: z.number() });

function defineTools(calls: ReadonlyMap<string, ForetoldCall>, effects: Effect[]) {
  const work = async (key: string) => {
    for (let left = calls.get(key)?.ticks ?? 0; left > 0; left -= 1) await tick();
  };
  const plain = defineTool(
    { name: 'plain', description: 'acts at once', inputSchema },
    async ({ key, amount }, { idempotencyKey }) => {
      await work(key);
      effects.push({ key, amount, idempotencyKey });
      const plan = calls.get(key)?.plan;
      return plan?.kind === 'plain' ? plan.output : undefined;
    },
  );
  // Nothing is required here, so that broken arguments would run if they were read as none.
  const careless = defineTool(
    {
      name: 'careless',
      description: 'acts on anything',
      inputSchema: z.object({ key: z.string().default('careless'), amount: z.number().default(0) }),
    },
    ({ key, amount }, { idempotencyKey }) => void effects.push({ key, amount, idempotencyKey }),
  );
  const failing = defineTool({ name: 'failing', description: 'throws', inputSchema }, async ({ key }) => {
    await work(key);
    throw new Error('failed on purpose');
  });
  const denying = defineTool(
    { name: 'denying', description: 'denies', inputSchema },
    async ({ key }, { deny }) => {
      await work(key);
      return deny('not like this');
    },
  );
  const gated = defineTool(
    { name: 'gated', description: 'acts when approved', inputSchema },
    async ({ key, amount }, { interrupt, deny, resumed, idempotencyKey }) => {
      await work(key);
      if (resumed?.act === 'fail') throw new Error('failed on purpose');
      if (resumed?.act === 'deny') return deny('not like this');
      if (resumed?.act !== 'approve') return interrupt({ ask: key });
      effects.push({ key, amount, idempotencyKey });
      return resumed.output;
    },
  );
  const question = defineInterrupt({ name: 'question', description: 'asks', inputSchema });
  return { gated, question, tools: [plain, careless, failing, denying, gated, question] as const };
}

/** Plays a thread to its end: the model speaks by its script, people reply as planned, each at the planned moment. */
export async function play(turns: readonly ForetoldTurn[], model: Model): Promise<PlayedThread> {
  const calls = new Map(
    turns.flatMap(({ rounds }) => rounds.flatMap((round) => round.calls.map((call) => [call.key, call]))),
  );
  const effects: Effect[] = [];
  const { tools, gated, question } = defineTools(calls, effects);
  const repliesGiven = new Map<string, number>();
  let messages: readonly Message[] = [];

  for (const [index, turn] of turns.entries()) {
    const carry = <Value>(value: Value): Value =>
      turn.throughJson ? JSON.parse(JSON.stringify(value)) : value;
    let response = await generate({ model, tools, messages: carry(messages), prompt: `Turn ${index}.` });
    while (response.finishReason === 'interrupted') response = await answer(response, carry);
    expect(response.finishReason).toBe('stop');
    messages = response.messages;
  }
  return { messages, effects };

  async function answer(
    paused: { readonly messages: readonly Message[]; readonly interrupts: readonly Interrupt[] },
    carry: <Value>(value: Value) => Value,
  ) {
    let { messages, interrupts } = carry({ messages: paused.messages, interrupts: paused.interrupts });
    for (const moment of ['first', 'second', 'third'] as const) {
      const due = interrupts.filter((interrupt) => nextReply(interrupt).moment === moment);
      if (due.length === 0) continue;
      const resume = carry(take(due));
      const settled = await settle({ messages, tools, resume });
      ({ messages, interrupts } = carry({ messages: settled.messages, interrupts: settled.interrupts }));
      await refuses(['already-settled', 'stale-reply'], settle({ messages, tools, resume }));
    }
    if (interrupts.length > 0) await refuses(['missing-reply'], generate({ model, tools, messages }));
    return generate({ model, tools, messages, resume: carry(take(interrupts)) });
  }

  function nextReply({ toolRequest }: Interrupt): AnyReply {
    const { key } = inputSchema.parse(toolRequest.input);
    const plan = calls.get(key)?.plan;
    const replies: readonly AnyReply[] =
      plan?.kind === 'gated' ? [...plan.again, plan.last] : plan?.kind === 'question' ? [plan.last] : [];
    const reply = replies[repliesGiven.get(key) ?? 0];
    if (reply === undefined) throw new Error(`The call ${key} paused, and nothing of the kind was planned.`);
    return reply;
  }

  /** Makes the next reply to each of these pauses; each is given once. */
  function take(interrupts: readonly Interrupt[]): Required<Resume> {
    const resume = { respond: [], restart: [], close: [] } as {
      -readonly [Kind in keyof Resume]-?: NonNullable<Resume[Kind]>[number][];
    };
    for (const interrupt of interrupts) {
      const { ending, replaceInput } = nextReply(interrupt);
      const { key } = inputSchema.parse(interrupt.toolRequest.input);
      repliesGiven.set(key, (repliesGiven.get(key) ?? 0) + 1);
      if (ending.act === 'close') {
        resume.close.push(closeInterrupt(interrupt, ending.status, 'nobody signed'));
      } else if (ending.act === 'respond') {
        const tool = question.matches(interrupt) ? question : gated;
        resume.respond.push(tool.respond(interrupt, ending.output));
      } else {
        const output = ending.act === 'approve' ? ending.output : undefined;
        const metadata = { act: ending.act, ...(output !== undefined && { output }) };
        const replacement = replaceInput === undefined ? {} : { replaceInput: { key, amount: replaceInput } };
        resume.restart.push(gated.restart(interrupt, metadata, replacement));
      }
    }
    return resume;
  }
}

async function refuses(codes: readonly string[], attempt: Promise<unknown>): Promise<void> {
  const error = await attempt.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ReplyError) || !codes.includes(error.code)) {
    throw new Error(`This was to be refused as ${codes.join(' or ')}, but came to: ${String(error)}`);
  }
}
