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
export const progressing = defineTool(
  { name: 'test_tool_with_progress', description: 'Takes its time', inputSchema: nothing, effect: 'none' },
  async (_input, { signal }) => {
    await sleep(8_000, undefined, { signal });
    return 'Done';
  },
);
export const streaming = defineTool(
  {
    name: 'test_streaming_elicitation',
    description: 'Asks for nothing',
    inputSchema: nothing,
    effect: 'none',
  },
  async () => 'The client was asked for nothing.',
);
export const logging = defineTool(
  { name: 'test_logging_tool', description: 'Returns text', inputSchema: nothing, effect: 'none' },
  async () => 'Nothing was logged to the client.',
);
