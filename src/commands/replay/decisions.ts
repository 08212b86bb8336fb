import { medianOf } from '../../bot/inbox/policy-stats.ts';
import { OWN_RULE } from '../../engine/classify-interrupt.ts';
import { isOverLimit } from '../../policy/limits.ts';
import type { RuleStep } from '../../policy/rules.ts';
import { EDITED_RULE } from '../../tools/gate.ts';
import type { OpenToolbox } from '../../tools/toolbox/open-toolbox.ts';
import type { LoggedCall, RequestStep } from './logged-row.ts';

/** The decisions about the requests of one rule of one tool. */
export interface RuleStats {
  readonly tool: string;
  readonly rule: string;
  readonly policy: string;
  readonly requests: number;
  readonly approved: number;
  readonly rejected: number;
  readonly expired: number;
  /** From the request to the approval or the rejection that decided it; `undefined` if nobody decided any. */
  readonly medianSeconds: number | undefined;
}

type Tally = { -readonly [Key in keyof Omit<RuleStats, 'medianSeconds'>]: RuleStats[Key] } & {
  readonly seconds: number[];
};

/** A suggestion about one rule or one tool. */
export interface Suggestion {
  readonly tool: string;
  readonly rule: string;
  readonly words: string;
}

/** Counts how the requests of each rule were decided, and how fast, and which rules of the candidate decided a call. */
export class Decisions {
  readonly #tallies = new Map<string, Tally>();
  readonly #tools = new Map<
    string,
    { calls: number; readonly rules: Map<number, string>; readonly reached: Set<number> }
  >();

  /** Counts a request, and returns the function that counts its decision. */
  ask({ tool, before, at: askedAt }: LoggedCall): (step: RequestStep, at: number) => void {
    if (before.outcome !== 'asked') return () => {};
    // Edits by different people are one rule.
    const rule = before.rule.startsWith(EDITED_RULE) ? `${EDITED_RULE} a person` : before.rule;
    const named = { tool, rule, policy: before.policyName };
    const key = JSON.stringify(named);
    const counts = { requests: 0, approved: 0, rejected: 0, expired: 0 };
    const tally = this.#tallies.get(key) ?? { ...named, ...counts, seconds: [] };
    this.#tallies.set(key, tally);
    tally.requests += 1;
    return (step, at) => {
      if (step !== 'approved' && step !== 'rejected' && step !== 'expired') return;
      tally[step] += 1;
      if (step !== 'expired') tally.seconds.push((at - askedAt) / 1000);
    };
  }

  /** Adds what the rules of the candidate said of one call. */
  reach(tool: string, steps: readonly RuleStep[]): void {
    if (steps.length === 0) return;
    const known = this.#tools.get(tool) ?? { calls: 0, rules: new Map(), reached: new Set() };
    this.#tools.set(tool, known);
    known.calls += 1;
    for (const { number, rule, result } of steps) {
      // A rule for other tools of the same entry is none of this one.
      if (result !== 'other-tool') known.rules.set(number, rule.when ?? rule.match ?? 'without a condition');
      if (['true', 'no-condition', 'not-evaluated'].includes(result)) known.reached.add(number);
    }
  }

  /** Lists the rules of the log, those with the most requests first. */
  rules(): RuleStats[] {
    return [...this.#tallies.values()]
      .map(({ seconds, ...counts }) => ({ ...counts, medianSeconds: medianOf(seconds) }))
      .sort((left, right) => right.requests - left.requests || (left.tool < right.tool ? -1 : 1));
  }

  /** Suggests what to do about rules by the way people decided, and names what no call has needed. It never changes anything. */
  consider(toolbox: Pick<OpenToolbox, 'tools' | 'find'>): Suggestion[] {
    const decided = this.rules()
      .filter(({ rule }) => rule !== OWN_RULE && !rule.startsWith(EDITED_RULE) && !isOverLimit({ rule }))
      .flatMap((stats) =>
        suggestionsFor(stats).map((words) => ({ tool: stats.tool, rule: stats.rule, words })),
      );
    const unreached = [...this.#tools].flatMap(([tool, { calls, rules, reached }]) =>
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
    return [...decided, ...unreached, ...unused];
  }
}

/** Fewer decisions than this say nothing about a rule. */
const MIN_FOR_NEVER = 10;
const MIN_FOR_OTHERS = 5;
/** Approvals within this time were hardly looked at. */
const QUICK_SECONDS = 120;

function suggestionsFor({ requests, approved, rejected, expired, medianSeconds = 0 }: RuleStats): string[] {
  const decided = approved + rejected;
  const isQuick = decided >= MIN_FOR_NEVER && rejected === 0 && medianSeconds <= QUICK_SECONDS;
  return [
    ...(isQuick
      ? [
          `approved ${approved} of ${decided}, half of them within ${secondsInWords(medianSeconds)}: consider "require: never" with a limit, or "grants"`,
        ]
      : []),
    ...(decided >= MIN_FOR_OTHERS && rejected * 2 >= decided
      ? [`rejected ${rejected} of ${decided}: consider "require: deny" with a reason for such calls`]
      : []),
    ...(requests >= MIN_FOR_OTHERS && expired * 3 >= requests
      ? [`expired ${expired} of ${requests}: consider other approvers, "notify.remind" or "escalate"`]
      : []),
  ];
}

/** Writes a time in its largest unit. */
export function secondsInWords(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 129_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
