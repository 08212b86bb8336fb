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

type Action = Extract<Tool, { kind: 'tool' }>;

/** Runs one call to its result or its pause. It never throws: every failure of the tool becomes data for the model. */
export async function runCall(
  tool: Tool,
  call: CallPart,
  settings: RunSettings,
  restarted?: Restarted,
): Promise<ToolPart> {
  const replaced = restarted?.replaced;
  // First of all: a call that has its result needs no check any more.
  const recorded = await settings.journal?.recorded(call, tool, replaced);
  if (recorded !== undefined) return recorded;
  const input = replaced === undefined ? call.toolRequest.input : replaced.ran;
  const ends = new CallEnds(tool, call, settings, replaced);
  // The tool gets a copy: changing its input must not change what people approved.
  const fit = tool.inputSchema.parse(toJson(input));
  if (!fit.ok) return ends.refuse(`the input does not fit the schema at "${fit.field}": ${fit.problem}`);
  if (tool.kind === 'interrupt') return pauseFor(tool, fit.value, ends);
  if (settings.signal.aborted) return ends.stopped();

  const run = new ToolRun(tool, ends, restarted);
  const { helpers } = run;
  try {
    const isAsked = restarted === undefined && tool.admit === undefined;
    if (isAsked && (await tool.needsApproval?.(fit.value)) === true) helpers.interrupt(NEEDS_APPROVAL);
    const start: Admitted = (await tool.admit?.(fit.value, helpers)) ?? (() => tool.run(fit.value, helpers));
    if (helpers.signal.aborted) return ends.stopped();
    const evidence = start.evidence;
    const held = await run.begin({ call, tool, input, messages: settings.messages(), evidence });
    if (held !== undefined) return held;
    const work = run.inner.run(async () => start());
    return await run.settle(await orAbort(work, helpers.signal, () => run.stopGraceMs()));
  } catch (thrown) {
    return run.endAfter(thrown);
  } finally {
    run.close();
  }
}

/** Waits for people: the call of an interrupt is its question. */
async function pauseFor(
  tool: Extract<Tool, { kind: 'interrupt' }>,
  input: unknown,
  ends: CallEnds,
): Promise<ToolPart> {
  const { call, replaced, settings } = ends;
  if (tool.requestMetadata === undefined) return waitingPart(call, { replaced });
  try {
    const metadata = await orAbort(Promise.resolve(tool.requestMetadata(input)), settings.signal);
    return waitingPart(call, { metadata: toPauseMetadata(metadata, tool), replaced });
  } catch (error) {
    return settings.signal.aborted ? ends.stopped() : ends.fail(error);
  }
}

/** The ends of a call that has not taken effect. */
class CallEnds {
  readonly call: CallPart;
  readonly settings: RunSettings;
  readonly replaced: ReplacedInput | undefined;
  readonly hasEffect: boolean;
  /** The record of calls with effects. */
  readonly journal: EffectJournal | undefined;

  constructor(tool: Tool, call: CallPart, settings: RunSettings, replaced: ReplacedInput | undefined) {
    this.call = call;
    this.settings = settings;
    this.replaced = replaced;
    this.hasEffect = tool.kind === 'tool' && tool.effect !== 'none';
    this.journal = this.hasEffect ? settings.journal : undefined;
  }

  tell(error: unknown, isUnknown: boolean): void {
    const { name, ref } = this.call.toolRequest;
    this.settings.onToolError?.({ name, ref, error, isUnknown });
  }

  fail(error: unknown, isUnknown = false): ToolPart {
    this.tell(error, isUnknown);
    return errorPart(this.call, shortError(error), this.replaced);
  }

  /** Ends a call that did not take effect now; an earlier run of it may have. */
  async notRun(part: ToolPart, why: WhyNotRun): Promise<ToolPart> {
    return (await this.journal?.inDoubt?.(this.call, why, this.replaced)) ?? part;
  }

  refuse(reason: string): Promise<ToolPart> {
    return this.notRun(errorPart(this.call, `Not run: ${reason}`, this.replaced), { reason });
  }

  stopped(): Promise<ToolPart> {
    const isHandedOver = this.settings.signal.reason instanceof HandOverError;
    const by = isHandedOver ? 'Countersign was restarted' : 'the task was stopped';
    return this.notRun(errorPart(this.call, `Not run: ${by}`, this.replaced), 'stopped');
  }
}

/** One run of a tool: what it may do, and how it ends by what is known of its effect. */
class ToolRun {
  readonly helpers: ToolHelpers;
  /** The calls of a `generate` inside the tool. */
  readonly inner: RunningCall;
  readonly #tool: Action;
  readonly #ends: CallEnds;
  readonly #restarted: Restarted | undefined;
  readonly #limit: ReturnType<typeof limitTime>;
  readonly #media: Media[] = [];
  readonly #files: CallFiles;
  /** Whether the start is on record. */
  #hasStarted = false;
  #hasEntered = false;
  #ended: Interrupted | Denied | undefined;

  constructor(tool: Action, ends: CallEnds, restarted: Restarted | undefined) {
    const { call, settings } = ends;
    this.#tool = tool;
    this.#ends = ends;
    this.#restarted = restarted;
    this.#limit = limitTime(settings.signal, tool.timeoutMs);
    this.#files = new CallFiles(settings.files);
    this.inner = new RunningCall(this.#limit.signal, restarted?.nested?.before, restarted?.nested?.replies);
    this.helpers = this.#helpersFor(call, settings);
  }

  #helpersFor({ toolRequest, idempotencyKey }: CallPart, settings: RunSettings): ToolHelpers {
    const { name, ref } = toolRequest;
    const end = (reason: Interrupted | Denied): never => {
      this.#ended = reason;
      throw reason;
    };
    return {
      context: settings.context,
      signal: this.#limit.signal,
      resumed: this.#restarted?.resumed && copyJson(this.#restarted.resumed),
      idempotencyKey,
      callId: ref,
      interrupt: (asks) => end(new Interrupted(toPauseMetadata(asks, this.#tool))),
      deny: (reason) => end(new Denied(reason)),
      progress: (message, fraction) => settings.onProgress?.({ name, ref, message, fraction }),
      attach: (image) => {
        const isKept = areSmall([...this.#media, image]);
        if (isKept) this.#media.push(image);
        return isKept;
      },
      file: (file) => this.#files.add(file),
    };
  }

  /** Puts the start on record; returns the part of a call that must not run now. */
  async begin(started: Parameters<EffectJournal['start']>[0]): Promise<ToolPart | undefined> {
    const { journal, hasEffect, settings } = this.#ends;
    const over = hasEffect ? undefined : await settings.journal?.count?.(started);
    if (over !== undefined) return over;
    if (journal !== undefined) {
      const begun = await journal.start(started);
      if (typeof begun === 'object') return begun;
      this.#hasStarted = begun;
      if (!begun) return this.#ends.stopped();
      if (this.helpers.signal.aborted) return this.#notBegun();
    }
    this.#hasEntered = true;
    return undefined;
  }

  stopGraceMs(): number | undefined {
    return this.#limit.isOver() ? 0 : this.#ends.journal?.stopGraceMs;
  }

  close(): void {
    this.#limit.end();
  }

  /** Ends a run whose tool has returned. */
  async settle(output: unknown): Promise<ToolPart> {
    // The tool caught the exception and went on, so its effects are unknown: that is a bug to report, not a pause.
    if (this.#ended !== undefined) return this.#goneOn('it had paused or denied the call');
    if (this.inner.hasPaused) return this.#goneOn('a generate() inside it had paused');
    const { call, replaced, hasEffect } = this.#ends;
    const result = settledPart(call, 'ok', checkedOutput(this.#tool, output), replaced, this.#media);
    return this.#finish('succeeded', withFiles(result, await this.#files.record(call, hasEffect)));
  }

  /** Ends a run that threw, by what is known of its effect then. */
  async endAfter(thrown: unknown): Promise<ToolPart> {
    const { call, replaced, hasEffect, settings } = this.#ends;
    if (hasEffect && isAfterEffect(thrown)) {
      this.#ends.tell(thrown, false);
      const output = { status: 'ran', problem: shortError(thrown) };
      return this.#finish('succeeded', settledPart(call, 'ok', output, replaced));
    }
    const ended = this.#ended;
    const isOver = this.#limit.isOver() && ended === undefined;
    const error = isOver ? outOfTime(this.#tool) : thrown;
    if (settings.signal.aborted && isNotDone(error)) return this.#notBegun();
    if (this.#hasStarted && this.helpers.signal.aborted && ended === undefined) return this.#unknown(error);
    if (isOver) return this.#ends.fail(error, hasEffect && this.#hasEntered);
    if (settings.signal.aborted) {
      if (!this.#hasEntered) return this.#ends.stopped();
      const message = 'The task was stopped while this call ran; it may or may not have taken effect';
      return this.#ends.notRun(errorPart(call, message, replaced), 'stopped');
    }
    if (ended instanceof Denied) return this.#failed(deniedPart(call, ended.reason, replaced), ended.reason);
    if (ended instanceof Interrupted) return this.#paused(ended);
    if (this.inner.hasPaused) {
      const resumed = this.#restarted?.resumed;
      const nested = await this.inner.finishedRuns();
      return this.#finish('paused', waitingPart(call, { nested, resumed, replaced }));
    }
    // Only the tool can know that it did nothing.
    if (hasEffect && this.#hasEntered && !isNotDone(error)) return this.#unknown(error);
    return this.#failed(this.#ends.fail(error), shortError(error));
  }

  async #paused({ metadata }: Interrupted): Promise<ToolPart> {
    const { call, replaced } = this.#ends;
    const nested = await this.inner.finishedRuns();
    const part = waitingPart(call, { metadata, nested, replaced });
    return this.#hasEntered
      ? this.#finish('paused', part)
      : this.#ends.notRun(part, { asks: part.interrupt });
  }

  async #finish(end: EffectEnd, part: ToolPart): Promise<ToolPart> {
    if (this.#hasStarted) await this.#ends.journal?.finish(this.#ends.call, end, part);
    return part;
  }

  async #unknown(error: unknown): Promise<ToolPart> {
    const { call, replaced, hasEffect, journal, settings } = this.#ends;
    if (!this.#hasStarted) return this.#ends.fail(error, hasEffect);
    this.#ends.tell(error, true);
    const isStopped = this.helpers.signal.aborted;
    const found = isStopped ? undefined : await journal?.afterUnknown?.(call, this.#tool, replaced);
    if (found === 'again') return runCall(this.#tool, call, settings, this.#restarted);
    if (found !== undefined) return found;
    const metadata = { [OUTCOME_UNKNOWN]: shortError(error) };
    return this.#finish('unknown', waitingPart(call, { metadata, replaced }));
  }

  #goneOn(after: string): Promise<ToolPart> {
    return this.#unknown(inDoubt(this.#tool, `The tool "${this.#tool.name}" went on after ${after}`));
  }

  /** Ends a call whose tool or gate says that nothing happened now. */
  async #failed(part: ToolPart, reason: string): Promise<ToolPart> {
    if (!this.#hasStarted) return this.#ends.notRun(part, { reason });
    const mayHaveRun = this.#ends.journal?.mayHaveRun?.(this.#ends.call) === true;
    return mayHaveRun ? this.#unknown(new Error(reason)) : this.#finish('failed', part);
  }

  /** Ends a call that a stop kept from its effect although its start is on record. */
  async #notBegun(): Promise<ToolPart> {
    const part = await this.#ends.stopped();
    return 'interrupt' in part ? part : this.#finish('paused', part);
  }
}

function outOfTime(tool: Action): Error {
  return inDoubt(tool, `The tool "${tool.name}" did not finish within ${tool.timeoutMs} ms`);
}

/** Builds the error of a call of which nobody knows whether it took effect, if it has one. */
function inDoubt({ effect }: Action, problem: string): Error {
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
