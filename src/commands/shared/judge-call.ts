import type { JsonValue } from '../../agent/json.ts';
import { effectiveInput } from '../../agent/schema/compile-schema.ts';
import { countersOfDone, firstOfFacts, readFirstTimes } from '../../policy/first-times.ts';
import { type CallUse, judgeWithLimits, type ReadTotals, usesOf } from '../../policy/limits.ts';
import { type Policy, type RiskLevel, riskOf, sourceInWords } from '../../policy/policy.ts';
import type { Explanation } from '../../policy/rules.ts';
import type { CallPlace } from '../../tools/gate.ts';
import { readProxy } from '../../tools/http/proxy.ts';
import type { ToolDeclaration } from '../../tools/manifest/manifest.ts';
import { describeUnknownTool } from '../../tools/manifest/problem.ts';
import { Secrets } from '../../tools/secrets.ts';
import { type OpenToolbox, openToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { parseLock, readLockText, type ToolLock } from '../../tools/toolbox/tool-lock.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { Failure } from './command.ts';
import { requireManifest } from './load-manifest.ts';

export const NOT_ALLOWED = '"allow" does not name this person or this channel';

/** A call as the rules see it; without `now` it is made at this moment, and without `readTotals` limits are left out. */
export interface CallToJudge extends CallPlace {
  readonly tool: string;
  readonly input: JsonValue;
  readonly now?: Date | undefined;
  readonly readTotals?: ReadTotals | undefined;
}

/** The verdict on a call. */
export interface JudgedCall {
  readonly explanation: Pick<Explanation, 'verdict' | 'steps'>;
  /** Whether `allow` lets everyone of the call use the tool there; otherwise the verdict says so, and no rule was asked. */
  readonly isAllowed: boolean;
  /** Amounts that the call counts against limits. */
  readonly uses: readonly CallUse[];
  /** The counters of first times that the call counts once it has succeeded. */
  readonly done: readonly { readonly key: string }[];
  /** The policy that is asked, if one is and the manifest has it. */
  readonly policy: Policy | undefined;
  readonly risk: RiskLevel | undefined;
}

/** Judges a call as the gate does, with the defaults of its input filled in. Nothing runs. An unknown tool is `undefined`. */
export async function judgeCall(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  { tool, input: given, now = new Date(), readTotals, ...where }: CallToJudge,
): Promise<JudgedCall | undefined> {
  const entry = toolbox.find(tool);
  if (entry === undefined) return undefined;
  const input = effectiveInput(entry.tool.inputSchema, given);
  const { limits, reversible, firstDays } = entry;
  const target = entry.presentation.targetOf(input);
  const done =
    firstDays === undefined ? [] : countersOfDone({ tool, target, people: where.requesters }, firstDays);
  const people = [...where.requesters, ...where.contextAuthors];
  const read =
    readTotals === undefined || firstDays === undefined
      ? undefined
      : await readFirstTimes({ tool, target, people }, firstDays, readTotals);
  const place = { ...where, firstOf: where.firstOf ?? firstOfFacts(read) };
  const call = { tool, input, now, reversible, ...place };
  const isAllowed = entry.allows(place);
  const policyOf = (name: string) => toolbox.policy(name);
  const explanation: JudgedCall['explanation'] = isAllowed
    ? await judgeWithLimits({ limits, call, readTotals, policyOf }, (totals) =>
        entry.explain(input, place, now, totals),
      )
    : { verdict: { outcome: 'deny', rule: 'allow', reason: NOT_ALLOWED }, steps: [] };
  const { verdict } = explanation;
  const policy = verdict.outcome === 'ask' ? policyOf(verdict.policy) : undefined;
  const risk = policy && riskOf(policy.risk, { ...call, timeZone: policy.timeZone });
  return { explanation, isAllowed, uses: usesOf(limits, call), done, policy, risk };
}

/** Names the people of a group with its quorum. */
export function groupInWords({
  any,
  from,
  quorum,
}: Pick<Policy['groups'][number], 'any' | 'quorum'> &
  Partial<Pick<Policy['groups'][number], 'from'>>): string {
  return `${quorum} of ${[...any, ...(from === undefined ? [] : [sourceInWords(from)])].join(', ')}`;
}

/** Opens the tools of a manifest for one command and closes them afterwards, also after an error. */
export async function withToolbox<Result>(
  file: string,
  environment: NodeJS.ProcessEnv,
  work: (toolbox: OpenToolbox) => Promise<Result>,
  {
    withoutSecrets,
    areServersLocked = false,
  }: {
    readonly withoutSecrets?: boolean | undefined;
    /** Whether the lock file tells the tools of servers, so that none is started. */
    readonly areServersLocked?: boolean;
  } = {},
): Promise<Result> {
  const {
    manifest: declared,
    folder,
    secrets: hidden,
  } = await requireManifest(file, environment, {
    withoutSecrets,
  });
  const lock = areServersLocked ? parseLock(await readLockText(folder)) : undefined;
  const manifest =
    lock === undefined
      ? declared
      : { ...declared, tools: declared.tools.flatMap((tool) => lockedTools(tool, lock)) };
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

/**
 * Returns the tools of a locked server as tools with the same rules that take any input. The hints of a server are not in the lock file, so one
 * whose hints are trusted is left as it is.
 */
function lockedTools(declaration: ToolDeclaration, lock: ToolLock): ToolDeclaration[] {
  if (declaration.kind !== 'mcp' || declaration.trustHints) return [declaration];
  const { approval, effect, maxAttempts, retryForMs, allow, maxOutput, images, asWritten } = declaration;
  // The parts of its texts that rules can see.
  const cards = declaration.cards.map(({ match, target, undo, reversible }) => ({
    ...{ match, target, undo, reversible },
  }));
  return lock.toolsOf(declaration.name).map((name) => ({
    ...{ name, approval, effect, maxAttempts, retryForMs, allow, maxOutput, images, asWritten, cards },
    kind: 'http',
    definition: {
      name,
      description: name,
      inputSchema: { type: 'object' },
      method: 'POST',
      url: 'https://locked.invalid/',
    },
  }));
}

/** Makes the error about a tool that the manifest does not have. */
export function unknownTool(toolbox: Pick<OpenToolbox, 'tools' | 'problems'>, name: string): Failure {
  const known = toolbox.tools().map((tool) => tool.name);
  const missing = toolbox.problems().map((problem) => `\n  not loaded: ${problem.split('\n')[0]}`);
  return new Failure(`${describeUnknownTool(name, known)}${missing.join('')}`);
}
