import type { ScriptedCall } from '../../../playground/model/model-reply.ts';
import type { JsonValue } from '../../../src/index.ts';
import type { BadCall, CallPlan, Ending, PlannedCall, Reply, Round, Turn } from './thread-plan.ts';

/** The expected end of a call when its thread is done. */
export interface Outcome {
  readonly status: 'ok' | 'error' | 'denied' | 'closed';
  /** The text that the model reads; `undefined` if the exact words do not matter. */
  readonly output: JsonValue | undefined;
  /** The amount that took effect, if anything did. */
  readonly effect: number | undefined;
  /** The input the model sees beside the result; `undefined` where it gave none that could be read. */
  readonly input: JsonValue | undefined;
}

/** A call with its own key, what the model sends for it, and what must come of it. */
export interface ForetoldCall {
  readonly key: string;
  readonly plan: CallPlan;
  readonly ticks: number;
  readonly sent: ScriptedCall;
  readonly outcome: Outcome;
}

export interface ForetoldRound {
  readonly cut: boolean;
  readonly calls: readonly ForetoldCall[];
}

export interface ForetoldTurn {
  readonly throughJson: boolean;
  readonly rounds: readonly ForetoldRound[];
}

interface DeniedCall {
  readonly name: string;
  readonly arguments: object;
}

/** Says how a thread must go, from the plan alone and without any of the code under test. */
export function foretell(turns: readonly Turn[]): ForetoldTurn[] {
  const ids: string[] = [];
  return turns.map(({ rounds, throughJson }, turn) => {
    // A denial is remembered until a person speaks.
    const denied: DeniedCall[] = [];
    const foretold = rounds.map((round, place) => {
      const calls = round.calls.map((call, position) =>
        foretellCall(call, `t${turn}r${place}c${position}`, round, ids, denied.at(-1)),
      );
      for (const { sent, outcome, plan } of calls) {
        const isNew = plan.kind === 'denying' || plan.kind === 'gated' || plan.kind === 'question';
        if (isNew && outcome.status === 'denied' && typeof sent.arguments === 'object') {
          denied.push({ name: sent.name, arguments: sent.arguments });
        }
      }
      return { cut: round.cut, calls };
    });
    return { throughJson, rounds: foretold };
  });
}

const NOT_RUN = { output: undefined, effect: undefined } as const;

function foretellCall(
  { plan, amount, ticks }: PlannedCall,
  key: string,
  round: Round,
  ids: string[],
  denied: DeniedCall | undefined,
): ForetoldCall {
  const own = { key, amount };
  const earlier = ids.at(-1);
  const id = `call_${key}`;
  const base = { key, plan, ticks };
  const refused = (input: JsonValue | undefined): Outcome => ({ ...NOT_RUN, status: 'error', input });

  if (plan.kind === 'bad') {
    const repeated = plan.how === 'repeated-id' ? earlier : undefined;
    ids.push(repeated ?? id);
    const sent = badCall(plan.how, own, repeated ?? id);
    const readable = plan.how !== 'invalid-json' && plan.how !== 'wrong-input';
    // With no earlier call there is no id to repeat, and the call is a plain one.
    if (plan.how === 'repeated-id' && repeated === undefined && !round.cut) {
      return { ...base, sent, outcome: { status: 'ok', output: null, effect: amount, input: own } };
    }
    return { ...base, sent, outcome: refused(readable ? own : undefined) };
  }
  if (plan.kind === 'denied-before') {
    ids.push(id);
    if (denied === undefined) {
      return { ...base, sent: badCall('unknown-tool', own, id), outcome: refused(own) };
    }
    const outcome: Outcome = round.cut
      ? refused(undefined)
      : { ...NOT_RUN, status: 'denied', input: undefined };
    return { ...base, sent: { id, ...denied }, outcome };
  }

  const isNameless = plan.kind === 'plain' && plan.withoutId;
  if (!isNameless) ids.push(id);
  const sent = { id: isNameless ? '' : id, name: plan.kind, arguments: own };
  return { ...base, sent, outcome: round.cut ? refused(own) : outcomeOf(plan, own) };
}

function badCall(how: BadCall, own: { key: string; amount: number }, id: string): ScriptedCall {
  switch (how) {
    case 'invalid-json':
      return { id, name: 'careless', arguments: JSON.stringify(own).slice(0, -1) };
    case 'wrong-input':
      return { id, name: 'gated', arguments: { ...own, amount: 'much' } };
    case 'unknown-tool':
      return { id, name: 'nowhere', arguments: own };
    case 'hostile-name':
      return { id, name: '__proto__', arguments: own };
    case 'repeated-id':
      return { id, name: 'plain', arguments: own };
  }
}

function outcomeOf(
  plan: Exclude<CallPlan, { kind: 'bad' | 'denied-before' }>,
  own: { key: string; amount: number },
): Outcome {
  switch (plan.kind) {
    case 'plain':
      return { status: 'ok', output: plan.output ?? null, effect: own.amount, input: own };
    case 'failing':
      return { ...endOf({ act: 'fail' }, own.amount), input: own };
    case 'denying':
      return { ...endOf({ act: 'deny' }, own.amount), input: own };
    case 'question':
      return { ...endOf(plan.last.ending, own.amount), input: own };
    case 'gated': {
      const amount = [...plan.again, plan.last].reduce(replace, own.amount);
      return { ...endOf(plan.last.ending, amount), input: { ...own, amount } };
    }
  }
}

function replace(amount: number, { replaceInput, ending }: Reply<Ending | { act: 'pause' }>): number {
  return ending.act === 'respond' || ending.act === 'close' ? amount : (replaceInput ?? amount);
}

function endOf(ending: Ending, amount: number): Omit<Outcome, 'input'> {
  switch (ending.act) {
    case 'approve':
      return { status: 'ok', output: ending.output ?? null, effect: amount };
    case 'fail':
      return {
        status: 'error',
        output: { status: 'error', message: 'failed on purpose' },
        effect: undefined,
      };
    case 'deny':
      return { status: 'denied', output: { status: 'denied', reason: 'not like this' }, effect: undefined };
    case 'respond':
      return { status: 'ok', output: ending.output, effect: undefined };
    case 'close': {
      const status = ending.status === 'denied' ? 'denied' : 'closed';
      return { status, output: { status: ending.status, reason: 'nobody signed' }, effect: undefined };
    }
  }
}
