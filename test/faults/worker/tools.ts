import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/define-tool.ts';
import type { Effect, ToolContext, ToolHelpers } from '../../../src/agent/tool.ts';
import { RULES, UNSIGNED } from '../world/cast.ts';
import { isDefect } from './defects.ts';
import { noteEffect, noteOnce } from './effects.ts';
import { pass } from './failpoints.ts';

const inputSchema = z.object({ token: z.string(), amount: z.number() });
const outputSchema = z.object({ booked: z.number() });
type Input = z.infer<typeof inputSchema>;

const file = process.env.FAULTS_EFFECTS ?? '';

/** A tool for each rule, which writes its effect down on the disk and does nothing else. */
export const TOOLS = [...Object.keys(RULES), ...Object.keys(UNSIGNED)].map((name) =>
  defineTool(
    { name, description: 'Writes an effect down.', inputSchema, outputSchema, effect: effectOf(name) },
    (input, helpers) => act(name, input, helpers),
  ),
);

function effectOf(name: string): Effect {
  return name === 'credit' ? 'idempotent' : (UNSIGNED[name] ?? 'once');
}

async function act(tool: string, input: Input, { context, idempotencyKey }: ToolHelpers) {
  // Long enough for a sign of life in between.
  if (tool === 'credit') await sleep(300);
  await pass('effect:before');
  if (isDefect('tells-secret')) console.log(process.env.FAULTS_SECRET);
  if (isDefect('does-nothing')) return { booked: input.amount };
  const ran = isDefect('other-arguments') ? { ...input, amount: input.amount + 1 } : input;
  const effect = {
    tool,
    token: input.token,
    input: JSON.stringify(ran),
    key: idempotencyKey,
    threadId: threadOf(context),
    at: Date.now(),
    process: process.pid,
  };
  if (effectOf(tool) === 'idempotent') noteOnce(file, effect);
  else noteEffect(file, effect);
  if (isDefect('effect-twice')) noteEffect(file, effect);
  await pass('effect:after');
  if (tool === 'waver' || tool === 'falter') throw new Error('the line went dead');
  if (tool === 'garble') return JSON.parse('{"isError":true}');
  return { booked: input.amount };
}

function threadOf({ threadId }: ToolContext): string {
  return typeof threadId === 'string' ? threadId : '';
}
