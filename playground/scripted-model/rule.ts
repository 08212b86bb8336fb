/** A tool call that the scripted model makes. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: object;
}

/** The model's next step: a reply that ends the turn, or tool calls with optional text before them. */
export type NextStep =
  | { readonly kind: 'reply'; readonly text: string }
  | { readonly kind: 'call'; readonly text: string; readonly calls: readonly PlannedCall[] };

/** Result of a call: its output, or a status with a reason when there is none (denied, expired, error and so on). */
export type CallOutcome =
  | { readonly kind: 'output'; readonly output: unknown }
  | { readonly kind: 'closed'; readonly status: string; readonly reason: string };

/** One call since the last message, with the input that ran and its result. */
export interface PastCall {
  readonly tool: string;
  readonly input: unknown;
  readonly outcome: CallOutcome;
}

/** A tool as a request offers it to the model. */
export interface OfferedTool {
  readonly name: string;
  /** The JSON Schema of its input. */
  readonly schema: unknown;
}

/** Input of a rule. Rules keep no state: every request carries the whole conversation. */
export interface RuleInput {
  /** Text of the last message, without the author's name. */
  readonly text: string;
  /** The rest of the thread, newest first: earlier messages, quoted ones and files. */
  readonly context: string;
  /** Calls made since that message, oldest first. */
  readonly calls: readonly PastCall[];
  /** The tools that the request offers. */
  readonly tools: readonly OfferedTool[];
  /** Says how many approvals a call of this tool needs; empty when that is not certain. */
  readonly approvalNote: (tool: string) => string;
}

/** One ability of the scripted model; it handles a message that matches one of its patterns. */
export interface Rule {
  /** A message that triggers it. */
  readonly example: string;
  /** The tool without which its example leads to nothing; missing for a rule that works with any. */
  readonly tool?: string;
  readonly patterns: readonly RegExp[];
  /** Returns the next step from its input alone; it is called again after each call. */
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

/** Returns the latest call of a tool since the last message. */
export function latestCall(steps: readonly PastCall[], tool: string): PastCall | undefined {
  return steps.findLast((step) => step.tool === tool);
}

/** Formats a tool's output for people: one line per field of an object. */
export function formatOutput(output: unknown): string {
  if (typeof output !== 'object' || output === null) return String(output);
  return Object.entries(output)
    .map(
      ([name, value]) => `\n- ${name}: ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
    )
    .join('');
}
