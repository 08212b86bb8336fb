import { hash } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../../agent/json.ts';
import type { ModelConfig } from '../../agent/model.ts';
import { DEFAULT_FIRST_DAYS } from '../../policy/first-times.ts';
import { type PlannedFreeze, WEEKDAYS } from '../../policy/freezes.ts';
import type { Limit } from '../../policy/limits.ts';
import { type ApproverGroup, type GrantRule, mayBeHigh, type Policy, toRisk } from '../../policy/policy.ts';
import { isTimeZone, momentAt } from '../../policy/time.ts';
import type { CallerDeclaration } from '../callers.ts';
import type { AuthConfig, McpConfig } from '../mcp/mcp-config.ts';
import type { PreviewDeclaration, UndoDeclaration } from '../presentation/linked-call.ts';
import { asksForProfiles } from './asked-groups.ts';
import type {
  BuiltInName,
  BuiltInUse,
  ChannelDeclaration,
  CodeDeclaration,
  DeclaredDelegation,
  Manifest,
  ToolDeclaration,
} from './manifest.ts';
import {
  type AgentFile,
  BUILT_IN_NAMES,
  type BuiltInsFile,
  type ChannelFile,
  FILE_KINDS,
  type ModelFile,
} from './schema/agent.ts';
import type { CallerFile } from './schema/callers.ts';
import type {
  AuditFile,
  DelegationFile,
  FreezeFile,
  ManifestFile,
  PageFile,
} from './schema/manifest-file.ts';
import type { FromFile, LimitFile, NotifyFile, PolicyFile } from './schema/policies.ts';
import { withShippedSlack } from './schema/slack.ts';
import type { AuthFile, HttpFile, McpFile, PreviewFile, ToolFile, UndoFile } from './schema/tools.ts';
import { durationMs } from './schema/values.ts';

const DEFAULT_RETENTION_MS = durationMs('30d');

/** Converts a checked file to a manifest; `withoutSecrets` is the file with `${NAME}` in place of each secret, `source` its text. */
export function toManifest(written: ManifestFile, withoutSecrets: JsonObject, source: string): Manifest {
  const {
    slack = {},
    agent = {},
    policies = {},
    limits = {},
    tools = {},
    freezes = [],
    delegations = [],
    callers = {},
    audit = {},
    retention = {},
    page,
  } = written;
  const manifest = {
    agent: { ...toAgent(agent), policyChanges: toPolicyChanges(agent.policy_changes) },
    policies: new Map(
      Object.entries(policies).map(([name, policy]) => [name, toPolicy(name, policy, agent.time_zone)]),
    ),
    limits: Object.entries(limits).map(([name, limit]) => toLimit(name, limit, agent.time_zone)),
    freezes: freezes.map((freeze) => toFreeze(freeze, agent.time_zone)),
    delegations: delegations.map((delegation) => toDelegation(delegation, agent.time_zone)),
    tools: Object.entries(tools).flatMap(([name, tool]) => toTool(name, tool, withoutSecrets.tools) ?? []),
    callers: new Map(Object.entries(callers).map(([name, caller]) => [name, toCaller(name, caller)])),
    audit: toAudit(audit),
    retention: {
      requestMs: retention.requests ?? DEFAULT_RETENTION_MS,
      threadMs: retention.threads ?? DEFAULT_RETENTION_MS,
    },
    page: page && toPage(page),
  };
  const { files, channels } = manifest.agent;
  const groups = [...manifest.policies.values()].flatMap((policy) => policy.groups);
  return {
    ...manifest,
    source,
    slack: withShippedSlack(slack, {
      readsFiles: files !== undefined,
      readsEmails:
        groups.some(({ from }) => from !== undefined) ||
        [...manifest.policies.values()].some(({ excludedFrom }) => excludedFrom !== undefined) ||
        page?.issuer !== undefined ||
        asksForProfiles(manifest, 'email'),
      readsTopics: [...channels.values()].some(({ topic }) => topic),
      signsIn: page !== undefined && page.issuer === undefined,
    }),
  };
}

/** Reads a delegation; one until a date ends with that day. */
export function toDelegation(
  { from, to, until, policies }: DelegationFile,
  zone = DEFAULT_TIME_ZONE,
): DeclaredDelegation {
  const [date = '', time = '24:00'] = until.split(' ');
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  const timeZone = isTimeZone(zone) ? zone : DEFAULT_TIME_ZONE;
  return { from, to, until: momentAt(date, hour, minute, timeZone), policies };
}

function toFreeze(
  { name, from = '', to = '', tools = ['*'], time_zone, while: said }: FreezeFile,
  zone = DEFAULT_TIME_ZONE,
): PlannedFreeze {
  if (said !== undefined) {
    const input = toJson(said.input ?? {});
    const holds = { kind: 'while', tool: said.tool, when: said.when } as const;
    return { name, tools, holds: { ...holds, input: isJsonObject(input) ? input : {} } };
  }
  const declared = time_zone ?? zone;
  const timeZone = isTimeZone(declared) ? declared : DEFAULT_TIME_ZONE;
  const [start, end] = [from, to].map((text) => {
    const [day = '', time = ''] = text.split(' ');
    const [hour = 0, minute = 0] = time.split(':').map(Number);
    const weekday = WEEKDAYS.indexOf(day);
    return weekday === -1 ? momentAt(day, hour, minute, timeZone) : 60 * (24 * weekday + hour) + minute;
  });
  const times = { from: start ?? 0, to: end ?? 0 };
  const isWeekly = WEEKDAYS.some((day) => from.startsWith(day));
  return {
    name,
    tools,
    holds: isWeekly ? { kind: 'weekly', ...times, timeZone } : { kind: 'dates', ...times },
  };
}

/** Longer than any such period, with an hour for a change of the clocks. */
const PERIOD_MS = { day: durationMs('2d'), week: durationMs('8d'), month: durationMs('32d') };

/** Fills in the defaults of a limit. */
function toLimit(
  name: string,
  { tools = name, when, sum, per = 'requester', window, max, policy }: LimitFile,
  zone = DEFAULT_TIME_ZONE,
): Limit {
  const shared = { name, match: tools, when, sum, per, max, policy };
  if (typeof window === 'number') return { ...shared, windowMs: window };
  const timeZone = isTimeZone(zone) ? zone : DEFAULT_TIME_ZONE;
  return { ...shared, windowMs: PERIOD_MS[window], calendar: { unit: window, timeZone } };
}

/** The name of the policy under which policies are changed; no policy of a manifest can have it. */
export const POLICY_CHANGES = 'policy changes';
const POLICY_CHANGE_EXPIRES_MS = durationMs('7d');

function toPolicyChanges(written: AgentFile['policy_changes']): Manifest['agent']['policyChanges'] {
  if (written === undefined) return undefined;
  const { approvers, quorum = 1, confirm, channel } = written;
  const declared = { approvers, quorum, confirm, risk: 'high', expires: POLICY_CHANGE_EXPIRES_MS };
  return { policy: toPolicy(POLICY_CHANGES, declared), channel };
}

const MOST_PENDING = 10;
const MOST_PER_HOUR = 60;

/** Fills in the defaults of a caller. Of its key only the hash is kept. */
function toCaller(
  name: string,
  { owner, identity, channel, tools = [], ask = [], limits = {}, links = [], webhook, ...more }: CallerFile,
): CallerDeclaration {
  const { key = '', oidc } = identity;
  return {
    name,
    owner,
    channel,
    tools,
    ask,
    links,
    identity: oidc === undefined ? { kind: 'key', sha256: hash('sha256', key) } : { kind: 'oidc', ...oidc },
    limits: { pending: limits.pending ?? MOST_PENDING, perHour: limits.per_hour ?? MOST_PER_HOUR },
    ...(more.on_behalf_of !== undefined && { onBehalfOf: more.on_behalf_of }),
    ...(webhook !== undefined && {
      webhook: { url: webhook.url, secret: webhook.secret, allowPrivate: webhook.allow_private ?? [] },
    }),
  };
}

function toAudit({ file, http, retention }: AuditFile): Manifest['audit'] {
  return {
    file,
    http: http === undefined ? undefined : { url: http.url, headers: http.headers ?? {} },
    retentionMs: retention,
  };
}

function toPage({
  client_id: clientId,
  client_secret: clientSecret,
  issuer,
  auditors = [],
  ...rest
}: PageFile) {
  return { clientId, clientSecret, issuer, auditors, passkeyWaitMs: rest.passkey_wait ?? durationMs('1d') };
}

export const DEFAULT_EXPIRES_MS = durationMs('1d');
const DEFAULT_START_WITHIN_MS = durationMs('15m');

/** Fills in the defaults of a policy. */
export function toPolicy(name: string, written: PolicyFile, timeZone = DEFAULT_TIME_ZONE): Policy {
  const { escalate, notify = {} } = written;
  const { groups, excluded, excludedFrom } = toApprovers(written);
  const approvers = [...new Set(groups.flatMap(({ any }) => any))];
  const risk = toRisk(written.risk ?? 'medium');
  return {
    name,
    approvers,
    groups,
    excluded,
    excludedFrom,
    quorum: groups.reduce((sum, group) => sum + group.quorum, 0),
    veto: written.veto ?? true,
    selfApproval: written.self_approval ?? false,
    separation: written.separation ?? (mayBeHigh(risk) ? 'thread' : 'requesters'),
    expiresMs: written.expires ?? DEFAULT_EXPIRES_MS,
    startWithinMs: written.start_within ?? DEFAULT_START_WITHIN_MS,
    remindMs: notify.remind,
    escalate: escalate === undefined ? undefined : { afterMs: escalate.after, to: escalate.to },
    // Left out where nobody may, so that the digest of an older request stays the same.
    delegation: written.delegation === true ? true : undefined,
    announce: notify.announce ?? [],
    directMessages: notify.direct_messages ?? true,
    quietHours: toQuietHours(notify.quiet_hours, written.time_zone ?? timeZone),
    load: toLoad(notify.load),
    summary: notify.load?.summary && {
      after: notify.load.summary.after,
      withinMs: notify.load.summary.within,
    },
    confirm: written.confirm,
    risk,
    timeZone: written.time_zone ?? timeZone,
    grants: toGrants(written.grants),
    resolvers: written.resolvers ?? approvers,
  };
}

function toQuietHours(hours: NotifyFile['quiet_hours'], timeZone: string): Policy['quietHours'] {
  return hours && { from: hours.from, to: hours.to, timeZone: hours.time_zone ?? timeZone };
}

function toLoad(written: NotifyFile['load']): Policy['load'] {
  const { waiting, approvals_per_hour: approvalsPerHour } = written ?? {};
  if (waiting === undefined && approvalsPerHour === undefined) return undefined;
  return { waiting, approvalsPerHour };
}

function toGrants(written: PolicyFile['grants']): GrantRule | undefined {
  if (written === undefined) return undefined;
  const { for: forMs, uses, scope = 'thread', when } = written;
  return { forMs, uses, scope, when };
}

function toSource(written: FromFile | undefined): ApproverGroup['from'] {
  if (typeof written !== 'object') return written;
  const input = toJson(written.input ?? {});
  return { ...written, input: isJsonObject(input) ? input : {} };
}

/** Reads the forms in which approvers are written. */
export function toApprovers({ approvers, quorum = 1 }: Pick<PolicyFile, 'approvers' | 'quorum'>): {
  readonly groups: readonly ApproverGroup[];
  readonly excluded: readonly string[];
  readonly excludedFrom?: readonly string[] | undefined;
} {
  if (Array.isArray(approvers))
    return { groups: [{ any: approvers, from: undefined, quorum, pointer: '/approvers' }], excluded: [] };
  const { any = [], all, not = [] } = approvers;
  const excluded = Array.isArray(not) ? not : [];
  // Left out where there is none, so that the digest of a policy without it stays the same.
  const excludedFrom = Array.isArray(not) ? undefined : [not.from];
  const from = toSource(approvers.from);
  if (all === undefined)
    return { groups: [{ any, from, quorum, pointer: '/approvers/any' }], excluded, excludedFrom };
  const groups = all.map((group, index) => ({
    any: group.any ?? [],
    from: toSource(group.from),
    quorum: group.quorum ?? 1,
    pointer: `/approvers/all/${index}/any`,
  }));
  return { groups, excluded, excludedFrom };
}

const DEFAULT_ATTEMPTS = 3;
/** In characters. */
const DEFAULT_MAX_OUTPUT = 100_000;
const DEFAULT_ELICITATION_MS = durationMs('7d');
const NO_INPUT = { type: 'object', properties: {}, additionalProperties: false };

/** Fills in the defaults of a tool; a tool of no kind was reported before. */
function toTool(
  name: string,
  written: ToolFile,
  withoutSecrets: JsonValue | undefined,
): ToolDeclaration | undefined {
  const { module, code, mcp, http } = written;
  const declared = toDeclared(name, written, withoutSecrets);
  if (module !== undefined) return { ...declared, kind: 'module', module, timeoutMs: written.timeout };
  if (code !== undefined) return { ...declared, kind: 'code', timeoutMs: written.timeout };
  if (mcp !== undefined) {
    const config = toMcpConfig(mcp);
    if (config === undefined) return undefined;
    const { trust_hints: trustHints = false, allow_private: allowPrivate = [] } = mcp;
    const { ask = 'requester', expires: expiresMs = DEFAULT_ELICITATION_MS } = mcp.elicitation ?? {};
    const finalErrors = mcp.errors === 'final' ? ['*'] : (mcp.errors?.final ?? []);
    const freeAnswers = mcp.answers === 'free' ? ['*'] : (mcp.answers?.free ?? []);
    return {
      ...declared,
      kind: 'mcp',
      config,
      trustHints,
      finalErrors,
      freeAnswers,
      allowPrivate,
      elicitation: { ask, expiresMs },
    };
  }
  if (http === undefined) return undefined;
  return { ...declared, kind: 'http', definition: toDefinition(name, written, http) };
}

/** Declares a tool of a program that the manifest does not name, as an entry with nothing but `code: true` would. */
export function declareCode(name: string): CodeDeclaration {
  return { ...toDeclared(name, { code: true }, { [name]: { code: true } }), kind: 'code' };
}

function toDeclared(name: string, written: ToolFile, withoutSecrets: JsonValue | undefined) {
  const { approval = [], effect, allow } = written;
  return {
    name,
    approval: Array.isArray(approval) ? approval : [approval],
    effect,
    maxAttempts: written.max_attempts ?? DEFAULT_ATTEMPTS,
    allow: { channels: allow?.channels, people: allow?.people, groups: allow?.groups },
    maxOutput: written.max_output ?? DEFAULT_MAX_OUTPUT,
    images: written.images ?? 'both',
    answers: written.answers,
    asWritten: withoutRules(withoutSecrets, name),
    cards: toCards(written),
  };
}

function withoutRules(tools: JsonValue | undefined, name: string): JsonObject {
  const entry = isJsonObject(tools) ? tools[name] : undefined;
  if (!isJsonObject(entry)) return {};
  const { approval: _, ...others } = entry;
  return others;
}

/** Lists the texts by pattern; those of the tool itself come last, for every name. */
function toCards({ cards = [], ...written }: ToolFile): ToolDeclaration['cards'] {
  const { title, done, target, fields, preview, undo, reversible } = written;
  const texts = { title, done, target, fields, preview, undo, reversible };
  const own = { match: '*', ...texts };
  const hasOwn = Object.values(texts).some((part) => part !== undefined);
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
  const { tool, before, after } = written;
  const input = toJson(written.input ?? {});
  return { tool, input: isJsonObject(input) ? input : {}, before, after };
}

function toDefinition(name: string, { description = '', input, effect }: ToolFile, http: HttpFile) {
  const { method, url, headers, query, body, select, timeout, max_bytes, allow_private, auth, poll } = http;
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
    ...(auth !== undefined && {
      auth: {
        tokenUrl: auth.token_url,
        clientId: auth.client_id,
        clientSecret: auth.client_secret,
        scope: auth.scope,
      },
    }),
    ...(poll !== undefined && {
      poll: {
        ...(poll.url !== undefined && { url: poll.url }),
        everyMs: poll.every ?? DEFAULT_POLL_MS,
        forMs: poll.for,
        ...(poll.while !== undefined && { while: poll.while }),
      },
    }),
  };
}

const DEFAULT_POLL_MS = durationMs('5s');

const DEFAULT_MCP_TIMEOUT_MS = durationMs('60s');

/** Fills in the defaults of a server; one without a command and a URL was reported before. */
function toMcpConfig({
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

const DEFAULT_MAX_STEPS = 20;
const DEFAULT_TIME_ZONE = 'UTC';
const DEFAULT_PENDING_PER_THREAD = 10;
const DEFAULT_PENDING_PER_PERSON = 25;

/** Fills in the defaults of the agent. */
function toAgent({
  built_ins: builtIns,
  limits = {},
  ...written
}: AgentFile): Omit<Manifest['agent'], 'policyChanges'> {
  const { admins = [] } = written;
  const model = typeof written.model === 'string' ? { name: written.model } : (written.model ?? {});
  const { budgets = {} } = model;
  return {
    model: model.name,
    fallbackModels: model.fallbacks ?? [],
    api: model.api ?? 'auto',
    config: toConfig(model),
    headers: model.headers ?? {},
    query: model.query ?? {},
    timeoutMs: model.timeout,
    budgets: {
      perTurn: budgets.per_turn,
      perThread: budgets.per_thread,
      perPerson: budgets.per_person,
      perDay: budgets.per_day,
    },
    instructions: written.instructions,
    maxSteps: written.max_steps ?? DEFAULT_MAX_STEPS,
    timeZone: written.time_zone ?? DEFAULT_TIME_ZONE,
    contextBudget: model.context_budget,
    context: written.context ?? 'thread',
    files: toFiles(written.files),
    channels: new Map(Object.entries(written.channels ?? {}).map(([id, file]) => [id, toChannel(file)])),
    plans: toPlans(written.plans),
    feedback: written.feedback ?? false,
    limits: {
      pendingPerThread: limits.pending_per_thread ?? DEFAULT_PENDING_PER_THREAD,
      pendingPerPerson: limits.pending_per_person ?? DEFAULT_PENDING_PER_PERSON,
    },
    askers: toAskers(written.askers),
    admins,
    cardButtons: written.cards?.buttons ?? 'thread',
    firstDays: written.first_days ?? DEFAULT_FIRST_DAYS,
    unfreeze: {
      approvers: written.unfreeze?.approvers ?? admins,
      quorum: written.unfreeze?.quorum ?? 1,
    },
    builtIns: toBuiltIns(builtIns),
  };
}

const DEFAULT_FILES = {
  maxBytes: 10_000_000,
  maxCount: 5,
  timeoutMs: durationMs('30s'),
  types: FILE_KINDS,
};

function toFiles(written: AgentFile['files'] = true): Manifest['agent']['files'] {
  if (typeof written === 'boolean') return written ? DEFAULT_FILES : undefined;
  const { max_size, max_count, types } = written;
  return {
    maxBytes: max_size ?? DEFAULT_FILES.maxBytes,
    maxCount: max_count ?? DEFAULT_FILES.maxCount,
    timeoutMs: DEFAULT_FILES.timeoutMs,
    types: types ?? DEFAULT_FILES.types,
  };
}

function toPlans(written: AgentFile['plans'] = true): Manifest['agent']['plans'] {
  if (typeof written === 'boolean') return written ? { collect: false } : undefined;
  return { collect: written.collect ?? false };
}

function toChannel({ context, instructions, tools, model, topic = false }: ChannelFile): ChannelDeclaration {
  return { context, instructions, tools, model, topic };
}

function toConfig(written: ModelFile): ModelConfig {
  return {
    temperature: written.temperature,
    maxOutputTokens: written.max_output_tokens,
    reasoningEffort: written.reasoning_effort,
    verbosity: written.verbosity,
    parallelToolCalls: written.parallel_tool_calls,
    serviceTier: written.service_tier,
  };
}

function toAskers(written: AgentFile['askers'] = {}): Manifest['agent']['askers'] {
  const { people = [], groups = [], channels = [], bots = [] } = written;
  const { guests = false, external = false, members = true } = written;
  return { people, groups, channels, guests, external, bots, members };
}

/** Reads the list of built-ins that are on; without a list all are. */
function toBuiltIns(written: BuiltInsFile = BUILT_IN_NAMES.slice()): Manifest['agent']['builtIns'] {
  const use = (name: BuiltInName): BuiltInUse => {
    if (written.some((entry) => typeof entry === 'object' && name in entry)) return 'requester';
    return written.includes(name) ? 'anyone' : 'off';
  };
  return {
    ask_question: use('ask_question'),
    request_form: use('request_form'),
    wait_for_callback: use('wait_for_callback'),
    complete_task: use('complete_task'),
  };
}
