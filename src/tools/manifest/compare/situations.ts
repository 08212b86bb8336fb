import { serialize } from '@marcbachmann/cel-js';
import { type ApprovalRule, DEFAULT_POLICY_NAME, isFor } from '../../gate/approval-rules.ts';
import { conditionEnvironment } from '../../gate/condition.ts';
import { conditionInWords } from '../../gate/condition-words.ts';
import type { Manifest, ToolDeclaration } from '../manifest.ts';
import { expressionKey } from './compare-policies.ts';

/** The rules of one tool in one manifest. */
export interface RuledTool {
  readonly tool: ToolDeclaration;
  readonly manifest: Manifest;
}

/** The verdict of a pattern or a condition on a call; a condition may also not be evaluable. */
export type Truth = 'true' | 'false' | 'not-evaluated';
export type Situation = ReadonlyMap<string, Truth>;

/** More would take long, and nobody could review them in a card. */
const MAX_SITUATIONS = 20_000;

function zoneOf({ manifest }: RuledTool, policy: string): { readonly timeZone: string } {
  return { timeZone: manifest.policies.get(policy)?.timeZone ?? manifest.agent.timeZone };
}

/** The conditions of rules as the parser writes them, since each is asked for in every situation. */
const written = new WeakMap<ApprovalRule, string>();

/** Writes a condition so that equal ones have equal texts. */
export function conditionKey(rule: ApprovalRule, ruled: RuledTool): string | undefined {
  if (rule.when === undefined) return undefined;
  const { when, policy = DEFAULT_POLICY_NAME } = rule;
  const text = written.get(rule) ?? serialize(conditionEnvironment.parse(when).ast);
  written.set(rule, text);
  return expressionKey(text, zoneOf(ruled, policy));
}

export function conditionsOf(ruled: RuledTool): string[] {
  return ruled.tool.approval.flatMap((rule) => conditionKey(rule, ruled) ?? []);
}

/** A pattern for tools whose names the manifest does not have; `undefined` where it is known whether it matches. */
function patternKey({ match }: ApprovalRule, { tool }: RuledTool): string | undefined {
  if (match === undefined || match === '*' || tool.kind === 'http') return undefined;
  return `match ${match}`;
}

/** Lists every combination, those with the fewest true conditions first; `undefined` if there are too many. */
export function situationsOf(former: RuledTool, next: RuledTool): Situation[] | undefined {
  const domains = new Map<string, readonly Truth[]>();
  for (const ruled of [former, next]) {
    for (const rule of ruled.tool.approval) {
      const [pattern, condition] = [patternKey(rule, ruled), conditionKey(rule, ruled)];
      if (pattern !== undefined) domains.set(pattern, ['false', 'true']);
      if (condition !== undefined) domains.set(condition, ['false', 'true', 'not-evaluated']);
    }
  }
  let all: [string, Truth][][] = [[]];
  for (const [key, truths] of domains) {
    if (all.length * truths.length > MAX_SITUATIONS) return undefined;
    all = truths.flatMap((truth) => all.map((situation) => [...situation, [key, truth] as [string, Truth]]));
  }
  const weight = (situation: readonly [string, Truth][]) =>
    situation.reduce((sum, [, truth]) => sum + ['false', 'true', 'not-evaluated'].indexOf(truth), 0);
  return all.sort((one, other) => weight(one) - weight(other)).map((situation) => new Map(situation));
}

export function appliesTo(rule: ApprovalRule, ruled: RuledTool, situation: Situation): boolean {
  const pattern = patternKey(rule, ruled);
  return pattern === undefined ? isFor(rule, ruled.tool.name) : situation.get(pattern) === 'true';
}

/** Says for which calls: those for which some conditions are true, or cannot be checked. */
export function situationInWords(situation: Situation, former: RuledTool, next: RuledTool): string {
  const texts = new Map(
    [former, next].flatMap((ruled) =>
      ruled.tool.approval.map((rule) => [conditionKey(rule, ruled), rule.when ?? ''] as const),
    ),
  );
  const parts = [...situation].flatMap(([key, truth]) => {
    if (truth === 'false') return [];
    if (key.startsWith('match ')) return [`the tool is ${key.slice('match '.length)}`];
    const words = conditionInWords(texts.get(key) ?? key);
    return [truth === 'true' ? words : `it cannot be checked whether ${words}`];
  });
  if (situation.size === 0) return '';
  return parts.length === 0 ? ', where no condition is true' : `, where ${parts.join(' and ')}`;
}
