import type { JsonObject } from '../json.ts';
import type { CallPart, Message, ToolPart } from '../messages.ts';
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

/**
 * Records the effects of calls, so that a process that takes over after a crash repeats none. It is
 * asked only after a call has passed its gate and, except for `count`, only about tools whose effect is not `none`.
 */
export interface EffectJournal {
  /** The time that a running effect has to end after the loop was stopped. */
  readonly stopGraceMs: number;
  /** Returns the result that an earlier run of this call left on record, or its interrupt; `undefined` if the call may run. */
  recorded(call: CallPart, tool: Tool, replaced: ReplacedInput | undefined): Promise<ToolPart | undefined>;
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
  /** Returns the interrupt of a call that a stop keeps from running, if an earlier run of it may have taken effect. */
  stopped?(call: CallPart, replaced: ReplacedInput | undefined): Promise<ToolPart | undefined>;
  finish(call: CallPart, end: EffectEnd, part: ToolPart): Promise<void>;
}

/** The metadata key of an interrupt whose call may or may not have taken effect. */
export const OUTCOME_UNKNOWN = 'outcomeUnknown';
