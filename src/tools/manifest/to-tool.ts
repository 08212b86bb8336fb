import { toJson } from '../../agent/json.ts';
import type { McpConfig } from '../mcp/mcp-config.ts';
import { DEFAULT_MAX_OUTPUT } from '../protect.ts';
import { durationMs } from './duration.ts';
import type { ToolDeclaration } from './manifest.ts';
import type { HttpFile, McpFile, ToolFile } from './manifest-file.ts';

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_RETRY_MS = durationMs('1h');
const DEFAULT_MCP_TIMEOUT_MS = durationMs('60s');
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false };

/** A tool with every default filled in; one that is of no kind has been reported before. */
export function toTool(name: string, written: ToolFile): ToolDeclaration | undefined {
  const { approval = [], idempotent, allow, module, mcp, http } = written;
  const declared = {
    name,
    approval: Array.isArray(approval) ? approval : [approval],
    idempotent,
    maxAttempts: written.max_attempts ?? DEFAULT_ATTEMPTS,
    retryForMs: written.retry_for ?? DEFAULT_RETRY_MS,
    allow: { channels: allow?.channels, people: allow?.people },
    maxOutput: written.max_output ?? DEFAULT_MAX_OUTPUT,
  };
  if (module !== undefined) return { ...declared, kind: 'module', module };
  if (mcp !== undefined) {
    const config = toMcpConfig(mcp);
    if (config === undefined) return undefined;
    const { trust_hints: trustHints = false, allow_private: allowPrivate = [] } = mcp;
    return { ...declared, kind: 'mcp', config, trustHints, allowPrivate };
  }
  if (http === undefined) return undefined;
  return { ...declared, kind: 'http', definition: toDefinition(name, written, http) };
}

function toMcpConfig({
  command,
  args = [],
  env = {},
  cwd,
  url,
  headers = {},
  ...rest
}: McpFile): McpConfig | undefined {
  const shared = { prefix: rest.prefix ?? '', timeoutMs: rest.timeout ?? DEFAULT_MCP_TIMEOUT_MS };
  if (command !== undefined) return { ...shared, transport: 'stdio', command, args, env, cwd };
  return url === undefined ? undefined : { ...shared, transport: 'http', url, headers };
}

function toDefinition(name: string, { description = '', input, idempotent }: ToolFile, http: HttpFile) {
  const { method, url, headers, query, body, select, timeout, max_bytes, allow_private } = http;
  return {
    name,
    description,
    inputSchema: input ?? NO_INPUT,
    method,
    url,
    ...(headers !== undefined && { headers }),
    ...(query !== undefined && { query }),
    ...(body !== undefined && { body: toJson(body) }),
    ...(select !== undefined && { select }),
    ...(timeout !== undefined && { timeoutMs: timeout }),
    ...(max_bytes !== undefined && { maxBytes: max_bytes }),
    ...(allow_private !== undefined && { allowPrivate: allow_private }),
    ...(idempotent !== undefined && { idempotent }),
  };
}
