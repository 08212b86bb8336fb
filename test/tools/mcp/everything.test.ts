import { expect, test } from 'vitest';
import type { JsonObject } from '../../../src/agent/json.ts';
import { taskOf } from '../../../src/tools/mcp/server-pause.ts';
import { call, npmServer, openForAll } from './support.ts';

process.env.OUR_SECRET = 'do not tell';
const server = openForAll(() => ({ ...npmServer('everything'), env: { GIVEN: 'yes' } }));

test('progress is reported with the part that is done', async () => {
  const reports: [string, number | undefined][] = [];
  const output = await call(
    server(),
    'everything_trigger-long-running-operation',
    // Reports that are read together with the answer are lost, so a busy machine is given time.
    { duration: 3, steps: 4 },
    { progress: (message, fraction) => reports.push([message, fraction]) },
  );
  expect(output).toContain('Long running operation completed');
  expect(reports.slice(0, 3)).toEqual([
    ['1 of 4', 0.25],
    ['2 of 4', 0.5],
    ['3 of 4', 0.75],
  ]);
});

test('a stopped task does not wait for its call', async () => {
  const stop = new AbortController();
  const running = call(
    server(),
    'everything_trigger-long-running-operation',
    { duration: 600, steps: 6000 },
    { signal: stop.signal, progress: () => stop.abort(new Error('stopped by Ada')) },
  );
  await expect(running).rejects.toThrow('stopped by Ada');
  expect(await call(server(), 'everything_echo', { message: 'still there' })).toBe('Echo: still there');
});

test('structured content is the output where there is some', async () => {
  const output = await call(server(), 'everything_get-structured-content', { location: 'Chicago' });
  expect(output).toEqual({
    temperature: expect.any(Number),
    conditions: expect.any(String),
    humidity: expect.any(Number),
  });
});

test('an image is shown to the model, described, and the text around it kept', async () => {
  const urls: string[] = [];
  const attach = ({ url }: { readonly url: string }) => urls.push(url) > 0;
  expect(await call(server(), 'everything_get-tiny-image', {}, { attach })).toMatch(
    /^Here's the image you requested:\n\[image image\/png, \d+ kB\]\nThe image above is the MCP logo\.$/,
  );
  expect(urls).toEqual([expect.stringMatching(/^data:image\/png;base64,/)]);
});

test('a server sees PATH, HOME and what it is given, and nothing else of ours', async () => {
  const output = await call(server(), 'everything_get-env');
  const seen: unknown = JSON.parse(String(output));
  expect(seen).toEqual({ PATH: process.env.PATH, HOME: process.env.HOME, GIVEN: 'yes' });
});

test('a tool that can only be called as a task is loaded, and gives its result by the id of the task', async () => {
  expect(server().problems()).toEqual([]);
  const name = 'everything_simulate-research-query';
  let metadata: JsonObject | undefined;
  const interrupt = (given?: object): never => {
    metadata = JSON.parse(JSON.stringify(given));
    throw new Error('paused');
  };
  const input = { topic: 'rain', ambiguous: false };
  await expect(call(server(), name, input, { interrupt })).rejects.toThrow('paused');
  const resumed = JSON.parse(
    JSON.stringify({ mcp: { pause: taskOf({ metadata }), end: { action: 'accept' } } }),
  );
  const reports: string[] = [];
  const progress = (message: string) => reports.push(message);
  expect(await call(server(), name, input, { resumed, progress })).toContain('Research Report: rain');
  expect(reports).toContain('Generating report...');
});
