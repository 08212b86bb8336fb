import { randomUUID } from 'node:crypto';
import { type JsonObject, toJson } from '../../agent/json.ts';
import type { CallPart, Message, ToolPart } from '../../agent/messages.ts';
import { type ReplacedInput, settledPart, waitingPart } from '../../agent/outcomes.ts';
import {
  type EffectEnd,
  type EffectJournal,
  OUTCOME_UNKNOWN,
  type StartedCall,
} from '../../agent/run-call.ts';
import type { Tool } from '../../agent/tool.ts';
import type { ClaimedTurn, EffectRecord } from '../../store/port/store.ts';
import type { BotContext } from '../context.ts';
import { requestersOf } from '../requests/task-people.ts';
import type { TurnLease } from './turn-lease.ts';

/** A running effect has this long to end after a Stop; then its outcome counts as unknown. */
const STOP_GRACE_MS = 10_000;

/** The journal of one turn: it records every effect before it happens, and knows what an earlier, unfinished turn recorded. */
export class TurnJournal implements EffectJournal {
  readonly stopGraceMs = STOP_GRACE_MS;
  readonly #context: Pick<BotContext, 'store' | 'toolbox' | 'logger'>;
  readonly #turn: ClaimedTurn;
  readonly #lease: TurnLease;
  readonly #runs = new Map<string, { readonly run: string; readonly evidence: JsonObject }>();
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
    if (effect === undefined || effect.state === 'paused') return undefined;
    if (effect.state === 'finished') return effect.part;
    const found = await this.#reconcile(call, tool, replaced);
    if (found !== undefined) {
      const part = settledPart(call, 'closed', { status: found, reason: 'The tool looked it up' }, replaced);
      await this.#end(effect, call, found === 'ran' ? 'succeeded' : 'failed', part);
      return part;
    }
    if (this.#mayRunAgain(effect, tool)) return undefined;
    const metadata = { [OUTCOME_UNKNOWN]: 'The worker stopped mid-run.' };
    const part = waitingPart(call, { metadata, replaced });
    await this.#end(effect, call, 'unknown', part);
    return part;
  }

  async start({ call, tool, input, messages }: StartedCall): Promise<boolean> {
    const { toolRequest, idempotencyKey } = call;
    const { ref } = toolRequest;
    const run = randomUUID();
    const requesters = [...requestersOf(messages)];
    const evidence = { tool: tool.name, arguments: toJson(input), requesters, ref, idempotencyKey };
    return this.#inOrder(async () => {
      if (!this.#lease.mayStart()) return false;
      const fresh = this.rest(messages, this.read);
      const started = await this.#context.store
        .startEffect(this.#turn, { ref, run, logged: this.#logged, ...fresh, evidence })
        .catch((error: unknown) => ({ outcome: 'failed' as const, error }));
      if (started.outcome !== 'started') {
        this.#context.logger.warn({ threadId: this.#turn.threadId, ref, ...started }, 'effect not started');
        this.#lease.lose(`the start of an effect was ${started.outcome}`);
        return false;
      }
      this.#logged += fresh.messages.length;
      this.#inboxLogged += fresh.read;
      this.#runs.set(ref, { run, evidence });
      if (this.#lease.mayStart()) return true;
      // The start is on record and the effect has not begun: the next turn may run it.
      await this.finish(call, 'paused', waitingPart(call));
      return false;
    });
  }

  async finish(call: CallPart, end: EffectEnd, part: ToolPart): Promise<void> {
    const { ref } = call.toolRequest;
    const started = this.#runs.get(ref);
    // A cut turn leaves the outcome to the next one, which knows whether the call may run again.
    if (started === undefined || (end === 'unknown' && this.#lease.isCut)) return;
    await this.#record(started, { ref, end, part });
  }

  #end(effect: EffectRecord, { toolRequest, idempotencyKey }: CallPart, end: EffectEnd, part: ToolPart) {
    const { ref, run } = effect;
    const evidence = { tool: toolRequest.name, ref, idempotencyKey };
    return this.#record({ run, evidence }, { ref, end, part });
  }

  async #record(
    { run, evidence }: { readonly run: string; readonly evidence: JsonObject },
    { ref, end, part }: { readonly ref: string; readonly end: EffectEnd; readonly part: ToolPart },
  ): Promise<void> {
    const { store, logger } = this.#context;
    try {
      const finished = await store.finishEffect(this.#turn, { ref, run, end, part, evidence });
      if (finished.outcome === 'stale') this.#lease.lose('another turn has the thread');
    } catch (err) {
      // The end of the turn records the result as well; if that fails too, the next turn asks.
      logger.warn({ threadId: this.#turn.threadId, ref, err }, 'effect not recorded');
    }
  }

  async #reconcile(call: CallPart, tool: Tool, replaced: ReplacedInput | undefined) {
    if (tool.kind !== 'tool' || tool.reconcile === undefined) return undefined;
    const input = tool.inputSchema.parse(toJson(replaced?.ran ?? call.toolRequest.input));
    const verdict = await tool
      .reconcile(call.idempotencyKey, input.ok ? input.value : {})
      .catch((err: unknown) => {
        this.#context.logger.warn({ threadId: this.#turn.threadId, err }, 'reconcile failed');
        return 'unknown' as const;
      });
    return verdict === 'unknown' ? undefined : verdict;
  }

  #mayRunAgain({ runs, firstStart }: EffectRecord, tool: Tool): boolean {
    const execution = this.#context.toolbox.find(tool.name)?.execution;
    if (tool.kind !== 'tool' || tool.effect !== 'idempotent' || execution === undefined) return false;
    return runs < execution.maxAttempts && Date.now() - firstStart < execution.retryForMs;
  }

  /** Starts calls one after another, so that the messages of a round are logged once. */
  #inOrder<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    return result;
  }
}
