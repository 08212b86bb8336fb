import fc from 'fast-check';
import type { JsonValue } from '../../../src/index.ts';

/** When a reply is carried out: by itself or with others of the same turn through `settle`, or with the rest at the end. */
export type Moment = 'first' | 'second' | 'third' | 'resume';

/** The way a waiting call ends. */
export type Ending =
  | { readonly act: 'approve'; readonly output: JsonValue | undefined }
  | { readonly act: 'fail' }
  | { readonly act: 'deny' }
  | { readonly act: 'respond'; readonly output: JsonValue }
  | { readonly act: 'close'; readonly status: 'expired' | 'withdrawn' | 'denied' };

/** One answer to one pause of a restartable call. */
export interface Reply<Act> {
  readonly moment: Moment;
  readonly replaceInput: number | undefined;
  readonly ending: Act;
}

export type BadCall = 'invalid-json' | 'wrong-input' | 'unknown-tool' | 'hostile-name' | 'repeated-id';

/** A call of the model and people's answer to it; nothing else decides its end. */
export type CallPlan =
  | { readonly kind: 'plain'; readonly output: JsonValue | undefined; readonly withoutId: boolean }
  | { readonly kind: 'failing' }
  | { readonly kind: 'denying' }
  | {
      readonly kind: 'gated';
      readonly again: readonly Reply<{ readonly act: 'pause' }>[];
      readonly last: Reply<Ending>;
    }
  | { readonly kind: 'question'; readonly last: Reply<Extract<Ending, { act: 'respond' | 'close' }>> }
  | { readonly kind: 'bad'; readonly how: BadCall }
  | { readonly kind: 'denied-before' };

export interface PlannedCall {
  /** The event-loop turns that the tool takes, so that calls finish out of order. */
  readonly ticks: number;
  readonly amount: number;
  readonly plan: CallPlan;
}

/** One message of the model with calls in it; `cut` when the length limit stopped it. */
export interface Round {
  readonly cut: boolean;
  readonly calls: readonly PlannedCall[];
}

/** A person speaks, the model makes its rounds of calls, and ends with a word. */
export interface Turn {
  readonly rounds: readonly Round[];
  /** Whether the messages go through JSON between the steps. */
  readonly throughJson: boolean;
}

const output = fc.constantFrom<JsonValue[]>('done', 0, '', false, null, { total: 3 }, []);
const outputOrNone = fc.oneof(output, fc.constant(undefined));
const amount = fc.integer({ min: 0, max: 3 });
const moment = fc.constantFrom<Moment[]>('resume', 'first', 'second', 'third');

const respond = fc.record({ act: fc.constant('respond' as const), output });
const close = fc.record({
  act: fc.constant('close' as const),
  status: fc.constantFrom('expired' as const, 'withdrawn' as const, 'denied' as const),
});
const ending = fc.oneof(
  fc.record({ act: fc.constant('approve' as const), output: outputOrNone }),
  fc.record({ act: fc.constant('fail' as const) }),
  fc.record({ act: fc.constant('deny' as const) }),
  respond,
  close,
);

function reply<Act>(act: fc.Arbitrary<Act>): fc.Arbitrary<Reply<Act>> {
  return fc.record({ moment, replaceInput: fc.option(amount, { nil: undefined }), ending: act });
}

const plan: fc.Arbitrary<CallPlan> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('plain' as const),
      output: outputOrNone,
      withoutId: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('failing' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('denying' as const) }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('gated' as const),
      again: fc.array(reply(fc.constant({ act: 'pause' as const })), { maxLength: 2 }),
      last: reply(ending),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('question' as const), last: reply(fc.oneof(respond, close)) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('bad' as const),
      how: fc.constantFrom<BadCall[]>(
        'invalid-json',
        'wrong-input',
        'unknown-tool',
        'hostile-name',
        'repeated-id',
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('denied-before' as const) }) },
);

const round: fc.Arbitrary<Round> = fc.record({
  cut: fc.integer({ min: 0, max: 15 }).map((chance) => chance === 15),
  calls: fc.array(fc.record({ ticks: fc.integer({ min: 0, max: 3 }), amount, plan }), {
    minLength: 1,
    maxLength: 5,
  }),
});

/** Random threads; they shrink towards one plain call. */
export const threadPlan: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({ rounds: fc.array(round, { maxLength: 3 }), throughJson: fc.boolean() }),
  { minLength: 1, maxLength: 2 },
);
