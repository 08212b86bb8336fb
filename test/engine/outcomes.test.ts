import { pino } from 'pino';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../src/agent/define-tool.ts';
import type { Reconciled, Tool } from '../../src/agent/tool.ts';
import { lookUp } from '../../src/engine/outcomes.ts';

const forEver = () => new Promise<Reconciled>(() => {});

function lookingUp(reconcile: () => Promise<Reconciled>, timeoutMs?: number): Tool {
  const config = {
    name: 'weld',
    description: 'Welds.',
    inputSchema: z.object({}),
    reconcile,
    ...(timeoutMs !== undefined && { timeoutMs }),
  };
  return defineTool(config, () => 'welded');
}

/** Looks up with a log that is kept. */
async function play(tool: Tool, stop?: { readonly signal: AbortSignal; readonly graceMs: number }) {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(line) });
  const found = await lookUp({ logger }, tool, { idempotencyKey: 'key', input: {} }, stop);
  return { found, lines };
}

test('a tool that knows what became of its call says so, also after a stop', async () => {
  const stop = { signal: AbortSignal.abort(), graceMs: 60_000 };
  expect(
    await play(
      lookingUp(async () => 'ran'),
      stop,
    ),
  ).toEqual({ found: 'ran', lines: [] });
});

test('a tool that throws before it gives a promise tells nothing, with a line in the log', async () => {
  const tool = lookingUp(() => {
    throw new Error('no connection');
  });
  expect(await play(tool)).toEqual({ found: 'unknown', lines: [expect.stringContaining('no connection')] });
});

test('a look-up that does not end within the time of its tool tells nothing', async () => {
  expect(await play(lookingUp(forEver, 20))).toMatchObject({ found: 'unknown' });
});

test('a look-up that does not end soon after a stop tells nothing', async () => {
  const stop = new AbortController();
  const looked = play(lookingUp(forEver), { signal: stop.signal, graceMs: 10 });
  stop.abort();
  expect(await looked).toMatchObject({ found: 'unknown' });
});

test('a tool that cannot look up is not asked', async () => {
  const tool = defineTool({ name: 'weld', description: 'Welds.' }, () => 'welded');
  expect(await play(tool)).toEqual({ found: 'unknown', lines: [] });
});
