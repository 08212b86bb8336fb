import { inspect } from 'node:util';
import { EnclosingCall, runEnclosed } from './enclosing-call.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from './json.ts';
import type { CallPart, NestedRun, ToolPart } from './messages.ts';
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

/** What the calls of one `generate` share. */
export interface RunSettings {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
  readonly onToolError: ((failure: ToolFailure) => void) | undefined;
}

/** What a restarted call has beyond a first run. */
export interface Restarted {
  readonly resumed: JsonObject | undefined;
  readonly replaced: ReplacedInput | undefined;
  readonly nested: { readonly before: readonly NestedRun[]; readonly replies: Resume } | undefined;
}

/** A pause and a denial are ways a call goes; to note the whole stack for each would cost more than the rest of it. */
function withoutStack<Made>(make: () => Made): Made {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
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

/** Runs one call to its result or its pause. It never throws: whatever the tool does becomes data for the model. */
export async function runCall(
  tool: Tool,
  call: CallPart,
  settings: RunSettings,
  restarted?: Restarted,
): Promise<ToolPart> {
  const { name, ref, input } = call.toolRequest;
  const replaced = restarted?.replaced;
  // The tool gets a copy: what it does to its input must not change what people signed.
  const fit = tool.inputSchema.parse(toJson(replaced === undefined ? input : replaced.ran));
  if (!fit.ok)
    return errorPart(
      call,
      `Not run: the input does not fit the schema at "${fit.field}": ${fit.problem}`,
      replaced,
    );
  if (tool.kind === 'interrupt') return waitingPart(call, { replaced });
  if (settings.signal.aborted) return errorPart(call, 'Not run: the task was stopped', replaced);

  let ended: Interrupted | Denied | undefined;
  const end = (signal: Interrupted | Denied): never => {
    ended = signal;
    throw signal;
  };
  const helpers: ToolHelpers = {
    context: settings.context,
    signal: settings.signal,
    resumed: restarted?.resumed,
    idempotencyKey: call.idempotencyKey,
    interrupt: (metadata) => end(withoutStack(() => new Interrupted(copyMetadata(metadata)))),
    deny: (reason) => end(withoutStack(() => new Denied(reason))),
    progress: (message, fraction) => settings.onProgress?.({ name, ref, message, fraction }),
  };
  const nested = new EnclosingCall(settings.signal, restarted?.nested?.before, restarted?.nested?.replies);
  const fail = (error: unknown, message: string): ToolPart => {
    settings.onToolError?.({ name, ref, error });
    return errorPart(call, message, replaced);
  };

  try {
    const work = runEnclosed(nested, () => tool.run(fit.value, helpers));
    const output = await orAbort(work, settings.signal);
    // The tool went on after it had been told to stop, so nobody can say what it did: that is a bug to be seen, not a pause.
    if (ended !== undefined)
      return fail(ended, `The tool "${name}" went on after it had paused or denied the call`);
    if (nested.hasPaused) {
      return fail(undefined, `The tool "${name}" went on after a generate() inside it had paused`);
    }
    return settledPart(call, 'ok', outputOf(tool, output), replaced);
  } catch (error) {
    if (settings.signal.aborted) {
      return errorPart(
        call,
        'The task was stopped while this call ran; it may or may not have taken effect',
        replaced,
      );
    }
    if (ended instanceof Denied) return deniedPart(call, ended.reason, replaced);
    if (ended instanceof Interrupted) {
      return waitingPart(call, { metadata: ended.metadata, nested: await nested.finishedRuns(), replaced });
    }
    if (nested.hasPaused) {
      const { resumed } = helpers;
      return waitingPart(call, { nested: await nested.finishedRuns(), resumed, replaced });
    }
    return fail(error, messageOf(error));
  }
}

function outputOf(tool: Tool, output: unknown): JsonValue {
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

function messageOf(error: unknown): string {
  const other = typeof error === 'string' ? error : inspect(error);
  const text = error instanceof Error ? error.message || error.name : other;
  return text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR)}…` : text;
}

/** Settles with the work, or rejects the moment the signal fires, also when the work takes no notice of it. */
function orAbort<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}
