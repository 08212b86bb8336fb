import { type CheckedReply, checkReplies } from './check-replies.ts';
import { indexTools } from './define-tool.ts';
import { type Interrupt, MESSAGE_VERSION, type Message, sealMessage, type ToolPart } from './messages.ts';
import { deniedPart, settledPart } from './outcomes.ts';
import type { Resume } from './replies.ts';
import { type RunSettings, runCall, type ToolFailure, type ToolProgress } from './run-call.ts';
import type { InterruptOf, Tool, ToolContext } from './tool.ts';
import { Transcript } from './transcript.ts';
import { withOwnSignal } from './with-own-signal.ts';

export interface SettleOptions<Tools extends readonly Tool[]> {
  readonly messages: readonly Message[];
  readonly tools: Tools;
  readonly resume: Resume;
  readonly context?: ToolContext | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly onToolError?: ((failure: ToolFailure) => void) | undefined;
}

export interface SettleResponse<Tools extends readonly Tool[] = readonly Tool[]> {
  /** What waits now: the siblings, and what paused again. */
  readonly interrupts: readonly InterruptOf<Tools[number]>[];
  readonly messages: readonly Message[];
  readonly newMessages: readonly Message[];
}

/** Carries out some replies by themselves and keeps their results, while the siblings wait on; no model is called. */
export async function settle<const Tools extends readonly Tool[]>(
  options: SettleOptions<Tools>,
): Promise<SettleResponse<Tools>> {
  const transcript = Transcript.from(options.messages);
  const replies = checkReplies(transcript, indexTools(options.tools), options.resume, { all: false });
  const before = transcript.messages.length;
  await withOwnSignal(options.signal, (signal) =>
    carryOut(transcript, replies, runSettings({ ...options, signal })),
  );
  const messages = transcript.seal();
  return {
    interrupts: ownInterrupts<Tools>(transcript),
    messages,
    newMessages: messages.slice(before),
  };
}

/** Runs checked replies side by side and appends what became of them as one message, in the order of the calls. */
export async function carryOut(
  transcript: Transcript,
  replies: readonly CheckedReply[],
  settings: RunSettings,
): Promise<void> {
  appendResults(transcript, await Promise.all(replies.map((reply) => carryOutOne(reply, settings))));
}

async function carryOutOne(reply: CheckedReply, settings: RunSettings): Promise<ToolPart> {
  const { call } = reply;
  switch (reply.kind) {
    case 'respond':
      return settledPart(call, 'ok', reply.output, reply.replaced);
    case 'close':
      if (reply.status === 'denied') return deniedPart(call, reply.reason, reply.replaced);
      return settledPart(call, 'closed', { status: reply.status, reason: reply.reason }, reply.replaced);
    case 'restart':
      return runCall(reply.tool, call, settings, reply.restarted);
  }
}

export function appendResults(transcript: Transcript, content: ToolPart[]): void {
  if (content.length === 0) return;
  transcript.append(sealMessage({ v: MESSAGE_VERSION, role: 'tool', content }));
}

/** Fills in what a caller left out. */
export function runSettings(
  options: Pick<SettleOptions<readonly Tool[]>, 'context' | 'onProgress' | 'onToolError'> & {
    readonly signal: AbortSignal;
  },
): RunSettings {
  return {
    context: options.context ?? {},
    signal: options.signal,
    onProgress: options.onProgress,
    onToolError: options.onToolError,
  };
}

/** The interrupts that wait, typed by the tools: a name that none of them has was refused when the call was parsed. */
export function ownInterrupts<Tools extends readonly Tool[]>(
  transcript: Transcript,
): InterruptOf<Tools[number]>[] {
  return transcript.interrupts as readonly Interrupt[] as InterruptOf<Tools[number]>[];
}
