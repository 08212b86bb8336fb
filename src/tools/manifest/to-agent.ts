import type { ModelConfig } from '../../agent/model.ts';
import type { BuiltInUse, ChannelDeclaration, Manifest } from './manifest.ts';
import type { AgentFile, ChannelFile } from './schema/agent.ts';

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
}: AgentFile): Manifest['agent'] {
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
    channels: new Map(Object.entries(written.channels ?? {}).map(([id, file]) => [id, toChannel(file)])),
    memory: written.memory ?? 'off',
    feedback: written.feedback ?? false,
    limits: {
      pendingPerThread: limits.pending_per_thread ?? DEFAULT_PENDING_PER_THREAD,
      pendingPerPerson: limits.pending_per_person ?? DEFAULT_PENDING_PER_PERSON,
    },
    askers: toAskers(written.askers),
    admins: written.admins ?? [],
    builtIns: {
      ask_question: toUse(builtIns.ask_question),
      request_form: toUse(builtIns.request_form),
      wait_for_callback: toUse(builtIns.wait_for_callback),
      complete_task: toUse(builtIns.complete_task),
    },
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
