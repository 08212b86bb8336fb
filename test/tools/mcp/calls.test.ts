import { expect, test } from 'vitest';
import { call, eventually, moodyServer, open, openForAll } from './support.ts';

const server = openForAll((folder) => moodyServer({}, [], folder).config);
const notes = () => moodyServer({}, [], server().folder).notes();

test('a call that gives no answer times out, says so, and is cancelled on the server', async () => {
  const { config, notes } = moodyServer({ timeoutMs: 200 });
  const { server } = await open(config);
  await expect(call(server, 'hang')).rejects.toMatchObject({
    code: 'timed-out',
    message:
      '"hang" of the MCP server "tried" gave no answer and no sign of progress for 200 ms and was cancelled; ' +
      'it may or may not have taken effect, so check before you try again.',
  });
  await eventually(() => expect(notes()).toContain('hang was cancelled'));
  expect(server.state).toBe('connected');
});

test('progress puts the time-out off', async () => {
  const { config } = moodyServer({ timeoutMs: 1500 });
  const { server } = await open(config);
  const ticks: unknown[] = [];
  const progress = (...tick: unknown[]) => ticks.push(tick);
  expect(await call(server, 'tick', { times: 40 }, { progress })).toBe('ticked');
  expect(ticks[0]).toEqual(['tick 1', undefined]);
});

test('progress puts the time-out off only so far, and the server is told to stop', async () => {
  const { config, notes } = moodyServer({ timeoutMs: 60_000, longestCallMs: 300 });
  const { server } = await open(config);
  await expect(call(server, 'tick')).rejects.toMatchObject({
    code: 'timed-out',
    message: expect.stringContaining('was not done after 300 ms'),
  });
  await eventually(() => expect(notes()).toContain('tick was cancelled'));
});

test('a stopped task cancels its call on the server', async () => {
  const stop = new AbortController();
  const running = call(server(), 'hang', {}, { signal: stop.signal });
  await eventually(() => expect(notes()).toContain('called hang'));
  stop.abort(new Error('stopped by Ada'));
  await expect(running).rejects.toThrow('stopped by Ada');
  await eventually(() => expect(notes()).toContain('hang was cancelled'));
});

test('a task that is stopped already calls nothing', async () => {
  const before = notes().length;
  const signal = AbortSignal.abort(new Error('stopped by Ada'));
  await expect(call(server(), 'hang', {}, { signal })).rejects.toThrow('stopped by Ada');
  await call(server(), 'greet');
  expect(notes().slice(before)).not.toContain('called hang');
});

test('a tool that says that it failed is an error with its own words', async () => {
  await expect(call(server(), 'fail')).rejects.toMatchObject({
    code: 'failed',
    message: 'The MCP server "tried" reported an error of "fail": no more credit on account 17',
  });
});

test('a call that fails inside the server is an error that names the server and the tool, and its outcome is unknown', async () => {
  await expect(call(server(), 'refuse')).rejects.toMatchObject({
    code: 'lost',
    message: expect.stringMatching(
      /^The MCP server "tried" failed while "refuse" may have run: .*I will not do refuse/,
    ),
  });
});
