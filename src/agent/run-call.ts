import { inspect } from 'node:util';
import { outcomeUnknown } from './errors.ts';
import { copyJson, isJsonObject, type JsonObject, type JsonValue, toJson } from './json.ts';
import { areSmall, type CallPart, type Media, type NestedRun, type ToolPart } from './messages.ts';
import { RunningCall } from './nested.ts';
import { deniedPart, errorPart, type ReplacedInput, settledPart, waitingPart } from './outcomes.ts';
import type { Resume } from './replies.ts';
import type { Tool, ToolContext, ToolHelpers } from './tool.ts';

export interface ToolProgress {
  readonly name: string;
  readonly ref: string;
  readonly message: string;
  readonly fraction: number | undefined;
}

export interface ToolFailure {
  readonly name: string;
  readonly ref: string;
  readonly error: unknown;
}

/** The settings that all calls of one `generate` share. */
export interface RunSettings {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
  readonly onToolError: ((failure: ToolFailure) => void) | undefined;
}

/** The state of a restarted call beyond that of a first run. */
export interface Restarted {
  readonly resumed: JsonObject | undefined;
  readonly replaced: ReplacedInput | undefined;
  readonly nested: { readonly before: readonly NestedRun[]; readonly replies: Resume } | undefined;
}

class Interrupted extends Error {
  readonly metadata: JsonObject | undefined;

  constructor(metadata: JsonObject | undefined) {
    super('This call is paused; let the exception that interrupt() throws pass');
    this.metadata = metadata;
  }
}

class Denied extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super('This call is denied; let the exception that deny() throws pass');
    this.reason = reason;
  }
}

const LONGEST_ERROR = 2000;

/** Runs one call to its result or its pause. It never throws: every failure of the tool becomes data for the model. */
export async function runCall(
  tool: Tool,
  call: CallPart,
  settings: RunSettings,
  restarted?: Restarted,
): Promise<ToolPart> {
  const { name, ref, input } = call.toolRequest;
  const replaced = restarted?.replaced;
  const fail = (error: unknown, message: string): ToolPart => {
    settings.onToolError?.({ name, ref, error });
    return errorPart(call, message, replaced);
  };
  // The tool gets a copy: changing its input must not change what people approved.
  const fit = tool.inputSchema.parse(toJson(replaced === undefined ? input : replaced.ran));
  if (!fit.ok) {
    const problem = `the input does not fit the schema at "${fit.field}": ${fit.problem}`;
    return errorPart(call, `Not run: ${problem}`, replaced);
  }
  const stopped = () => errorPart(call, 'Not run: the task was stopped', replaced);
  if (tool.kind === 'interrupt') {
    if (tool.requestMetadata === undefined) return waitingPart(call, { replaced });
    try {
      const metadata = await orAbort(Promise.resolve(tool.requestMetadata(fit.value)), settings.signal);
      return waitingPart(call, { metadata: copyMetadata(metadata), replaced });
    } catch (error) {
      return settings.signal.aborted ? stopped() : fail(error, describeError(error));
    }
  }
  if (settings.signal.aborted) return stopped();

  const limit = limitTime(settings.signal, tool.timeoutMs);
  const { signal } = limit;
  const media: Media[] = [];
  let ended: Interrupted | Denied | undefined;
  const end = (reason: Interrupted | Denied): never => {
    ended = reason;
    throw reason;
  };
  const helpers: ToolHelpers = {
    context: settings.context,
    signal,
    resumed: restarted?.resumed && copyJson(restarted.resumed),
    idempotencyKey: call.idempotencyKey,
    interrupt: (metadata) => end(new Interrupted(copyMetadata(metadata))),
    deny: (reason) => end(new Denied(reason)),
    progress: (message, fraction) => settings.onProgress?.({ name, ref, message, fraction }),
    attach(image) {
      const isKept = areSmall([...media, image]);
      if (isKept) media.push(image);
      return isKept;
    },
  };
  const running = new RunningCall(signal, restarted?.nested?.before, restarted?.nested?.replies);

  try {
    const work = running.run(() => tool.run(fit.value, helpers));
    const output = await orAbort(work, signal);
    // The tool caught the exception and went on, so its effects are unknown: that is a bug to report, not a pause.
    if (ended !== undefined)
      return fail(ended, `The tool "${name}" went on after it had paused or denied the call`);
    if (running.hasPaused) {
      return fail(undefined, `The tool "${name}" went on after a generate() inside it had paused`);
    }
    return settledPart(call, 'ok', checkedOutput(tool, output), replaced, media);
  } catch (error) {
    if (limit.isOver()) {
      const message = `The tool "${name}" did not finish within ${tool.timeoutMs} ms; it may or may not have taken effect`;
      return fail(outcomeUnknown(new Error(message)), message);
    }
    if (signal.aborted) {
      const message = 'The task was stopped while this call ran; it may or may not have taken effect';
      return errorPart(call, message, replaced);
    }
    if (ended instanceof Denied) return deniedPart(call, ended.reason, replaced);
    if (ended instanceof Interrupted) {
      return waitingPart(call, { metadata: ended.metadata, nested: await running.finishedRuns(), replaced });
    }
    if (running.hasPaused) {
      const resumed = restarted?.resumed;
      return waitingPart(call, { nested: await running.finishedRuns(), resumed, replaced });
    }
    return fail(error, describeError(error));
  } finally {
    limit.end();
  }
}

/** Derives a signal that also fires when the time of a tool is over. */
function limitTime(
  signal: AbortSignal,
  timeoutMs: number | undefined,
): { signal: AbortSignal; isOver: () => boolean; end: () => void } {
  if (timeoutMs === undefined) return { signal, isOver: () => false, end: () => {} };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(new Error('The time of the tool is over')), timeoutMs);
  return {
    signal: AbortSignal.any([signal, limit.signal]),
    isOver: () => limit.signal.aborted && !signal.aborted,
    end: () => clearTimeout(timer),
  };
}

function checkedOutput(tool: Tool, output: unknown): JsonValue {
  const result = tool.outputSchema?.parse(output) ?? { ok: true, value: output };
  if (result.ok) return toJson(result.value);
  const where = result.field === '' ? '' : ` at "${result.field}"`;
  throw new TypeError(
    `The tool ran, but what it returned does not fit its output schema${where}: ${result.problem}`,
  );
}

function copyMetadata(metadata: JsonObject | undefined): JsonObject | undefined {
  const copy = toJson(metadata);
  return isJsonObject(copy) ? copy : undefined;
}

function describeError(error: unknown): string {
  const other = typeof error === 'string' ? error : inspect(error);
  const text = error instanceof Error ? error.message || error.name : other;
  return text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR)}…` : text;
}

/** Settles with the work, or rejects as soon as the signal fires, even if the work ignores the signal. */
function orAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
