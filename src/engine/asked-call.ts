import { toJson } from '../agent/json.ts';
import type { CallPart, Interrupt } from '../agent/messages.ts';
import { editorOf } from '../tools/gate.ts';
import type { ToolEntry } from '../tools/toolbox/toolbox.ts';
import { waitingAnswerOf } from '../tools/waiting-answer.ts';
import type { AskedCall, RequestOrigin } from './facets/facet.ts';
import { innerCalls } from './inner-calls.ts';

/** A call that waits, with its pause and its tool. */
export interface WaitingWork {
  readonly call: CallPart;
  readonly interrupt: Interrupt;
  /** The tool as it is now; `undefined` if it is gone, or its server is down. */
  readonly entry: ToolEntry | undefined;
}

/** Reads a call that waits as facets see it. */
export function readAskedCall(origin: RequestOrigin, { call, interrupt, entry }: WaitingWork): AskedCall {
  const inner = innerCalls(interrupt);
  const answer = waitingAnswerOf(interrupt);
  return {
    origin,
    call,
    interrupt,
    entry,
    input: toJson(interrupt.toolRequest.input),
    editor: editorOf(interrupt),
    inner,
    answer,
    isWhole: inner === undefined && answer === undefined,
  };
}
