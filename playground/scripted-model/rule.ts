/** A call that the scripted model makes. */
export interface Call {
  readonly name: string;
  readonly arguments: object;
}

/** What the model does next: it speaks and is done, or it calls tools, perhaps with words before. */
export type Move =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly text: string; readonly calls: readonly Call[] };

/** What became of a call: its output, or a status with a reason where there is none (denied, expired, error and so on). */
export type Outcome =
  | { readonly kind: 'output'; readonly output: unknown }
  | { readonly kind: 'closed'; readonly status: string; readonly reason: string };

/** One call since the person spoke, with the input that really ran and what became of it. */
export interface Step {
  readonly tool: string;
  readonly input: unknown;
  readonly outcome: Outcome;
}

/** All that a scene sees. There is nothing to remember: the next request carries the whole conversation again. */
export interface Moment {
  /** What the person said, without their name. */
  readonly words: string;
  /** What was done since, oldest first. */
  readonly steps: readonly Step[];
  /** A sentence about who has to sign calls of a tool, by what the bot has told the model; empty where nobody has. */
  readonly ruleFor: (tool: string) => string;
}

/** One thing that the scripted model can do; it takes a message that fits one of its patterns. */
export interface Scene {
  /** What one can say to see it. */
  readonly example: string;
  readonly takes: readonly RegExp[];
  /** Gives the next move, looking only at the moment: with more steps it is asked again. */
  readonly play: (moment: Moment) => Move;
}

export function say(...sentences: readonly string[]): Move {
  return { kind: 'say', text: sentences.filter((sentence) => sentence !== '').join(' ') };
}

export function call(calls: Call | readonly Call[], ...sentences: readonly string[]): Move {
  const text = sentences.filter((sentence) => sentence !== '').join(' ');
  return { kind: 'call', text, calls: 'name' in calls ? [calls] : calls };
}

/** The latest call of a tool since the person spoke. */
export function latest(steps: readonly Step[], tool: string): Step | undefined {
  return steps.findLast((step) => step.tool === tool);
}
