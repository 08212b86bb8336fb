import { isJsonObject, toJson } from '../../agent/json.ts';
import type { BuiltInUse, Manifest } from './manifest.ts';
import type { AgentFile, AuditFile, ManifestFile } from './manifest-file.ts';
import { toPolicy } from './to-policy.ts';
import { toTool } from './to-tool.ts';

const DEFAULT_MAX_STEPS = 20;
const DEFAULT_PENDING_PER_THREAD = 10;
const DEFAULT_PENDING_PER_PERSON = 25;

/** The manifest that a checked file stands for. */
export function toManifest(written: ManifestFile): Manifest {
  const { slack, agent = {}, policies = {}, tools = {}, audit = {} } = written;
  const section = toJson(slack);
  return {
    slack: isJsonObject(section) ? section : {},
    agent: toAgent(agent),
    policies: new Map(Object.entries(policies).map(([name, policy]) => [name, toPolicy(name, policy)])),
    tools: Object.entries(tools).flatMap(([name, tool]) => toTool(name, tool) ?? []),
    audit: toAudit(audit),
  };
}

function toAgent({ built_ins: builtIns = {}, limits = {}, ...written }: AgentFile): Manifest['agent'] {
  return {
    model: written.model,
    instructions: written.instructions,
    maxSteps: written.max_steps ?? DEFAULT_MAX_STEPS,
    contextBudget: written.context_budget,
    limits: {
      pendingPerThread: limits.pending_per_thread ?? DEFAULT_PENDING_PER_THREAD,
      pendingPerPerson: limits.pending_per_person ?? DEFAULT_PENDING_PER_PERSON,
    },
    admins: written.admins ?? [],
    builtIns: {
      ask_question: toUse(builtIns.ask_question),
      request_form: toUse(builtIns.request_form),
      wait_for_callback: toUse(builtIns.wait_for_callback),
      complete_task: toUse(builtIns.complete_task),
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

function toUse(written: boolean | { readonly limit_to: 'requester' } | undefined): BuiltInUse {
  if (typeof written === 'object') return written.limit_to;
  return written === false ? 'off' : 'anyone';
}
