import type { EnclosingCall } from './enclosing-call.ts';
import type { UnbrokenFinish } from './finish-reason.ts';
import type { GenerateOptions, GenerateResponse } from './generate.ts';
import type { Interrupt, Message, NestedRun } from './messages.ts';
import type { Resume } from './replies.ts';
import { ownInterrupts } from './settle.ts';
import type { Tool } from './tool.ts';
import { Transcript } from './transcript.ts';

type RunLoop = <Tools extends readonly Tool[]>(
  options: GenerateOptions<Tools>,
) => Promise<GenerateResponse<Tools>>;

/** Thrown through a tool whose inner `generate` paused; the call around it pauses with it. */
class NestedInterrupt extends Error {
  constructor() {
    super('A generate() inside this tool is paused; let this exception pass');
  }
}

/** Runs a `generate` that a tool called: once finished it is not run again, and its pause is the pause of the tool. */
export function generateNested<Tools extends readonly Tool[]>(
  outer: EnclosingCall,
  options: GenerateOptions<Tools>,
  runLoop: RunLoop,
): Promise<GenerateResponse<Tools>> {
  return outer.track(run());

  async function run(): Promise<GenerateResponse<Tools>> {
    const { place, before } = outer.open();
    const signal =
      options.signal === undefined ? outer.signal : AbortSignal.any([outer.signal, options.signal]);
    const response = await continueRun(before, { ...options, signal }, outer.replies, runLoop);
    outer.record(place, { finishReason: response.finishReason, messages: response.messages });
    if (response.finishReason === 'interrupted') throw new NestedInterrupt();
    return response;
  }
}

function continueRun<Tools extends readonly Tool[]>(
  before: NestedRun | undefined,
  options: GenerateOptions<Tools>,
  replies: Resume,
  runLoop: RunLoop,
): Promise<GenerateResponse<Tools>> {
  if (before === undefined || before.messages.length === 0) return runLoop(options);
  const onward = { ...options, prompt: undefined, messages: before.messages };
  switch (before.finishReason) {
    case 'interrupted':
      return runLoop({ ...onward, resume: repliesTo(before, replies) });
    case 'aborted':
    case 'model-error':
      return runLoop({ ...onward, resume: undefined });
    default:
      return Promise.resolve(finishedResponse<Tools>(before.messages, before.finishReason));
  }
}

function finishedResponse<Tools extends readonly Tool[]>(
  messages: readonly Message[],
  finishReason: UnbrokenFinish,
): GenerateResponse<Tools> {
  const transcript = Transcript.of(messages);
  return {
    finishReason,
    interrupts: ownInterrupts<Tools>(transcript),
    messages: transcript.messages,
    newMessages: [],
    text: transcript.text,
    usage: transcript.usage,
  };
}

function repliesTo(run: NestedRun, replies: Resume): Resume {
  const waiting = new Set(Transcript.of(run.messages).interrupts.map(({ id }) => id));
  const own = (reply: { readonly metadata: { readonly interruptId: string } }) =>
    waiting.has(reply.metadata.interruptId);
  return {
    respond: replies.respond?.filter(own),
    restart: replies.restart?.filter(own),
    close: replies.close?.filter(own),
  };
}

/** The interrupts inside a call that paused because a `generate` in its tool did; answer them with `restartNested`. */
export function nestedInterrupts(interrupt: Interrupt): Interrupt[] {
  return (interrupt.nested ?? [])
    .filter((run) => run.finishReason === 'interrupted')
    .flatMap((run) => Transcript.of(run.messages).interrupts);
}
