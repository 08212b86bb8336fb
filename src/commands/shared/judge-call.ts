import type { JsonValue } from '../../agent/json.ts';
import { effectiveInput } from '../../agent/schema/compile-schema.ts';
import type { CallPlace } from '../../tools/gate/gate.ts';
import type { Policy } from '../../tools/gate/policy.ts';
import { type RiskLevel, riskOf } from '../../tools/gate/risk.ts';
import type { Explanation } from '../../tools/gate/strictest.ts';
import { readProxy } from '../../tools/http/proxy.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { Failure } from './command.ts';
import { requireManifest } from './load-manifest.ts';

/** A call as the rules see it; without `now` it is made at this moment. */
export interface CallToJudge extends CallPlace {
  readonly tool: string;
  readonly input: JsonValue;
  readonly now?: Date | undefined;
}

/** The verdict of the rules on a call. */
export interface JudgedCall {
  readonly explanation: Explanation;
  /** Whether `allow` lets everyone of the call use the tool there. */
  readonly isAllowed: boolean;
  /** The policy that is asked, if one is and the manifest has it. */
  readonly policy: Policy | undefined;
  readonly risk: RiskLevel | undefined;
}

/** Applies the rules to a call, with the defaults of its input filled in. Nothing runs. An unknown tool is `undefined`. */
export function judgeCall(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  { tool: name, input: given, now = new Date(), ...place }: CallToJudge,
): JudgedCall | undefined {
  const entry = toolbox.find(name);
  if (entry === undefined) return undefined;
  const input = effectiveInput(entry.tool.inputSchema, given);
  const explanation = entry.explain(input, place, now);
  const { verdict } = explanation;
  const policy = verdict.outcome === 'ask' ? toolbox.policy(verdict.policy) : undefined;
  const risk = policy && riskOf(policy.risk, { tool: name, input, now, ...place, timeZone: policy.timeZone });
  return { explanation, isAllowed: entry.allows(place), policy, risk };
}

/** Opens the tools of a manifest for one command and closes them afterwards, also after an error. */
export async function withToolbox<Result>(
  file: string,
  environment: NodeJS.ProcessEnv,
  work: (toolbox: OpenToolbox) => Promise<Result>,
): Promise<Result> {
  const { manifest, folder, secrets: hidden } = await requireManifest(file, environment);
  const secrets = new Secrets();
  for (const value of hidden) secrets.add(value);
  const log = { info: () => {}, warn: () => {} };
  const toolbox = await openToolbox(manifest, { folder, secrets, log, proxy: readProxy(environment) });
  try {
    return await work(toolbox);
  } finally {
    await toolbox.close();
  }
}

/** Makes the error about a tool that the manifest does not have. */
export function unknownTool(toolbox: Pick<Toolbox, 'tools'>, name: string): Failure {
  const known = toolbox.tools().map((tool) => tool.name);
  return new Failure(`there is no tool "${name}"; the tools are ${known.join(', ')}`);
}
