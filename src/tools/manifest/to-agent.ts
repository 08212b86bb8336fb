import type { ModelConfig } from '../../agent/model.ts';
import type { BuiltInUse, ChannelDeclaration, Manifest } from './manifest.ts';
import { type AgentFile, type ChannelFile, FILE_KINDS } from './schema/agent.ts';
import { durationMs } from './schema/values.ts';

const DEFAULT_MAX_STEPS = 20;
export const DEFAULT_TIME_ZONE = 'UTC';
const DEFAULT_PENDING_PER_THREAD = 10;
const DEFAULT_PENDING_PER_PERSON = 25;

/** Fills in the defaults of the agent. */
export function toAgent({
  built_ins: builtIns = {},
  limits = {},
  budgets = {},
  ...written
}: AgentFile): Omit<Manifest['agent'], 'policyChanges'> {
  const { admins = [] } = written;
  return {
    model: written.model,
    fallbackModels: written.fallback_models ?? [],
    api: written.api ?? 'auto',
    config: toConfig(written),
    headers: written.headers ?? {},
    query: written.query ?? {},
    timeoutMs: written.timeout,
    budgets: {
      perTurn: budgets.per_turn,
      perThread: budgets.per_thread,
      perPerson: budgets.per_person,
      perDay: budgets.per_day,
    },
    instructions: written.instructions,
    maxSteps: written.max_steps ?? DEFAULT_MAX_STEPS,
    timeZone: written.time_zone ?? DEFAULT_TIME_ZONE,
    contextBudget: written.context_budget,
    context: written.context ?? 'thread',
    files: toFiles(written.files),
    channels: new Map(Object.entries(written.channels ?? {}).map(([id, file]) => [id, toChannel(file)])),
    memory: written.memory ?? 'off',
    feedback: written.feedback ?? false,
    limits: {
      pendingPerThread: limits.pending_per_thread ?? DEFAULT_PENDING_PER_THREAD,
      pendingPerPerson: limits.pending_per_person ?? DEFAULT_PENDING_PER_PERSON,
    },
    askers: toAskers(written.askers),
    admins,
    unfreeze: {
      approvers: written.unfreeze?.approvers ?? admins,
      quorum: written.unfreeze?.quorum ?? 1,
    },
    builtIns: {
      ask_question: toUse(builtIns.ask_question),
      request_form: toUse(builtIns.request_form),
      wait_for_callback: toUse(builtIns.wait_for_callback),
      complete_task: toUse(builtIns.complete_task),
    },
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
  const { max_size, max_count, timeout, types } = written;
  return {
    maxBytes: max_size ?? DEFAULT_FILES.maxBytes,
    maxCount: max_count ?? DEFAULT_FILES.maxCount,
    timeoutMs: timeout ?? DEFAULT_FILES.timeoutMs,
    types: types ?? DEFAULT_FILES.types,
  };
}

function toChannel({ context, instructions, tools, model, topic = false }: ChannelFile): ChannelDeclaration {
  return { context, instructions, tools, model, topic };
}

function toConfig(written: AgentFile): ModelConfig {
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
  const { people = [], groups = [], channels = [], guests = false, external = false, bots = [] } = written;
  return { people, groups, channels, guests, external, bots };
}

function toUse(written: boolean | { readonly limit_to: 'requester' } | undefined): BuiltInUse {
  if (typeof written === 'object') return written.limit_to;
  return written === false ? 'off' : 'anyone';
}
