import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EffectEnd,
  type EffectJournal,
  OUTCOME_UNKNOWN,
  type StartedCall,
} from '../../agent/calls/journal.ts';
import { deniedPart, type ReplacedInput, settledPart, waitingPart } from '../../agent/calls/outcomes.ts';
import { type JsonObject, toJson } from '../../agent/json.ts';
import type { CallPart, Message, ToolPart } from '../../agent/messages.ts';
import type { Tool } from '../../agent/tool.ts';
import { Transcript } from '../../agent/transcript.ts';
import { backOffMs } from '../../agent/util/back-off.ts';
import type { ClaimedTurn, EffectRecord } from '../../store/port/store.ts';
import { isRunAsTask, serverPauseOf } from '../../tools/mcp/server-pause.ts';
import { lookUp } from '../actions/look-up.ts';
import type { BotContext } from '../context.ts';
import { findFreeze } from '../freezes/freeze-actions.ts';
import { returnUse, tellOfUse } from '../grants/tell-of-use.ts';
import { countCall } from '../limits/count-call.ts';
import { effectEvidence, limitedEffect, overLimit } from '../limits/limited-effect.ts';
import { giveBackLimits, reserveLimits } from '../limits/reserve-limits.ts';
import { freezeTexts } from '../texts/freezes.ts';
import { replyTexts } from '../texts/replies.ts';
import { mayRunAgain } from './run-again.ts';
import type { TurnLease } from './turn-lease.ts';

/** A running effect, or the look-up of one, has this long to end after a Stop; then its outcome counts as unknown. */
const STOP_GRACE_MS = 10_000;

/** The most runs that follow a task before a person is asked about its outcome. */
const MAX_FOLLOWING_RUNS = 10;

const RETRY_BACK_OFF = { firstMs: 500, longestMs: 10_000 };

interface Run {
  readonly run: string;
  readonly evidence: JsonObject;
}

/** The journal of one turn: it records every effect before it happens, and knows what an earlier, unfinished turn recorded. */
export class TurnJournal implements EffectJournal {
  readonly stopGraceMs = STOP_GRACE_MS;
  readonly #context: Pick<BotContext, 'store' | 'toolbox' | 'logger'>;
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

  constructor(
    context: Pick<BotContext, 'store' | 'toolbox' | 'logger'>,
    turn: ClaimedTurn,
    lease: TurnLease,
  ) {
    this.#context = context;
    this.#turn = turn;
    this.#lease = lease;
    this.#logged = turn.messages.length;
  }

  /** Returns the messages and the inbox items that are not on record yet. */
  rest(messages: readonly Message[], read: number): { messages: readonly Message[]; read: number } {
    return { messages: messages.slice(this.#logged), read: Math.max(0, read - this.#inboxLogged) };
  }

  async recorded(call: CallPart, tool: Tool, replaced?: ReplacedInput): Promise<ToolPart | undefined> {
    const effect = this.#turn.effects.find(({ ref }) => ref === call.toolRequest.ref);
    if (effect === undefined) return undefined;
    // A server that has asked a person is not asked to start anew.
    if (effect.state === 'paused') return this.#pauseOnRecord(effect.ref, effect.part);
    if (effect.state === 'finished') return effect.part;
    const started = { run: effect.run, evidence: effectEvidence(call, replaced, this.#turn.messages) };
    // A run that only follows a task takes no effect of its own.
    if (this.#followsTask(effect.ref)) return undefined;
    const found = await this.#lookUp(started, call, tool, replaced);
    if (found !== undefined) return found;
    if (mayRunAgain(this.#context, effect, tool)) {
      this.#mayHaveRun.set(effect.ref, started);
      return undefined;
    }
    const metadata = { [OUTCOME_UNKNOWN]: 'The worker stopped mid-run.' };
    const part = waitingPart(call, { metadata, replaced });
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
    await sleep(backOffMs(started.runs, RETRY_BACK_OFF));
    if (!this.#lease.mayStart()) return undefined;
    this.#mayHaveRun.set(call.toolRequest.ref, started);
    return 'again';
  }

  stopped(call: CallPart, replaced: ReplacedInput | undefined): Promise<ToolPart | undefined> {
    return this.#uncertain(call, replyTexts.stoppedMeanwhile, replaced);
  }

  count(started: StartedCall): Promise<ToolPart | undefined> {
    return countCall(this.#context, this.#turn.threadId, started);
  }

  async start({ call, input, messages, evidence: admitted }: StartedCall): Promise<boolean | ToolPart> {
    const { ref } = call.toolRequest;
    const run = randomUUID();
    const evidence = {
      ...effectEvidence(call, { ran: toJson(input), original: null }, messages),
      ...(admitted !== undefined && { granted: admitted }),
    };
    const earlier = this.#turn.effects.find((effect) => effect.ref === ref);
    const before = this.#runs.get(ref) ?? earlier;
    const { runs = 0, firstStart = Date.now() } = before ?? {};
    return this.#inOrder(async () => {
      if (!this.#lease.mayStart()) return false;
      const limited = limitedEffect(this.#context.toolbox, this.#turn.threadId, evidence);
      const limit = limited && (await reserveLimits(this.#context, limited, run));
      if (limit !== undefined) await returnUse(this.#context.store, admitted);
      if (limit !== undefined)
        return (await this.#uncertain(call, replyTexts.notTriedAgain)) ?? overLimit(call, limit);
      const fresh = this.rest(messages, this.read);
      const started = await this.#context.store
        .startEffect(this.#turn, {
          ref,
          tool: call.toolRequest.name,
          run,
          logged: this.#logged,
          ...fresh,
          evidence,
        })
        .catch((error: unknown) => ({ outcome: 'failed' as const, error }));
      if (limited !== undefined && started.outcome !== 'started' && started.outcome !== 'failed')
        await giveBackLimits(this.#context.store, limited, run);
      if (started.outcome === 'frozen') {
        await returnUse(this.#context.store, admitted);
        const freeze = await findFreeze(this.#context.store, call.toolRequest.name);
        const denied = deniedPart(call, freezeTexts.denied(freeze));
        return (await this.#uncertain(call, replyTexts.notTriedAgain)) ?? denied;
      }
      if (started.outcome === 'stopped') {
        await returnUse(this.#context.store, admitted);
        this.#lease.stop();
        return false;
      }
      if (started.outcome !== 'started') {
        this.#context.logger.warn({ threadId: this.#turn.threadId, ref, ...started }, 'effect not started');
        this.#lease.lose(`the start of an effect was ${started.outcome}`);
        return false;
      }
      this.#logged += fresh.messages.length;
      this.#inboxLogged += fresh.read;
      this.#runs.set(ref, { run, evidence, runs: runs + 1, firstStart });
      const mayHaveRun = this.#mayHaveRun.has(ref);
      if (mayHaveRun) this.#mayHaveRun.set(ref, { run, evidence });
      await tellOfUse(this.#context.store, this.#turn.threadId, call.toolRequest.name, admitted);
      if (this.#lease.mayStart()) return true;
      // The start is on record and the effect has not begun: the next turn may run it.
      if (!mayHaveRun) await this.finish(call, 'paused', waitingPart(call));
      return false;
    });
  }

  /** Returns the interrupt of a call that may not run now, if an earlier run or its task may have taken effect. */
  async #uncertain(call: CallPart, why: string, replaced?: ReplacedInput): Promise<ToolPart | undefined> {
    const { ref } = call.toolRequest;
    const run = this.#mayHaveRun.get(ref) ?? (this.#followsTask(ref) ? this.#runs.get(ref) : undefined);
    if (run === undefined && !this.#followsTask(ref)) return undefined;
    const part = waitingPart(call, { metadata: { [OUTCOME_UNKNOWN]: why }, replaced });
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
    return interrupts.some(
      (interrupt) => interrupt.toolRequest.ref === ref && isRunAsTask(serverPauseOf(interrupt)),
    );
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
    { run, evidence }: Run,
    { ref, end, part }: { readonly ref: string; readonly end: EffectEnd; readonly part: ToolPart },
  ): Promise<void> {
    const { store, logger } = this.#context;
    try {
      const finished = await store.finishEffect(this.#turn, { ref, run, end, part, evidence });
      const limited = limitedEffect(this.#context.toolbox, this.#turn.threadId, evidence);
      if (finished.outcome === 'finished' && limited !== undefined && (end === 'failed' || end === 'paused'))
        await giveBackLimits(store, limited, end === 'paused' ? run : undefined);
      if (finished.outcome === 'stale') this.#lease.lose('another turn has the thread');
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

function isServerPause(part: ToolPart): boolean {
  return 'interrupt' in part && serverPauseOf(part.interrupt) !== undefined;
}

function isTaskPause(part: ToolPart): boolean {
  return 'interrupt' in part && isRunAsTask(serverPauseOf(part.interrupt));
}
