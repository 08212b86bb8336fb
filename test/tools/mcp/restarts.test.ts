import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isNotDone } from '../../../src/agent/errors.ts';
import { openMcpServer } from '../../../src/tools/mcp/open-mcp-server.ts';
import {
  call,
  eventually,
  isAlive,
  moodyServer,
  nodeConfig,
  npmServer,
  open,
  temporaryFolder,
} from './support.ts';

const botProcess = fileURLToPath(new URL('fixtures/bot-process.ts', import.meta.url));

describe('a server that goes down', () => {
  test('is waited for by a call', async () => {
    const { config, pid } = moodyServer();
    const { server } = await open(config, { backOff: { firstMs: 500, longestMs: 500 } });
    process.kill(pid(), 'SIGKILL');
    await eventually(() => expect(server.state).toBe('down'));
    expect(await call(server, 'greet', { name: 'again' })).toBe('hello again');
  });

  test('is waited for no longer than the call is wanted', async () => {
    const { config, pid } = moodyServer();
    const { server } = await open(config, { backOff: { firstMs: 60_000, longestMs: 60_000 } });
    process.kill(pid(), 'SIGKILL');
    await eventually(() => expect(server.state).toBe('down'));
    const stop = new AbortController();
    const waiting = call(server, 'greet', {}, { signal: stop.signal });
    stop.abort(new Error('stopped by Ada'));
    await expect(waiting).rejects.toThrow('stopped by Ada');
    // Nothing was sent. The reason itself is shared by all calls of the task, of which others were sent.
    expect(isNotDone(await waiting.catch((error: unknown) => error))).toBe(true);
    expect(isNotDone(stop.signal.reason)).toBe(false);
  });

  test('comes back after it was killed, and calls that have waited long enough are told so', async () => {
    const { config, pid } = moodyServer();
    const { server, changes } = await open(config, {
      backOff: { firstMs: 1000, longestMs: 1000 },
      restartWaitMs: 10,
    });
    const before = server.tools();
    process.kill(pid(), 'SIGKILL');
    await eventually(() => expect(server.state).toBe('down'));

    expect(server.tools()).toBe(before);
    await expect(call(server, 'greet')).rejects.toMatchObject({
      code: 'down',
      message:
        'The MCP server "tried" is down and being restarted: "greet" was not run; try again in a moment.',
    });
    expect(server.describe().lastError).toBe('The MCP server "tried" went down: it was ended by SIGKILL.');
    expect(server.describe().retryAt).toEqual(expect.any(Number));

    await eventually(() => expect(server.state).toBe('connected'));
    expect(await call(server, 'greet', { name: 'again' })).toBe('hello again');
    expect(server.describe()).toMatchObject({ restarts: 1, retryAt: undefined });
    expect(changes).toHaveLength(1);
  });

  test('comes back when it is one from npm, and reads what it read before', async () => {
    const sandbox = temporaryFolder();
    const path = join(sandbox, 'order.txt');
    writeFileSync(path, 'twelve lemons');
    const { command, args, ...config } = npmServer('filesystem', [sandbox]);
    const pidFile = join(temporaryFolder(), 'pid');
    const script = 'echo $$ > "$0"; exec "$@"';
    const { server } = await open({
      ...config,
      command: '/bin/sh',
      args: ['-c', script, pidFile, command, ...args],
    });
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    await eventually(() => expect(server.describe()).toMatchObject({ state: 'connected', restarts: 1 }));
    expect(await call(server, 'filesystem_read_text_file', { path })).toEqual({ content: 'twelve lemons' });
  });

  test('leaves the outcome of a running call open', async () => {
    const { config } = moodyServer();
    const { server } = await open(config);
    await expect(call(server, 'die')).rejects.toMatchObject({
      code: 'lost',
      message:
        'The MCP server "tried" went down while "die" ran and is being restarted; ' +
        'the call may or may not have taken effect, so check before you try again.',
    });
    await eventually(() => expect(server.state).toBe('connected'));
    expect(server.describe().lastError).toContain('it ended with exit code 9');
  });
});

describe('a server that cannot start', () => {
  test('that exits at once is an error with its last lines, and is tried again', async () => {
    const script = 'console.error("no licence found"); process.exit(3)';
    const { server, warnings } = await open(nodeConfig(['-e', script]));
    expect(server.state).not.toBe('connected');
    expect(server.describe().lastError).toBe(
      'The MCP server "tried" cannot be started: it ended with exit code 3. ' +
        'Its last lines on stderr:\nno licence found',
    );
    expect(server.tools()).toEqual([]);
    await eventually(() => expect(server.describe().restarts).toBeGreaterThan(1));
    expect(warnings[0]).toMatchObject({ server: 'tried', reason: expect.stringContaining('no licence') });
  });

  test('that prints garbage is quoted', async () => {
    const script = 'setInterval(() => console.log("\\x1b[31mhello, human"), 20)';
    const { server } = await open(nodeConfig(['-e', script], { startTimeoutMs: 3000 }));
    expect(server.describe().lastError).toBe(
      'The MCP server "tried" cannot be started: it gave no answer within 3000 ms; ' +
        'its output is not MCP but "hello, human".',
    );
  });

  test('that prints without an end of line is stopped', async () => {
    const script =
      'const x = "x".repeat(1 << 20); for (let i = 0; i < 16; i++) process.stdout.write(x); setInterval(() => {}, 1000)';
    const { server } = await open(nodeConfig(['-e', script]));
    expect(server.describe().lastError).toContain('it was ended by SIGKILL');
  });

  test('because its command does not exist is told what to do', async () => {
    const { server } = await open({ ...nodeConfig([]), command: 'no-such-command' });
    expect(server.describe().lastError).toBe(
      'The MCP server "tried" cannot be started: ' +
        'the command "no-such-command" was not found; install it or give its full path.',
    );
  });

  test('because its folder does not exist is told so', async () => {
    const { server } = await open(nodeConfig([], { cwd: '/no/such/folder' }));
    expect(server.describe().lastError).toContain('its folder "/no/such/folder" does not exist');
  });
});

test('a banner on standard output is no reason to give a server up', async () => {
  const { server } = await open(moodyServer({}, ['banner']).config);
  expect(await call(server, 'greet')).toBe('hello nobody');
});

describe('the process of a server', () => {
  test('is gone when the server is closed, also one that ignores every hint', async () => {
    const { config, pid, notes } = moodyServer({}, ['stubborn']);
    const { server } = await open(config);
    await server.close();
    expect(isAlive(pid())).toBe(false);
    expect(notes()).toContain('SIGTERM ignored');
    expect(server.state).toBe('down');
    await expect(call(server, 'greet')).rejects.toThrow(
      'The MCP server "tried" is closed: "greet" was not run.',
    );
  });

  test('is gone when the server is closed while it starts', async () => {
    const { config, notes, pid } = moodyServer({}, ['stubborn']);
    const log = { info: () => {}, warn: () => {} };
    const server = openMcpServer(config, { name: 'tried', log, onChange: () => {} });
    await eventually(() => expect(notes()).toContainEqual(expect.stringMatching(/^started/)));
    await server.close();
    expect(isAlive(pid())).toBe(false);
  });

  test('takes its children with it', async () => {
    const { config, pid } = moodyServer({}, ['stubborn']);
    const wrapped = ['-c', 'exec 3<&0; "$0" "$@" <&3 & wait', config.command, ...config.args];
    const { server } = await open({ ...config, command: '/bin/sh', args: wrapped });
    expect(await call(server, 'greet')).toBe('hello nobody');
    await server.close();
    // Its new parent may take a moment to bury it.
    await eventually(() => expect(isAlive(pid())).toBe(false));
  });

  test('leaves no child behind when it crashes', async () => {
    const { config, pid } = moodyServer({}, ['stubborn']);
    const pidFile = join(temporaryFolder(), 'pid');
    const script = 'echo $$ > "$0"; exec 3<&0; "$@" <&3 & wait';
    const args = ['-c', script, pidFile, config.command, ...config.args];
    const backOff = { firstMs: 60_000, longestMs: 60_000 };
    const { server } = await open({ ...config, command: '/bin/sh', args }, { backOff });
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    await eventually(() => expect(server.state).toBe('down'));
    await eventually(() => expect(isAlive(pid())).toBe(false));
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('ends when our process is ended by %s', async (signal) => {
    const { config, pid } = moodyServer({}, ['stubborn']);
    const bot = spawn(process.execPath, ['--import', 'tsx', botProcess, JSON.stringify(config)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => {
      bot.kill('SIGKILL');
    });
    const [said] = await once(bot.stdout, 'data');
    expect(String(said)).toBe('connected\n');
    expect(isAlive(pid())).toBe(true);
    bot.kill(signal);
    await once(bot, 'exit');
    await eventually(() => expect(isAlive(pid())).toBe(false));
  });
});
