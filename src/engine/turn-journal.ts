import { randomUUID } from 'node:crypto';
import type { EffectEnd, EffectJournal, StartedCall, WhyNotRun } from '../agent/calls/journal.ts';
import { deniedPart, type ReplacedInput, settledPart, waitingPart } from '../agent/calls/outcomes.ts';
import { canonicalJson, type JsonObject, toJson } from '../agent/json.ts';
import type { CallPart, Message, ToolPart } from '../agent/messages.ts';
import type { Tool } from '../agent/tool.ts';
import { Transcript } from '../agent/transcript.ts';
import { type Limit, overVerdict } from '../policy/limits.ts';
import { DEFAULT_POLICY_NAME } from '../policy/policy.ts';
import { strictestVerdict } from '../policy/rules.ts';
import type { StartEffectResult } from '../store/port/results.ts';
import type { ClaimedTurn, EffectRecord } from '../store/port/values.ts';
import type { DoneCounter, GrantUse, LimitUse } from '../store/port/workspace.ts';
import { approvalFor } from '../tools/gate.ts';
import { isRunAsTask, serverPauseOf, waitsForTask } from '../tools/mcp/server-pause.ts';
import { waitingAnswerOf } from '../tools/waiting-answer.ts';
import { begin } from './execute.ts';
import { lookUp, mayRunAgain, waitToRetry } from './outcomes.ts';
import { isStep, PLAN_RULE } from './plans.ts';
import type { EngineContext, GrantUsed } from './ports.ts';
import { doubtMetadata, type Reason, type Refusal } from './reasons.ts';
import { doneBy, placeOf, type TurnRun, turnRun } from './run.ts';
import type { TurnLease } from './turn-lease.ts';

/** A running effect, or the look-up of one, has this long to end after a Stop; then its outcome counts as unknown. */
const STOP_GRACE_MS = 10_000;

/** The most runs that follow a task before a person is asked about its outcome. */
const MAX_FOLLOWING_RUNS = 10;

interface Run {
  readonly run: string;
  readonly evidence: JsonObject;
  /** Counters of first times for when it has succeeded. */
  readonly done: readonly DoneCounter[];
  /** The use of a grant that let it run. */
  readonly granted?: Omit<GrantUsed, 'end'> | undefined;
}

/** The journal of one turn: it records every effect before it happens, and knows what an earlier, unfinished turn recorded. */
export class TurnJournal implements EffectJournal {
  readonly stopGraceMs = STOP_GRACE_MS;
  readonly #context: EngineContext;
  readonly #turn: ClaimedTurn;
  readonly #lease: TurnLease;
  readonly #runs = new Map<string, Run & Pick<EffectRecord, 'runs' | 'firstStart'>>();
  /** The calls of this turn that a server runs as tasks. */
  readonly #tasks = new Set<string>();
  /** The calls that run again although an earlier run may have taken effect. */
  readonly #mayHaveRun = new Map<string, Run>();
  /** The calls whose pause on record was handed out. */
  readonly #paused = new Set<string>();
  #logged: number;
  #inboxLogged = 0;
  #last: Promise<unknown> = Promise.resolve();
  /** The number of inbox items that the messages hold by now. */
  read = 0;

  constructor(context: EngineContext, turn: ClaimedTurn, lease: TurnLease) {
    this.#context = context;
    this.#turn = turn;
    this.#lease = lease;
    this.#logged = turn.messages.length;
  }

  /** Returns the messages and the inbox items that are not on record yet. */
  rest(messages: readonly Message[], read: number): { messages: readonly Message[]; read: number } {
    return { messages: messages.slice(this.#logged), read: Math.max(0, read - this.#inboxLogged) };
  }

  async recorded(
    call: CallPart,
    tool: Tool | undefined,
    replaced?: ReplacedInput,
  ): Promise<ToolPart | undefined> {
    const effect = this.#turn.effects.find(({ ref }) => ref === call.toolRequest.ref);
    if (effect === undefined) return undefined;
    const isTask = effect.state === 'paused' && isTaskPause(effect.part);
    // A server that has asked a person is not asked to start anew.
    if (effect.state === 'paused' && !(isTask && tool === undefined))
      return tool && this.#pauseOnRecord(effect.ref, effect.part);
    if (effect.state === 'finished') return effect.part;
    const before = turnRun(this.#context, this.#turn.threadId, {
      call,
      input: toJson(replaced?.ran ?? call.toolRequest.input),
      messages: this.#turn.messages,
      attempts: effect.runs,
    });
    const started = { run: effect.run, evidence: before.evidence, done: doneBy(before) };
    // A run that only follows a task takes no effect of its own.
    if (tool !== undefined && this.#followsTask(effect.ref)) return undefined;
    const found = tool && (await this.#lookUp(started, call, tool, replaced));
    if (found !== undefined) return found;
    if (tool !== undefined && mayRunAgain(this.#context, effect, tool)) {
      this.#mayHaveRun.set(effect.ref, started);
      return undefined;
    }
    const part = waitingPart(call, { metadata: doubtMetadata(), replaced });
    await this.#record(started, { ref: effect.ref, end: 'unknown', part });
    return part;
  }

  /** Returns the pause that an earlier turn has recorded, once: after that the call continues. */
  #pauseOnRecord(ref: string, part: ToolPart): ToolPart | undefined {
    if (!isServerPause(part) || this.#paused.has(ref)) return undefined;
    this.#paused.add(ref);
    if (isTaskPause(part)) this.#tasks.add(ref);
    return part;
  }

  async afterUnknown(
    call: CallPart,
    tool: Tool,
    replaced: ReplacedInput | undefined,
  ): Promise<ToolPart | 'again' | undefined> {
    const started = this.#runs.get(call.toolRequest.ref);
    if (started === undefined || this.#lease.isCut) return undefined;
    const found = await this.#lookUp(started, call, tool, replaced);
    if (found !== undefined) return found;
    const mayFollow = this.#followsTask(call.toolRequest.ref) && started.runs < MAX_FOLLOWING_RUNS;
    if (!mayFollow && !mayRunAgain(this.#context, started, tool)) return undefined;
    await waitToRetry(started.runs);
    if (!this.#lease.mayStart()) return undefined;
    this.#mayHaveRun.set(call.toolRequest.ref, started);
    return 'again';
  }

  mayHaveRun({ toolRequest: { ref } }: CallPart): boolean {
    return this.#mayHaveRun.has(ref);
  }

  async inDoubt(
    call: CallPart,
    why: WhyNotRun,
    replaced: ReplacedInput | undefined,
  ): Promise<ToolPart | undefined> {
    if (why === 'stopped') return this.#uncertain(call, { code: 'stopped' }, replaced);
    // A task waits for its answer while people approve that.
    const isAnswer = 'asks' in why && waitingAnswerOf(why.asks) !== undefined;
    if (isAnswer && !this.mayHaveRun(call)) return undefined;
    const reason: Reason = 'asks' in why ? { code: 'asks-now' } : { code: 'not-run', why: why.reason };
    return this.#uncertain(call, reason, replaced);
  }

  async count(started: StartedCall): Promise<ToolPart | undefined> {
    const { store } = this.#context;
    const run = this.#runOf(started, 0);
    if (isStep(started.messages, run.ref)) return stepPart(run);
    const begun = await begin(this.#context, run, async ({ uses }) => {
      const grant = grantUse(run);
      if (uses.length === 0 && grant === undefined) return { outcome: 'counted' as const };
      return store.countCall(run.threadId, { ref: run.ref, limits: uses, grant });
    });
    return begun.outcome === 'refused' ? refusedPart(this.#context, run, begun.refusal) : undefined;
  }

  #runOf({ call, input, messages, evidence: granted }: StartedCall, attempts: number): TurnRun {
    return turnRun(this.#context, this.#turn.threadId, {
      call,
      input: toJson(input),
      messages,
      attempts,
      granted,
    });
  }

  async start(starting: StartedCall): Promise<boolean | ToolPart> {
    const { call, messages } = starting;
    const { ref } = call.toolRequest;
    const before = this.#runs.get(ref) ?? this.#turn.effects.find((effect) => effect.ref === ref);
    const { runs = 0, firstStart = Date.now() } = before ?? {};
    const run = this.#runOf(starting, runs);
    if (runs === 0 && isStep(messages, ref)) return stepPart(run);
    const id = randomUUID();
    return this.#inOrder(async () => {
      if (!this.#lease.mayStart()) return false;
      const fresh = this.rest(messages, this.read);
      const begun = await begin(this.#context, run, ({ uses }) => this.#startOnRecord(run, id, uses, fresh));
      if (begun.outcome === 'refused') {
        const uncertain = await this.#uncertain(call, { code: 'not-run' });
        return uncertain ?? refusedPart(this.#context, run, begun.refusal);
      }
      if (begun.outcome === 'slow') return false;
      const { reply } = begun;
      if (reply.outcome === 'stopped') {
        this.#lease.stop();
        return false;
      }
      if (reply.outcome !== 'started') {
        this.#context.logger.warn({ threadId: this.#turn.threadId, ref, ...reply }, 'effect not started');
        this.#lease.lose(`the start of an effect was ${reply.outcome}`);
        return false;
      }
      this.#logged += fresh.messages.length;
      this.#inboxLogged += fresh.read;
      const { grant, threadId, tool, input, evidence } = run;
      const granted = grant && { grant, threadId, tool, input, used: reply.used };
      const started = { run: id, evidence, granted, done: doneBy(run) };
      this.#runs.set(ref, { ...started, runs: runs + 1, firstStart });
      const mayHaveRun = this.#mayHaveRun.has(ref);
      if (mayHaveRun) this.#mayHaveRun.set(ref, started);
      if (this.#lease.mayStart()) return true;
      // The start is on record and the effect has not begun: the next turn may run it, and then tells of its grant.
      if (!mayHaveRun)
        await this.#record({ run: id, evidence, done: [] }, { ref, end: 'paused', part: waitingPart(call) });
      return false;
    });
  }

  /** Puts the start of a call on record, with the messages that are not logged yet. */
  #startOnRecord(
    run: TurnRun,
    id: string,
    limits: readonly LimitUse[],
    fresh: { readonly messages: readonly Message[]; readonly read: number },
  ): Promise<StartEffectResult | { readonly outcome: 'failed'; readonly error: unknown }> {
    const { ref, tool, evidence } = run;
    const start = { ref, tool, run: id, logged: this.#logged, ...fresh, evidence, limits };
    return this.#context.store
      .startEffect(this.#turn, { ...start, grant: grantUse(run) })
      .catch((error: unknown) => ({ outcome: 'failed' as const, error }));
  }

  /** Returns the interrupt of a call that may not run now, if an earlier run or its task may have taken effect. */
  async #uncertain(call: CallPart, why: Reason, replaced?: ReplacedInput): Promise<ToolPart | undefined> {
    const { ref } = call.toolRequest;
    const run = this.#mayHaveRun.get(ref) ?? (this.#followsTask(ref) ? this.#runs.get(ref) : undefined);
    if (run === undefined && !this.#followsTask(ref)) return undefined;
    const part = waitingPart(call, { metadata: doubtMetadata(why), replaced });
    if (run !== undefined) await this.#record(run, { ref, end: 'unknown', part });
    return part;
  }

  async finish(call: CallPart, end: EffectEnd, part: ToolPart): Promise<void> {
    const { ref } = call.toolRequest;
    const started = this.#runs.get(ref);
    if (isTaskPause(part)) this.#tasks.add(ref);
    // A cut turn leaves the outcome to the next one, which knows whether the call may run again.
    if (started === undefined || (end === 'unknown' && this.#lease.isCut)) return;
    await this.#record(started, { ref, end, part });
  }

  /** True for a call whose task is on record. */
  #followsTask(ref: string): boolean {
    if (this.#tasks.has(ref)) return true;
    const { interrupts } = Transcript.latestRound(this.#turn.messages, { mayBeOpen: true });
    return interrupts.some((interrupt) => interrupt.toolRequest.ref === ref && waitsForTask(interrupt));
  }

  /** Lets the tool look up the outcome of a run; returns the result of the call if it can tell. */
  async #lookUp(
    started: Run,
    call: CallPart,
    tool: Tool,
    replaced: ReplacedInput | undefined,
  ): Promise<ToolPart | undefined> {
    const { idempotencyKey, toolRequest } = call;
    const input = toJson(replaced?.ran ?? toolRequest.input);
    const stop = { signal: this.#lease.signal, graceMs: STOP_GRACE_MS };
    const found = await lookUp(this.#context, tool, { idempotencyKey, input }, stop);
    if (found === 'unknown') return undefined;
    const part = settledPart(call, 'closed', { status: found, reason: 'The tool looked it up' }, replaced);
    const end = found === 'ran' ? 'succeeded' : 'failed';
    await this.#record(started, { ref: call.toolRequest.ref, end, part });
    return part;
  }

  async #record(
    { run, evidence, granted, done }: Run,
    { ref, end, part }: { readonly ref: string; readonly end: EffectEnd; readonly part: ToolPart },
  ): Promise<void> {
    const { store, logger } = this.#context;
    try {
      const finished = await store.finishEffect(this.#turn, { ref, run, end, part, evidence, done });
      if (finished.outcome === 'stale') this.#lease.lose('another turn has the thread');
      else if (granted !== undefined) await this.#context.tellOfGrant({ ...granted, end });
    } catch (err) {
      // The end of the turn records the result as well; if that fails too, the next turn asks.
      logger.warn({ threadId: this.#turn.threadId, ref, err }, 'effect not recorded');
    }
  }

  /** Starts calls one after another, so that the messages of a round are logged once. */
  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}

/** Returns the use that the start of a call takes of the grant that admitted it; `undefined` if none did. */
function grantUse({ grant, threadId, tool }: TurnRun): GrantUse | undefined {
  if (grant === undefined) return undefined;
  const { grant: id, call, requesters } = grant;
  return { id, call, evidence: { call, thread: threadId, tool, requesters } };
}

/** Lets a step of a plan wait with the others, although its rules or a grant would let it run now. */
function stepPart({ call, input, grant }: TurnRun): ToolPart {
  const original = call.toolRequest.input;
  const isReplaced = canonicalJson(original) !== canonicalJson(input);
  return waitingPart(call, {
    metadata: { approval: toJson(grant?.approval ?? { policy: DEFAULT_POLICY_NAME, rule: PLAN_RULE }) },
    replaced: isReplaced ? { ran: input, original } : undefined,
  });
}

/** Builds the result of a call that may not start: people are asked for what a limit, or its rules without the grant, need; or it is denied. */
function refusedPart(context: EngineContext, run: TurnRun, refusal: Refusal): ToolPart {
  const { call, grant } = run;
  if (refusal.code === 'over-limit') return overLimitPart(context, run, refusal.limit);
  if (refusal.code === 'ungranted' && grant !== undefined)
    return waitingPart(call, { metadata: { approval: toJson(grant.approval) } });
  return deniedPart(call, context.describeRefusal(refusal));
}

function overLimitPart({ toolbox }: Pick<EngineContext, 'toolbox'>, run: TurnRun, limit: Limit): ToolPart {
  const { call, entry, input } = run;
  const over = overVerdict(limit);
  const own = entry?.judge(input, placeOf(run));
  const verdict = own === undefined ? over : strictestVerdict(own, [over], (name) => toolbox.policy(name));
  if (verdict.outcome === 'deny') return deniedPart(call, verdict.reason);
  const metadata = verdict.outcome === 'ask' ? { approval: approvalFor(verdict) } : undefined;
  return waitingPart(call, { metadata });
}

function isServerPause(part: ToolPart): boolean {
  return 'interrupt' in part && serverPauseOf(part.interrupt) !== undefined;
}

function isTaskPause(part: ToolPart): boolean {
  return 'interrupt' in part && isRunAsTask(serverPauseOf(part.interrupt));
}
