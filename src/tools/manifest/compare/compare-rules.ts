import { type ApprovalRule, DEFAULT_POLICY_NAME } from '../../gate/approval-rules.ts';
import type { Policy } from '../../gate/policy.ts';
import { compareStrictness } from '../../gate/strictest.ts';
import { incomparable, isSame, listOf, type PartChange, stronger, weaker } from './change.ts';
import { comparePolicies } from './compare-policies.ts';
import {
  appliesTo,
  conditionKey,
  conditionsOf,
  type RuledTool,
  type Situation,
  situationInWords,
  situationsOf,
} from './situations.ts';

type Verdict = { readonly outcome: 'run' | 'deny' } | { readonly outcome: 'ask'; readonly policy: string };
/** As the manifest says; after a server's word that a tool only reads; and for a definition that no admin has seen. */
type Mode = 'written' | 'hinted' | 'unseen';

const MAX_NAMED = 6;

/**
 * Compares the rules of a tool by what they say in every combination of their conditions. Conditions are compared by their text alone, so
 * that a changed one can be anything. Policies of one name are compared elsewhere.
 */
export function compareRules(former: RuledTool, next: RuledTool): PartChange[] {
  const areSame = isSame(keyedRules(former), keyedRules(next)) && hinted(former) === hinted(next);
  const mixed = mixedPolicies(former, next, areSame);
  if (areSame) return mixed;
  const situations = situationsOf(former, next);
  if (situations === undefined)
    return [incomparable('the rules have changed, and are too many to be compared')];
  const modes: Mode[] =
    next.tool.kind === 'mcp' || former.tool.kind === 'mcp' ? ['written', 'hinted', 'unseen'] : ['written'];
  const found = new Map<string, PartChange>();
  for (const mode of modes)
    for (const situation of situations) {
      const [before, now] = [verdictOf(former, situation, mode), verdictOf(next, situation, mode)];
      const change =
        compareVerdicts([before, former], [now, next]) ??
        (now.outcome === 'run' ? compareResolvers(former, next, situation) : undefined);
      const key = `${change?.effect} ${textOf(before)} ${textOf(now)}`;
      if (change === undefined || found.has(key)) continue;
      found.set(key, { ...change, words: `${change.words}${situationInWords(situation, former, next)}` });
    }
  const changes = [...found.values()];
  const [old, current] = [conditionsOf(former), conditionsOf(next)];
  const isRewritten = old.some((key) => !current.includes(key)) && current.some((key) => !old.includes(key));
  return [...shorten(changes.map((change) => (isRewritten ? asDoubt(change) : change))), ...mixed];
}

/** A condition with another text may be true for other calls, so what follows from it is only possible. */
function asDoubt(change: PartChange): PartChange {
  return change.effect === 'weaker' ? { ...change, effect: 'incomparable' } : change;
}

function shorten(changes: readonly PartChange[]): PartChange[] {
  const weakenings = changes.filter(({ effect }) => effect !== 'stronger');
  const others = changes.filter(({ effect }) => effect === 'stronger').slice(0, 1);
  const rest = weakenings.length - MAX_NAMED;
  const more = rest > 0 ? [incomparable(`and ${rest} more changes of its rules`)] : [];
  return [...weakenings.slice(0, MAX_NAMED), ...more, ...others];
}

function hinted({ tool }: RuledTool): boolean {
  return tool.kind === 'mcp' && tool.trustHints;
}

function keyedRules(ruled: RuledTool): unknown {
  return ruled.tool.approval.map((rule) => ({
    match: rule.match ?? '*',
    require: rule.require ?? 'always',
    policy: rule.policy ?? DEFAULT_POLICY_NAME,
    when: conditionKey(rule, ruled) ?? null,
  }));
}

/** Says what the rules do in a situation, as the gate does. */
function verdictOf(ruled: RuledTool, situation: Situation, mode: Mode): Verdict {
  const { tool } = ruled;
  const own = tool.approval.filter((rule) => appliesTo(rule, ruled, situation));
  const trusted: ApprovalRule[] = hinted(ruled) && mode === 'hinted' ? [{ require: 'never' }] : [];
  const strict = [...own.filter(({ require }) => require !== 'never'), { policy: firstPolicy(own) }];
  const rules = mode === 'unseen' ? strict : [...own, ...trusted];
  for (const rule of rules) {
    const { require = 'always', policy = DEFAULT_POLICY_NAME } = rule;
    const key = conditionKey(rule, ruled);
    const truth = key === undefined ? 'true' : (situation.get(key) ?? 'false');
    if (truth === 'false') continue;
    if (require === 'deny') return { outcome: 'deny' };
    return require === 'never' && truth === 'true' ? { outcome: 'run' } : { outcome: 'ask', policy };
  }
  const mayAsk = rules.some(({ require = 'always' }) => require === 'always');
  return mayAsk ? { outcome: 'run' } : { outcome: 'ask', policy: DEFAULT_POLICY_NAME };
}

function firstPolicy(rules: readonly ApprovalRule[]): string {
  return rules.find(({ policy }) => policy !== undefined)?.policy ?? DEFAULT_POLICY_NAME;
}

const STRICTNESS = { run: 0, ask: 1, deny: 2 };

function compareVerdicts(
  [before, former]: readonly [Verdict, RuledTool],
  [now, next]: readonly [Verdict, RuledTool],
): PartChange | undefined {
  const words = `${SAID_BEFORE[before.outcome](policyText(before))} ${SAID_NOW[now.outcome](policyText(now))}`;
  const step = STRICTNESS[now.outcome] - STRICTNESS[before.outcome];
  if (step !== 0) return step < 0 ? weaker(words) : stronger(words);
  if (before.outcome !== 'ask' || now.outcome !== 'ask' || before.policy === now.policy) return undefined;
  const [old, other] = [former.manifest.policies.get(before.policy), next.manifest.policies.get(now.policy)];
  // Nobody can approve by a policy that is not there.
  if (other === undefined) return stronger(words);
  const changes = old === undefined ? [weaker('')] : comparePolicies(old, other);
  const worst = changes.find(({ effect }) => effect !== 'stronger');
  if (worst !== undefined) {
    const why = worst.words === '' ? '' : ` (${worst.words})`;
    return { effect: worst.effect, words: `${words}${why}` };
  }
  return changes.length > 0 ? stronger(words) : undefined;
}

const SAID_BEFORE = {
  run: () => 'calls that ran without approval',
  ask: (policy: string) => `calls that needed approval by "${policy}"`,
  deny: () => 'calls that were denied',
};
const SAID_NOW = {
  run: () => 'now run without approval',
  ask: (policy: string) => `now need approval by "${policy}"`,
  deny: () => 'are now denied',
};

function policyText(verdict: Verdict): string {
  return verdict.outcome === 'ask' ? verdict.policy : '';
}

function textOf(verdict: Verdict): string {
  return `${verdict.outcome} ${policyText(verdict)}`;
}

/**
 * Finds that people of one task may be under different policies. Of several policies the strictest is asked, so that a change of one of
 * them, or of the rules, may choose one that is not stricter for these calls.
 */
function mixedPolicies(former: RuledTool, next: RuledTool, areSame: boolean): PartChange[] {
  const rules = [...former.tool.approval, ...next.tool.approval];
  if (!rules.some(({ when }) => when !== undefined && /\brequester\b/.test(when))) return [];
  const names = [...new Set([former, next].flatMap(({ tool }) => askedPolicies(tool.approval)))];
  if (names.length < 2) return [];
  const isOrdered = names.every((one) =>
    names.every((other) => order(former, one, other) === order(next, one, other)),
  );
  if (areSame && isOrdered) return [];
  return [
    incomparable('it depends on the requester who approves, and another policy may now be the strictest'),
  ];
}

/** Names the policies that rules may ask; the default's is asked where no rule is for a tool. */
function askedPolicies(rules: readonly ApprovalRule[]): string[] {
  const named = rules
    .filter(({ require, when }) => require !== 'deny' && (require !== 'never' || when !== undefined))
    .map(({ policy = DEFAULT_POLICY_NAME }) => policy);
  const isSure = rules.some(({ require = 'always', match = '*' }) => require === 'always' && match === '*');
  return isSure ? named : [DEFAULT_POLICY_NAME, ...named];
}

function order({ manifest }: RuledTool, one: string, other: string): number {
  const ask = (policy: string) => ({ outcome: 'ask', rule: '', policy }) as const;
  const policyOf = (name: string): Policy | undefined => manifest.policies.get(name);
  return Math.sign(compareStrictness(ask(one), ask(other), policyOf));
}

/** Compares who is asked about an unknown outcome of a call that needed no approval: the resolvers of the first policy. */
function compareResolvers(former: RuledTool, next: RuledTool, situation: Situation): PartChange | undefined {
  const [before, now] = [former, next].map((ruled) => {
    const policy = firstPolicy(ruled.tool.approval.filter((rule) => appliesTo(rule, ruled, situation)));
    return { policy, resolvers: ruled.manifest.policies.get(policy)?.resolvers ?? [] };
  });
  if (before === undefined || now === undefined || before.policy === now.policy) return undefined;
  const added = now.resolvers.filter((id) => !before.resolvers.includes(id));
  if (added.length === 0) return undefined;
  return weaker(`${listOf(added)} may confirm an unknown outcome of calls without approval`);
}
