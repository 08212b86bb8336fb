import { z } from 'zod';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../src/agent/json.ts';
import type { Tool } from '../src/agent/tool.ts';
import { guardedFetch } from '../src/tools/http/guard/guarded-fetch.ts';
import { authFetch } from '../src/tools/mcp/auth/create-identities.ts';
import { openMcpServer } from '../src/tools/mcp/open-mcp-server.ts';
import { elicitationOf, SERVER_PAUSE } from '../src/tools/mcp/server-pause.ts';
import { personAtBrowser } from './person-at-browser.ts';

/** The client under test: connects to the server of a scenario with the bot's own code and makes the calls that the scenario wants. */
const Context = z.looseObject({
  client_id: z.string().optional(),
  client_secret: z.string().optional(),
  toolCalls: z.array(z.object({ name: z.string(), arguments: z.record(z.string(), z.json()) })).optional(),
});
const context = Context.parse(JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}'));
const url = process.argv.at(-1) ?? '';

const fetch = guardedFetch({ allowPrivate: ['localhost', '127.0.0.1'] });
const server = openMcpServer(
  { transport: 'http', url, headers: {}, prefix: '', timeoutMs: 10_000, startTimeoutMs: 10_000 },
  {
    name: 'scenario',
    log: { info: log, warn: log },
    onChange: () => {},
    guardedFetch: fetch,
    identity: personAtBrowser({
      serverUrl: url,
      fetch: authFetch(fetch),
      clientId: context.client_id,
      clientSecret: context.client_secret,
    }),
  },
);
await server.ready;
const tools = server.tools();
for (const { name, input } of wantedCalls(tools)) {
  const tool = tools.find((candidate) => candidate.name === name);
  if (tool?.kind !== 'tool') continue;
  log({ tool: name, answer: await run(tool, input).catch(String) }, 'called');
}
const { state, protocol, lastError } = server.describe();
log({ state, protocol, lastError, problems: server.problems() }, 'done');
await server.close();
if (state !== 'connected') process.exitCode = 1;

function wantedCalls(listed: readonly Tool[]): readonly { name: string; input: JsonObject }[] {
  if (context.toolCalls !== undefined) {
    return context.toolCalls.map(({ name, arguments: input }) => ({ name, input }));
  }
  return listed.map(({ name, inputSchema }) => ({ name, input: exampleObject(inputSchema.jsonSchema) }));
}

/** Runs a tool to its end; a form is submitted as it is shown, with its defaults and examples for the rest. */
async function run(
  tool: Extract<Tool, { kind: 'tool' }>,
  input: JsonObject,
  resumed?: JsonObject,
): Promise<unknown> {
  let paused: JsonObject | undefined;
  const stop = (metadata: object = {}): never => {
    paused = JSON.parse(JSON.stringify(metadata));
    throw new Error('the tool paused');
  };
  try {
    return await tool.run(input, {
      context: {},
      interrupt: stop,
      deny: () => stop(),
      resumed,
      signal: AbortSignal.timeout(20_000),
      attach: () => true,
      file: () => false,
      progress: () => {},
      idempotencyKey: 'conformance',
      callId: 'call-1',
    });
  } catch (error) {
    const pause = elicitationOf({ metadata: paused });
    if (pause === undefined) throw error;
    const { question } = pause;
    const content = question.mode === 'form' ? { content: exampleObject(question.schema) } : {};
    const end = { action: 'accept', ...content };
    return run(tool, input, { decision: 'answered', [SERVER_PAUSE]: toJson({ pause, end }) });
  }
}

function exampleObject(schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, exampleOf(value)]));
}

function exampleOf(schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return 'text';
  if (schema.default !== undefined) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0] ?? null;
  if (schema.type === 'integer' || schema.type === 'number') return 5;
  if (schema.type === 'boolean') return true;
  if (schema.type === 'array') return [];
  return schema.type === 'object' ? exampleObject(schema) : 'text';
}

function log(fields: object, message: string): void {
  console.log(message, JSON.stringify(fields));
}
