import type { RuleStep } from '../../tools/gate/approval-rules.ts';
import type { OpenToolbox } from '../../tools/toolbox/open-toolbox.ts';
import { isOfManifest } from './judge-logged.ts';
import type { RuleStats } from './rule-tally.ts';

/** Fewer decisions than this say nothing about a rule. */
const MIN_FOR_NEVER = 10;
const MIN_FOR_OTHERS = 5;
/** Approvals within this time were hardly looked at. */
const QUICK_SECONDS = 120;

/** A suggestion about one rule or one tool. */
export interface Suggestion {
  readonly tool: string;
  readonly rule: string;
  readonly words: string;
}

/** Suggests what to do about rules by the way people decided. It never changes anything. */
export function suggestFromDecisions(rules: readonly RuleStats[]): Suggestion[] {
  return rules
    .filter(({ rule }) => isOfManifest(rule))
    .flatMap((stats) => {
      const words = [approvedAtOnce(stats), oftenRejected(stats), oftenExpired(stats)];
      const { tool, rule } = stats;
      return words.flatMap((each) => (each === undefined ? [] : [{ tool, rule, words: each }]));
    });
}

function approvedAtOnce({ approved, rejected, medianSeconds = 0 }: RuleStats): string | undefined {
  const decided = approved + rejected;
  if (decided < MIN_FOR_NEVER || rejected > 0 || medianSeconds > QUICK_SECONDS) return undefined;
  return `approved ${approved} of ${decided}, half of them within ${inWords(medianSeconds)}: consider "require: never" with a limit, or "grants"`;
}

function oftenRejected({ approved, rejected }: RuleStats): string | undefined {
  const decided = approved + rejected;
  if (decided < MIN_FOR_OTHERS || rejected * 2 < decided) return undefined;
  return `rejected ${rejected} of ${decided}: consider "require: deny" with a reason for such calls`;
}

function oftenExpired({ requests, expired }: RuleStats): string | undefined {
  if (requests < MIN_FOR_OTHERS || expired * 3 < requests) return undefined;
  return `expired ${expired} of ${requests}: consider other approvers, "remind" or "escalate"`;
}

/** Remembers which rules of the candidate decided a call. */
export class ReachedRules {
  readonly #tools = new Map<
    string,
    { calls: number; readonly rules: Map<number, string>; readonly reached: Set<number> }
  >();

  /** Adds what the rules said of one call. */
  add(tool: string, steps: readonly RuleStep[]): void {
    if (steps.length === 0) return;
    const known = this.#tools.get(tool) ?? { calls: 0, rules: new Map(), reached: new Set() };
    this.#tools.set(tool, known);
    known.calls += 1;
    for (const { number, rule, result } of steps) {
      // A rule for other tools of the same entry is none of this one.
      if (result !== 'other-tool') known.rules.set(number, rule.when ?? rule.match ?? 'without a condition');
      if (result === 'true' || result === 'no-condition' || result === 'not-evaluated')
        known.reached.add(number);
    }
  }

  /** Lists the rules of the candidate that decided no call, and the tools with an effect that no call is on the log of. */
  unreached(toolbox: Pick<OpenToolbox, 'tools' | 'find'>): Suggestion[] {
    const rules = [...this.#tools].flatMap(([tool, { calls, rules, reached }]) =>
      [...rules]
        .filter(([number]) => !reached.has(number))
        .map(([number, when]) => ({
          tool,
          rule: `rule ${number} (${when})`,
          words: `decided none of ${calls === 1 ? '1 call' : `${calls} calls`}: consider whether it is needed`,
        })),
    );
    const unused = toolbox
      .tools()
      .filter((tool) => tool.kind === 'tool' && tool.effect !== 'none' && !this.#tools.has(tool.name))
      .filter(({ name }) => toolbox.find(name)?.source !== 'built-in')
      .map(({ name }) => ({ tool: name, rule: '', words: 'no call of it is on the log' }));
    return [...rules, ...unused];
  }
}

/** Writes a time in its largest unit. */
export function inWords(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
