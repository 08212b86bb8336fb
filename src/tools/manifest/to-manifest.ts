import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { ApproverGroup, Policy } from '../gate/policy.ts';
import { mayBeHigh, toRisk } from '../gate/risk.ts';
import type { McpConfig } from '../mcp/mcp-config.ts';
import type { PreviewDeclaration } from '../presentation/preview.ts';
import type { UndoDeclaration } from '../presentation/undo.ts';
import { DEFAULT_MAX_OUTPUT } from '../toolbox/protect-tool.ts';
import type { Manifest, ToolDeclaration } from './manifest.ts';
import type { AuditFile, ManifestFile } from './schema/manifest-file.ts';
import type { PolicyFile } from './schema/policies.ts';
import type { HttpFile, McpFile, PreviewFile, ToolFile, UndoFile } from './schema/tools.ts';
import { durationMs } from './schema/values.ts';
import { DEFAULT_TIME_ZONE, toAgent } from './to-agent.ts';

const DEFAULT_RETENTION_MS = durationMs('30d');

/** Converts a checked file to a manifest; `unfilled` is the file before values of the environment were filled in. */
export function toManifest(written: ManifestFile, unfilled: JsonObject): Manifest {
  const { slack, agent = {}, policies = {}, tools = {}, audit = {}, retention = {} } = written;
  const section = toJson(slack);
  return {
    slack: isJsonObject(section) ? section : {},
    agent: toAgent(agent),
    policies: new Map(
      Object.entries(policies).map(([name, policy]) => [name, toPolicy(name, policy, agent.time_zone)]),
    ),
    tools: Object.entries(tools).flatMap(([name, tool]) => toTool(name, tool, unfilled.tools) ?? []),
    audit: toAudit(audit),
    retention: {
      requestMs: retention.requests ?? DEFAULT_RETENTION_MS,
      threadMs: retention.threads ?? DEFAULT_RETENTION_MS,
    },
  };
}

function toAudit({ file, http, retention }: AuditFile): Manifest['audit'] {
  return {
    file,
    http: http === undefined ? undefined : { url: http.url, headers: http.headers ?? {} },
    retentionMs: retention,
  };
}

export const DEFAULT_EXPIRES_MS = durationMs('1d');
const DEFAULT_START_WITHIN_MS = durationMs('15m');

/** Fills in the defaults of a policy. */
export function toPolicy(name: string, written: PolicyFile, timeZone = DEFAULT_TIME_ZONE): Policy {
  const { escalate } = written;
  const { groups, excluded } = toApprovers(written);
  const approvers = [...new Set(groups.flatMap(({ any }) => any))];
  const risk = toRisk(written.risk ?? 'medium');
  return {
    name,
    approvers,
    groups,
    excluded,
    quorum: groups.reduce((sum, group) => sum + group.quorum, 0),
    veto: written.veto ?? true,
    selfApproval: written.self_approval ?? false,
    separation: written.separation ?? (mayBeHigh(risk) ? 'thread' : 'requesters'),
    expiresMs: written.expires ?? DEFAULT_EXPIRES_MS,
    startWithinMs: written.start_within ?? DEFAULT_START_WITHIN_MS,
    remindMs: written.remind,
    escalate: escalate === undefined ? undefined : { afterMs: escalate.after, to: escalate.to },
    announce: written.announce ?? [],
    directMessages: written.direct_messages ?? true,
    confirm: written.confirm,
    risk,
    timeZone: written.time_zone ?? timeZone,
    resolvers: written.resolvers ?? approvers,
  };
}

/** Reads the forms in which approvers are written. */
export function toApprovers({ approvers, quorum = 1 }: Pick<PolicyFile, 'approvers' | 'quorum'>): {
  readonly groups: readonly ApproverGroup[];
  readonly excluded: readonly string[];
} {
  if (Array.isArray(approvers))
    return { groups: [{ any: approvers, from: undefined, quorum, pointer: '/approvers' }], excluded: [] };
  const { any = [], from, all, not: excluded = [] } = approvers;
  if (all === undefined) return { groups: [{ any, from, quorum, pointer: '/approvers/any' }], excluded };
  const groups = all.map((group, index) => ({
    any: group.any ?? [],
    from: group.from,
    quorum: group.quorum ?? 1,
    pointer: `/approvers/all/${index}/any`,
  }));
  return { groups, excluded };
}

const DEFAULT_ATTEMPTS = 3;
const DEFAULT_RETRY_MS = durationMs('1h');
const DEFAULT_MCP_TIMEOUT_MS = durationMs('60s');
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false };

/** Fills in the defaults of a tool; a tool of no kind was reported before. */
export function toTool(
  name: string,
  written: ToolFile,
  unfilled: JsonValue | undefined,
): ToolDeclaration | undefined {
  const { approval = [], effect, allow, module, mcp, http } = written;
  const declared = {
    name,
    approval: Array.isArray(approval) ? approval : [approval],
    effect,
    maxAttempts: written.max_attempts ?? DEFAULT_ATTEMPTS,
    retryForMs: written.retry_for ?? DEFAULT_RETRY_MS,
    allow: { channels: allow?.channels, people: allow?.people },
    maxOutput: written.max_output ?? DEFAULT_MAX_OUTPUT,
    asWritten: withoutRules(unfilled, name),
    cards: toCards(written),
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

function withoutRules(unfilled: JsonValue | undefined, name: string): JsonObject {
  const entry = isJsonObject(unfilled) ? unfilled[name] : undefined;
  if (!isJsonObject(entry)) return {};
  const { approval: _, ...others } = entry;
  return others;
}

/** Lists the texts by pattern; those of the tool itself come last, for every name. */
function toCards({ cards = [], ...written }: ToolFile): ToolDeclaration['cards'] {
  const { title, done, target, fields, preview, undo } = written;
  const own = { match: '*', title, done, target, fields, preview, undo };
  const hasOwn = [title, done, target, fields, preview, undo].some((part) => part !== undefined);
  return [...cards, ...(hasOwn ? [own] : [])].map((card) => ({
    ...card,
    preview: toPreview(card.preview),
    undo: toUndo(card.undo),
  }));
}

function toUndo(written: UndoFile | undefined): UndoDeclaration | undefined {
  if (written === undefined) return undefined;
  const input = toJson(written.input ?? {});
  return { tool: written.tool, input: isJsonObject(input) ? input : {}, withinMs: written.within };
}

function toPreview(written: PreviewFile | undefined): PreviewDeclaration | undefined {
  if (written === undefined) return undefined;
  const { tool, before, after, timeout: timeoutMs } = written;
  const input = toJson(written.input ?? {});
  return { tool, input: isJsonObject(input) ? input : {}, before, after, timeoutMs };
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

function toDefinition(name: string, { description = '', input, effect }: ToolFile, http: HttpFile) {
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
    ...(effect !== undefined && { effect }),
  };
}
