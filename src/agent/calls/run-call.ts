import { inspect } from 'node:util';
import { afterEffect, isAfterEffect, isNotDone } from '../errors.ts';
import { copyJson, type JsonObject, type JsonValue, toJson } from '../json.ts';
import {
  areSmall,
  type CallPart,
  type Media,
  type Message,
  type NestedRun,
  type ToolPart,
} from '../messages.ts';
import { toPauseMetadata } from '../pause.ts';
import type { Resume } from '../replies.ts';
import { type Admitted, NEEDS_APPROVAL, type Tool, type ToolContext, type ToolHelpers } from '../tool.ts';
import { HandOverError, limitTime, orAbort } from '../util/abort.ts';
import { CallFiles, type FileSink } from '../util/tool-files.ts';
import type { EffectEnd, EffectJournal, WhyNotRun } from './journal.ts';
import { OUTCOME_UNKNOWN } from './journal.ts';
import { RunningCall } from './nested.ts';
import {
  deniedPart,
  errorPart,
  type ReplacedInput,
  settledPart,
  waitingPart,
  withFiles,
} from './outcomes.ts';

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
  /** Tells whether the call may have taken effect all the same. */
  readonly isUnknown: boolean;
}

/** The settings that all calls of one `generate` share. */
export interface RunSettings {
  readonly context: ToolContext;
  readonly signal: AbortSignal;
  readonly onProgress: ((progress: ToolProgress) => void) | undefined;
  readonly onToolError: ((failure: ToolFailure) => void) | undefined;
  readonly journal: EffectJournal | undefined;
  readonly files: FileSink | undefined;
  /** Returns the messages of the history so far. */
  readonly messages: () => readonly Message[];
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
  const fail = (error: unknown, isUnknown = false): ToolPart => {
    settings.onToolError?.({ name, ref, error, isUnknown });
    return errorPart(call, shortError(error), replaced);
  };
  const hasEffect = tool.kind === 'tool' && tool.effect !== 'none';
  const journal = hasEffect ? settings.journal : undefined;
  // First of all: a call that has its result needs no check any more.
  const recorded = await settings.journal?.recorded(call, tool, replaced);
  if (recorded !== undefined) return recorded;
  /** Ends a call that did not take effect now; an earlier run of it may have. */
  const notRun = async (part: ToolPart, why: WhyNotRun): Promise<ToolPart> =>
    (await journal?.inDoubt?.(call, why, replaced)) ?? part;
  const stopped = () => {
    const isHandedOver = settings.signal.reason instanceof HandOverError;
    const by = isHandedOver ? 'Countersign was restarted' : 'the task was stopped';
    return notRun(errorPart(call, `Not run: ${by}`, replaced), 'stopped');
  };
  // The tool gets a copy: changing its input must not change what people approved.
  const given = toJson(replaced === undefined ? input : replaced.ran);
  const fit = tool.inputSchema.parse(given);
  if (!fit.ok) {
    const reason = `the input does not fit the schema at "${fit.field}": ${fit.problem}`;
    return notRun(errorPart(call, `Not run: ${reason}`, replaced), { reason });
  }
  if (tool.kind === 'interrupt') {
    if (tool.requestMetadata === undefined) return waitingPart(call, { replaced });
    try {
      const metadata = await orAbort(Promise.resolve(tool.requestMetadata(fit.value)), settings.signal);
      return waitingPart(call, { metadata: toPauseMetadata(metadata, tool), replaced });
    } catch (error) {
      return settings.signal.aborted ? stopped() : fail(error);
    }
  }
  if (settings.signal.aborted) return stopped();

  const limit = limitTime(settings.signal, tool.timeoutMs);
  const { signal } = limit;
  const media: Media[] = [];
  const files = new CallFiles(settings.files);
  let hasStarted = false;
  let hasEntered = false;
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
    callId: call.toolRequest.ref,
    interrupt: (asks) => end(new Interrupted(toPauseMetadata(asks, tool))),
    deny: (reason) => end(new Denied(reason)),
    progress: (message, fraction) => settings.onProgress?.({ name, ref, message, fraction }),
    attach(image) {
      const isKept = areSmall([...media, image]);
      if (isKept) media.push(image);
      return isKept;
    },
    file: (file) => files.add(file),
  };
  const running = new RunningCall(signal, restarted?.nested?.before, restarted?.nested?.replies);
  const finish = async (end: EffectEnd, part: ToolPart): Promise<ToolPart> => {
    if (hasStarted) await journal?.finish(call, end, part);
    return part;
  };
  const unknown = async (error: unknown): Promise<ToolPart> => {
    if (!hasStarted) return fail(error, hasEffect);
    settings.onToolError?.({ name, ref, error, isUnknown: true });
    const found = signal.aborted ? undefined : await journal?.afterUnknown?.(call, tool, replaced);
    if (found === 'again') return runCall(tool, call, settings, restarted);
    if (found !== undefined) return found;
    const metadata = { [OUTCOME_UNKNOWN]: shortError(error) };
    return finish('unknown', waitingPart(call, { metadata, replaced }));
  };
  /** Ends a call whose tool or gate says that nothing happened now. */
  const failed = async (part: ToolPart, reason: string): Promise<ToolPart> => {
    if (!hasStarted) return notRun(part, { reason });
    return journal?.mayHaveRun?.(call) === true ? unknown(new Error(reason)) : finish('failed', part);
  };
  /** Ends a call that a stop kept from its effect although its start is on record. */
  const notBegun = async (): Promise<ToolPart> => {
    const part = await stopped();
    return 'interrupt' in part ? part : finish('paused', part);
  };
  const goneOn = (after: string): Promise<ToolPart> =>
    unknown(inDoubt(tool, `The tool "${name}" went on after ${after}`));

  try {
    const isAsked = restarted === undefined && tool.admit === undefined;
    if (isAsked && (await tool.needsApproval?.(fit.value)) === true) helpers.interrupt(NEEDS_APPROVAL);
    const start: Admitted = (await tool.admit?.(fit.value, helpers)) ?? (() => tool.run(fit.value, helpers));
    if (signal.aborted) return stopped();
    const ran = replaced === undefined ? input : replaced.ran;
    const started = { call, tool, input: ran, messages: settings.messages(), evidence: start.evidence };
    const over = hasEffect ? undefined : await settings.journal?.count?.(started);
    if (over !== undefined) return over;
    if (journal !== undefined) {
      const begun = await journal.start(started);
      if (typeof begun === 'object') return begun;
      hasStarted = begun;
      if (!hasStarted) return stopped();
      if (signal.aborted) return await notBegun();
    }
    hasEntered = true;
    const work = running.run(async () => start());
    const output = await orAbort(work, signal, () => (limit.isOver() ? 0 : journal?.stopGraceMs));
    // The tool caught the exception and went on, so its effects are unknown: that is a bug to report, not a pause.
    if (ended !== undefined) return goneOn('it had paused or denied the call');
    if (running.hasPaused) return goneOn('a generate() inside it had paused');
    const result = settledPart(call, 'ok', checkedOutput(tool, output), replaced, media);
    return await finish('succeeded', withFiles(result, await files.record(call, hasEffect)));
  } catch (thrown) {
    if (hasEffect && isAfterEffect(thrown)) {
      settings.onToolError?.({ name, ref, error: thrown, isUnknown: false });
      const output = { status: 'ran', problem: shortError(thrown) };
      return finish('succeeded', settledPart(call, 'ok', output, replaced));
    }
    const error = limit.isOver() && ended === undefined ? outOfTime(tool) : thrown;
    if (settings.signal.aborted && isNotDone(error)) return notBegun();
    if (hasStarted && signal.aborted && ended === undefined) return unknown(error);
    if (limit.isOver() && ended === undefined) return fail(error, hasEffect && hasEntered);
    if (settings.signal.aborted) {
      if (!hasEntered) return stopped();
      const message = 'The task was stopped while this call ran; it may or may not have taken effect';
      return notRun(errorPart(call, message, replaced), 'stopped');
    }
    if (ended instanceof Denied) return failed(deniedPart(call, ended.reason, replaced), ended.reason);
    if (ended instanceof Interrupted) {
      const nested = await running.finishedRuns();
      const part = waitingPart(call, { metadata: ended.metadata, nested, replaced });
      return hasEntered ? finish('paused', part) : notRun(part, { asks: part.interrupt });
    }
    if (running.hasPaused) {
      const resumed = restarted?.resumed;
      return finish('paused', waitingPart(call, { nested: await running.finishedRuns(), resumed, replaced }));
    }
    // Only the tool can know that it did nothing.
    if (hasEffect && hasEntered && !isNotDone(error)) return unknown(error);
    return failed(fail(error), shortError(error));
  } finally {
    limit.end();
  }
}

function outOfTime(tool: Extract<Tool, { kind: 'tool' }>): Error {
  return inDoubt(tool, `The tool "${tool.name}" did not finish within ${tool.timeoutMs} ms`);
}

/** Builds the error of a call of which nobody knows whether it took effect, if it has one. */
function inDoubt({ effect }: Extract<Tool, { kind: 'tool' }>, problem: string): Error {
  if (effect === 'none') return new Error(problem);
  return new Error(`${problem}; it may or may not have taken effect`);
}

function checkedOutput(tool: Tool, output: unknown): JsonValue {
  const result = tool.outputSchema?.parse(output) ?? { ok: true, value: output };
  if (result.ok) return toJson(result.value);
  const where = result.field === '' ? '' : ` at "${result.field}"`;
  throw afterEffect(
    new TypeError(
      `The tool ran, but what it returned does not fit its output schema${where}: ${result.problem}`,
    ),
  );
}

function shortError(error: unknown): string {
  const other = typeof error === 'string' ? error : inspect(error);
  const text = error instanceof Error ? error.message || error.name : other;
  return text.length > LONGEST_ERROR ? `${text.slice(0, LONGEST_ERROR)}…` : text;
}
