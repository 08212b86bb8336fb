import { setMaxListeners } from 'node:events';
import type { EffectJournal } from './calls/journal.ts';
import { answeredPart, deniedPart, errorPart, settledPart } from './calls/outcomes.ts';
import { type RunSettings, runCall, type ToolFailure, type ToolProgress } from './calls/run-call.ts';
import { type CheckedReply, checkReplies } from './check-replies.ts';
import type { JsonValue } from './json.ts';
import {
  type CallPart,
  type Interrupt,
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  sealMessages,
  type ToolPart,
} from './messages.ts';
import type { Replies, RestartReply } from './replies.ts';
import {
  type InterruptOf,
  indexTools,
  type Tool,
  type ToolContext,
  type ToolIn,
  type ToolSet,
} from './tool.ts';
import { Transcript } from './transcript.ts';
import type { FileSink } from './util/tool-files.ts';

/** The options for running tools. */
export interface RunOptions {
  readonly context?: ToolContext | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  readonly onToolError?: ((failure: ToolFailure) => void) | undefined;
  /** Records the effects of calls; with it, `settle` also ends calls that an earlier process left without a result. */
  readonly journal?: EffectJournal | undefined;
  /** Takes the files that tools send to people. */
  readonly files?: FileSink | undefined;
}

export interface SettleOptions<Tools extends ToolSet> extends RunOptions {
  readonly messages: readonly Message[];
  readonly tools: Tools;
  readonly resume: Replies;
}

export interface SettleResponse<Tools extends ToolSet = ToolSet> {
  /** The calls that wait now: those without a reply, and those that paused again. */
  readonly interrupts: readonly InterruptOf<ToolIn<Tools>>[];
  readonly messages: readonly Message[];
  readonly newMessages: readonly Message[];
}

/** Applies some replies and keeps their results, while the other calls wait on; no model is called. */
export async function settle<const Tools extends ToolSet>(
  options: SettleOptions<Tools>,
): Promise<SettleResponse<Tools>> {
  const transcript = Transcript.of(options.messages, { mayBeOpen: options.journal !== undefined });
  const before = transcript.length;
  const tools = indexTools(options.tools);
  const replies = checkReplies(transcript, tools, options.resume, { all: false });
  await withRunSettings(options, transcript, async (settings) => {
    await endOpenCalls(transcript, tools, settings);
    await applyReplies(transcript, replies, settings);
  });
  const { messages } = transcript;
  return {
    interrupts: typedInterrupts<Tools>(transcript),
    messages,
    newMessages: messages.slice(before),
  };
}

/** One call, without the messages around it. */
export interface CallAloneOptions extends RunOptions {
  readonly call: CallPart;
  readonly tool: Tool;
}

/** Makes one call, without messages around it, and returns its result or its pause. */
export async function callAlone({ call, tool, ...options }: CallAloneOptions): Promise<ToolPart> {
  const made = sealMessage({ v: MESSAGE_VERSION, role: 'model', content: [call] });
  const transcript = Transcript.of(sealMessages([made]), { mayBeOpen: true });
  return withRunSettings(options, transcript, (settings) => runCall(tool, call, settings));
}

/** A call that waits, with the reply that restarts it. */
export interface RestartOptions extends CallAloneOptions {
  readonly interrupt: Interrupt<string, JsonValue>;
  readonly reply: RestartReply;
}

/** Restarts one call that waits, without the messages around it, and returns its result or its next pause. */
export async function restartAlone({
  call,
  interrupt,
  tool,
  reply,
  ...options
}: RestartOptions): Promise<ToolPart> {
  const transcript = Transcript.of(
    sealMessages([
      sealMessage({ v: MESSAGE_VERSION, role: 'model', content: [call] }),
      sealMessage({ v: MESSAGE_VERSION, role: 'tool', content: [{ interrupt }] }),
    ]),
  );
  const [checked] = checkReplies(transcript, indexTools([tool]), { restart: [reply] }, { all: true });
  if (checked?.kind !== 'restart') throw new Error(`Call ${call.toolRequest.ref} has no reply`);
  return withRunSettings(options, transcript, async (settings) =>
    answeredPart(await runCall(tool, checked.call, settings, checked.restarted), checked.answeredBy),
  );
}

/** Applies checked replies in parallel and appends their results as one message, in the order of the calls. */
export async function applyReplies(
  transcript: Transcript,
  replies: readonly CheckedReply[],
  settings: RunSettings,
): Promise<void> {
  appendResults(transcript, await Promise.all(replies.map((reply) => applyReply(reply, settings))));
}

/** Ends the calls that an earlier process left without a result: from the journal, or by running them. */
async function endOpenCalls(
  transcript: Transcript,
  tools: ReadonlyMap<string, Tool>,
  settings: RunSettings,
): Promise<void> {
  const open = [...transcript.round.values()].flatMap(({ state, part }) => (state === 'open' ? [part] : []));
  const parts = open.map(async (part) => {
    const tool = tools.get(part.toolRequest.name);
    if (tool !== undefined) return runCall(tool, part, settings);
    const recorded = await settings.journal?.recorded(part, undefined, undefined);
    return recorded ?? errorPart(part, 'Not run: the tool is gone');
  });
  appendResults(transcript, await Promise.all(parts));
}

async function applyReply(reply: CheckedReply, settings: RunSettings): Promise<ToolPart> {
  const { call } = reply;
  switch (reply.kind) {
    case 'respond':
      return answeredPart(settledPart(call, 'ok', reply.output, reply.replaced), reply.answeredBy);
    case 'close': {
      // A call that has run since it paused has the outcome of that run, whatever ends its request.
      const recorded = await settings.journal?.recorded(call, undefined, reply.replaced);
      if (recorded !== undefined) return recorded;
      if (reply.status === 'denied') return deniedPart(call, reply.reason, reply.replaced);
      return settledPart(call, 'closed', { status: reply.status, reason: reply.reason }, reply.replaced);
    }
    case 'restart':
      return answeredPart(await runCall(reply.tool, call, settings, reply.restarted), reply.answeredBy);
  }
}

export function appendResults(transcript: Transcript, content: ToolPart[]): void {
  if (content.length === 0) return;
  transcript.append(sealMessage({ v: MESSAGE_VERSION, role: 'tool', content }));
}

/**
 * Runs work with complete settings and a signal of its own, which follows the caller's and lets go of it at the end. Many calls listen
 * to it at once, and the `openai` client never removes its listeners; on a signal that lives long they would pile up.
 */
export async function withRunSettings<Result>(
  { context = {}, signal, onProgress, onToolError, journal, files }: RunOptions,
  transcript: Transcript,
  work: (settings: RunSettings) => Promise<Result>,
): Promise<Result> {
  const own = new AbortController();
  setMaxListeners(0, own.signal);
  const follow = () => own.abort(signal?.reason);
  if (signal?.aborted) follow();
  signal?.addEventListener('abort', follow, { once: true });
  try {
    return await work({
      context,
      signal: own.signal,
      onProgress,
      onToolError,
      journal,
      files,
      messages: () => transcript.messages,
    });
  } finally {
    signal?.removeEventListener('abort', follow);
  }
}

/** Types the interrupts by the tools: a call with any other name was refused when it was parsed. */
export function typedInterrupts<Tools extends ToolSet>(
  transcript: Transcript,
): readonly InterruptOf<ToolIn<Tools>>[] {
  return transcript.interrupts as readonly Interrupt[] as readonly InterruptOf<ToolIn<Tools>>[];
}
