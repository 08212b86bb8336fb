import type { AuthConfig } from '../mcp/auth/auth-config.ts';
import type { McpConfig } from '../mcp/mcp-config.ts';
import type { AuthFile } from './schema/auth.ts';
import type { McpFile } from './schema/tools.ts';
import { durationMs } from './schema/values.ts';

const DEFAULT_MCP_TIMEOUT_MS = durationMs('60s');

/** Fills in the defaults of a server; one without a command and a URL was reported before. */
export function toMcpConfig({
  command,
  args = [],
  env = {},
  cwd,
  url,
  headers = {},
  auth,
  ...rest
}: McpFile): McpConfig | undefined {
  const shared = { prefix: rest.prefix ?? '', timeoutMs: rest.timeout ?? DEFAULT_MCP_TIMEOUT_MS };
  if (command !== undefined) return { ...shared, transport: 'stdio', command, args, env, cwd };
  if (url === undefined) return undefined;
  return { ...shared, transport: 'http', url, headers, ...(auth !== undefined && { auth: toAuth(auth) }) };
}

function toAuth({ as, token, scope, issuer, ...written }: AuthFile): AuthConfig {
  const { client_id: clientId, client_secret: secret, private_key: privateKey } = written;
  const { algorithm = 'RS256' } = written;
  if (as === 'bot' && token !== undefined) return { as, token };
  const client = { clientId: clientId ?? '', issuer, secret, privateKey, algorithm };
  if (as === 'bot') return { as, client, scope };
  return { as, client: clientId === undefined ? undefined : client, issuer, scope };
}
