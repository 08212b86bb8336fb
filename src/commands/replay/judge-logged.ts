import { effectiveInput } from '../../agent/schema/compile-schema.ts';
import { OWN_RULE } from '../../bot/requests/classify-interrupt.ts';
import { DEFAULT_POLICY_NAME, type RuleStep } from '../../tools/gate/approval-rules.ts';
import { EDITED_RULE } from '../../tools/gate/gate.ts';
import { type CallUse, isOverLimit, judgeWithLimits, usesOf } from '../../tools/gate/limits.ts';
import type { Policy } from '../../tools/gate/policy.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { NOT_ALLOWED } from '../explain.ts';
import type { LimitCounts } from './limit-counts.ts';
import type { LoggedCall } from './logged-row.ts';

/** The reason why a call cannot be judged: the log or the candidate lacks what the rules need. */
export type Obstacle = 'no-tool' | 'no-arguments' | 'other-arguments';

/** The verdict of the candidate on a call of the log. */
export type After =
  | { readonly outcome: 'run' }
  /** A policy that the candidate does not have means that nobody could approve. */
  | { readonly outcome: 'ask'; readonly policy: Policy | undefined }
  | { readonly outcome: 'deny'; readonly reason: string }
  | { readonly outcome: 'not-judged'; readonly obstacle: Obstacle };

/** A judged call, with what the candidate's rules said and what its limits would count. */
export interface JudgedLogged {
  readonly after: After;
  readonly steps: readonly RuleStep[];
  readonly uses: readonly CallUse[];
}

/** Judges a call of the log by the rules and limits of the candidate, at the time of its row. Nothing runs. */
export async function judgeLogged(
  toolbox: Pick<Toolbox, 'find' | 'policy'>,
  call: LoggedCall,
  counts: LimitCounts,
): Promise<JudgedLogged> {
  const { tool, requesters, contextAuthors, channel, before } = call;
  const entry = toolbox.find(tool);
  if (entry === undefined) return notJudged('no-tool');
  if (call.input === undefined) return notJudged('no-arguments');
  if (!entry.tool.inputSchema.parse(call.input).ok) return notJudged('other-arguments');
  const input = effectiveInput(entry.tool.inputSchema, call.input);
  const place = { requesters, contextAuthors, channel };
  const now = new Date(call.at);
  const judged = { tool, input, now, ...place };
  const uses = usesOf(entry.limits, judged);
  if (!entry.allows(place)) return { after: { outcome: 'deny', reason: NOT_ALLOWED }, steps: [], uses };
  const policyOf = (name: string) => toolbox.policy(name);
  const ask = (name: string): After => ({ outcome: 'ask', policy: policyOf(name) });
  const rule = before.outcome === 'asked' ? before.rule : '';
  // A tool that pauses by itself has passed its rules, and does so under any manifest.
  if (rule === OWN_RULE) return { after: ask(DEFAULT_POLICY_NAME), steps: [], uses };
  const { verdict, steps } = await judgeWithLimits(
    { limits: entry.limits, call: judged, readTotals: counts.at(call.at), policyOf },
    (totals) => entry.explain(input, place, now, totals),
  );
  if (verdict.outcome === 'ask') return { after: ask(verdict.policy), steps, uses };
  if (verdict.outcome === 'deny') return { after: verdict, steps, uses };
  // An edited call is asked under the policy of the call before it, even where no rule would.
  const isEdited = before.outcome === 'asked' && rule.startsWith(EDITED_RULE);
  return { after: isEdited ? ask(before.policyName) : { outcome: 'run' }, steps, uses };
}

function notJudged(obstacle: Obstacle): JudgedLogged {
  return { after: { outcome: 'not-judged', obstacle }, steps: [], uses: [] };
}

/** Returns a name under which the decisions of a rule are counted; edits by different people are one. */
export function ruleLabel(rule: string): string {
  if (rule.startsWith(EDITED_RULE)) return `${EDITED_RULE} a person`;
  return rule;
}

/** Tells whether a rule of the log is one that the manifest can change. */
export function isOfManifest(rule: string): boolean {
  return rule !== OWN_RULE && !rule.startsWith(EDITED_RULE) && !isOverLimit({ rule });
}
