import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, onTestFinished, vi } from 'vitest';
import type { JsonObject } from '../../../src/agent/json.ts';
import type { Tool, ToolHelpers } from '../../../src/agent/tool.ts';
import type { HttpConfig, McpConfig, McpOptions, StdioConfig } from '../../../src/tools/mcp/mcp-config.ts';
import { type McpServer, openMcpServer } from '../../../src/tools/mcp/open-mcp-server.ts';
import { buildModule } from '../../support/build-module.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const require = createRequire(import.meta.url);
// Compiled, since it is started some thirty times.
const moody = await buildModule(fileURLToPath(new URL('fixtures/moody-server.ts', import.meta.url)));

/** A server that runs as `node ...args`. */
export function nodeConfig(args: readonly string[], changes: Partial<StdioConfig> = {}): StdioConfig {
  return {
    transport: 'stdio',
    command: process.execPath,
    args,
    env: {},
    cwd: undefined,
    prefix: '',
    timeoutMs: PATIENCE_MS,
    ...changes,
  };
}

/** A server that is reached over HTTP. */
export function httpConfig(url: string, changes: Partial<HttpConfig> = {}): HttpConfig {
  return { transport: 'http', url, headers: {}, prefix: '', timeoutMs: PATIENCE_MS, ...changes };
}

/** One of the reference servers from npm, as it is. */
export function npmServer(name: 'everything' | 'filesystem', args: readonly string[] = []): StdioConfig {
  const script = require.resolve(`@modelcontextprotocol/server-${name}/dist/index.js`);
  return nodeConfig([script, ...args], { prefix: `${name}_` });
}

export interface Moody {
  readonly config: StdioConfig;
  notes(): readonly string[];
  /** The process id of the server that started last. */
  pid(): number;
  /** Changes the definition of `greet` for every later start of the server. */
  refine(): void;
}

/** The server of the fixtures, and what it noted. */
export function moodyServer(
  changes: Partial<StdioConfig> = {},
  moods: readonly string[] = [],
  folder = temporaryFolder(),
): Moody {
  const file = join(folder, 'notes');
  const notes = () => readFileSync(file, { encoding: 'utf8', flag: 'a+' }).trim().split('\n');
  return {
    config: nodeConfig([moody, file, ...moods], changes),
    notes,
    refine: () => appendFileSync(file, 'released a refined version\n'),
    pid: () => {
      const started = notes().findLast((line) => line.startsWith('started '));
      if (started === undefined) throw new Error('the server has not started');
      return Number(started.split(' ')[1]);
    },
  };
}

export interface Opened {
  readonly server: McpServer;
  /** The lists that `onChange` was given. */
  readonly changes: (readonly Tool[])[];
  readonly warnings: object[];
}

/** Opens a server that is closed when the test is over, and waits for its first try. */
export async function open(config: McpConfig, options: Partial<McpOptions> = {}): Promise<Opened> {
  const opened = await openAndKeep(config, options);
  onTestFinished(() => opened.server.close());
  return opened;
}

/** Opens one server for all tests of a file; they must leave it as it is. */
export function openForAll(configure: (folder: string) => McpConfig): () => McpServer & { folder: string } {
  let shared: (McpServer & { folder: string }) | undefined;
  beforeAll(async () => {
    const folder = makeFolder();
    const { server } = await openAndKeep(configure(folder), {});
    shared = Object.assign(server, { folder });
  });
  afterAll(async () => {
    await shared?.close();
    if (shared !== undefined) rmSync(shared.folder, { recursive: true, force: true });
  });
  return () => {
    if (shared === undefined) throw new Error('the server is not open yet');
    return shared;
  };
}

async function openAndKeep(config: McpConfig, options: Partial<McpOptions>): Promise<Opened> {
  const changes: (readonly Tool[])[] = [];
  const warnings: object[] = [];
  const server = openMcpServer(config, {
    name: 'tried',
    log: { info: () => {}, warn: (fields) => warnings.push(fields) },
    onChange: (tools) => changes.push(tools),
    backOff: { firstMs: 20, longestMs: 200 },
    ...options,
  });
  await server.ready;
  return { server, changes, warnings };
}

/** Calls a tool as the loop would. */
export async function call(
  server: McpServer,
  name: string,
  input: JsonObject = {},
  helpers: Partial<ToolHelpers> = {},
): Promise<unknown> {
  const tool = server.tools().find((candidate) => candidate.name === name);
  if (tool?.kind !== 'tool') throw new Error(`no tool "${name}" among ${server.describe().tools.join(', ')}`);
  return tool.run(input, {
    context: { requester: 'U1', channel: 'C1', threadId: 'T1' },
    interrupt: () => {
      throw new Error('not expected');
    },
    deny: () => {
      throw new Error('not expected');
    },
    resumed: undefined,
    signal: new AbortController().signal,
    attach: () => true,
    file: () => false,
    progress: () => {},
    idempotencyKey: 'key',
    callId: 'call-1',
    ...helpers,
  });
}

export function temporaryFolder(): string {
  const folder = makeFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'mcp-')));
}

/** Waits until the expectation holds. */
export function eventually(expectation: () => void): Promise<void> {
  return vi.waitFor(expectation, { timeout: PATIENCE_MS, interval: 20 });
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
