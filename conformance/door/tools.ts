import { setTimeout as sleep } from 'node:timers/promises';
import { defineTool } from 'countersign';
import { z } from 'zod';

const nothing = z.object({});

/** The tools that the scenarios of the suite call. */
export const simple = defineTool(
  { name: 'test_simple_text', description: 'Returns text', inputSchema: nothing, effect: 'none' },
  async () => 'This is a simple text response for testing.',
);
export const error = defineTool(
  { name: 'test_error_handling', description: 'Fails', inputSchema: nothing, effect: 'none' },
  async () => {
    throw new Error('This tool intentionally returns an error for testing');
  },
);
export const greet = defineTool(
  { name: 'greet', description: 'Greets', inputSchema: z.object({ name: z.string() }), effect: 'none' },
  async ({ name }) => `Hello, ${name}!`,
);
export const slow = defineTool(
  {
    name: 'slow_compute',
    description: 'Takes its time',
    inputSchema: z.object({ seconds: z.number(), label: z.string().optional() }),
    effect: 'none',
  },
  async ({ seconds }, { signal }) => {
    await sleep(seconds * 1_000, undefined, { signal });
    return `Computed for ${seconds} s`;
  },
);
export const failing = defineTool(
  { name: 'failing_job', description: 'Fails after a second', inputSchema: nothing, effect: 'none' },
  async () => {
    await sleep(1_000);
    throw new Error('The job failed');
  },
);
