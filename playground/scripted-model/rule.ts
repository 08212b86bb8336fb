/** A call that the scripted model makes. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: object;
}

/** What the model does next: it speaks and is done, or it calls tools, perhaps with words before. */
export type NextStep =
  | { readonly kind: 'reply'; readonly text: string }
  | { readonly kind: 'call'; readonly text: string; readonly calls: readonly PlannedCall[] };

/** What became of a call: its output, or a status with a reason where there is none (denied, expired, error and so on). */
export type CallOutcome =
  | { readonly kind: 'output'; readonly output: unknown }
  | { readonly kind: 'closed'; readonly status: string; readonly reason: string };

/** One call since the person spoke, with the input that really ran and what became of it. */
export interface PastCall {
  readonly tool: string;
  readonly input: unknown;
  readonly outcome: CallOutcome;
}

/** All that a scene sees. There is nothing to remember: the next request carries the whole conversation again. */
export interface RuleInput {
  /** What the person said, without their name. */
  readonly text: string;
  /** What was done since, oldest first. */
  readonly calls: readonly PastCall[];
  /** A sentence about who has to sign calls of a tool, by what the bot has told the model; empty where nobody has. */
  readonly approvalRuleFor: (tool: string) => string;
}

/** One thing that the scripted model can do; it takes a message that fits one of its patterns. */
export interface Rule {
  /** What one can say to see it. */
  readonly example: string;
  readonly patterns: readonly RegExp[];
  /** Gives the next move, looking only at the moment: with more steps it is asked again. */
  readonly next: (moment: RuleInput) => NextStep;
}

export function reply(...sentences: readonly string[]): NextStep {
  return { kind: 'reply', text: sentences.filter((sentence) => sentence !== '').join(' ') };
}

export function callTools(
  calls: PlannedCall | readonly PlannedCall[],
  ...sentences: readonly string[]
): NextStep {
  const text = sentences.filter((sentence) => sentence !== '').join(' ');
  return { kind: 'call', text, calls: 'name' in calls ? [calls] : calls };
}

/** The latest call of a tool since the person spoke. */
export function latestCall(steps: readonly PastCall[], tool: string): PastCall | undefined {
  return steps.findLast((step) => step.tool === tool);
}
