import type { JsonObject } from '../json.ts';
import type { CallPart, Interrupt, Message, ToolPart } from '../messages.ts';
import type { Tool } from '../tool.ts';
import type { ReplacedInput } from './outcomes.ts';

/** A call right before its function runs. */
export interface StartedCall {
  readonly call: CallPart;
  readonly tool: Extract<Tool, { kind: 'tool' }>;
  /** The input that runs: the model's, or the one that replaced it. */
  readonly input: unknown;
  /** All messages of the history so far, with the message that made the call. */
  readonly messages: readonly Message[];
  /** The evidence of the gate that admitted the call. */
  readonly evidence?: JsonObject | undefined;
}

/** The end of a started call. `paused` had no effect yet; `unknown` means that nobody can know. */
export type EffectEnd = 'succeeded' | 'failed' | 'paused' | 'unknown';

/** The reason why a call does not run: a person's stop, a gate that asks people first, or the words of an error or a denial. */
export type WhyNotRun =
  | 'stopped'
  | { readonly asks: Pick<Interrupt, 'metadata'> }
  | { readonly reason: string };

/**
 * Records the effects of calls, so that a process that takes over after a crash repeats none. It is
 * asked only after a call has passed its gate and, except for `recorded` and `count`, only about tools whose effect is not `none`.
 */
export interface EffectJournal {
  /** The time that a running effect has to end after the loop was stopped. */
  readonly stopGraceMs: number;
  /**
   * Returns the result that an earlier run of this call left on record, or its interrupt; `undefined` if the call may run, or never has.
   * Without a tool, because it is gone or the call is closed, the call will not run again.
   */
  recorded(
    call: CallPart,
    tool: Tool | undefined,
    replaced: ReplacedInput | undefined,
  ): Promise<ToolPart | undefined>;
  /** Counts a call of a tool without effects that passed its gate; a part is its result, because it may not run now. */
  count?(started: StartedCall): Promise<ToolPart | undefined>;
  /** Records the start. The call runs only if this resolves to `true`; a part is its result instead, because it may not run now. */
  start(started: StartedCall): Promise<boolean | ToolPart>;
  /** Decides about a started call whose outcome nobody knows: its result if the tool can look it up, or whether it runs once more. */
  afterUnknown?(
    call: CallPart,
    tool: Tool,
    replaced: ReplacedInput | undefined,
  ): Promise<ToolPart | 'again' | undefined>;
  /** Tells whether an earlier run of a started call may have taken effect, so that the end of this one says nothing about it. */
  mayHaveRun?(call: CallPart): boolean;
  /** Returns the interrupt of a call that does not run now, if an earlier run of it may have taken effect. */
  inDoubt?(
    call: CallPart,
    why: WhyNotRun,
    replaced: ReplacedInput | undefined,
  ): Promise<ToolPart | undefined>;
  finish(call: CallPart, end: EffectEnd, part: ToolPart): Promise<void>;
}

/** The metadata key of an interrupt whose call may or may not have taken effect; its value says why, and is empty if the process died. */
export const OUTCOME_UNKNOWN = 'outcomeUnknown';
