import fc from 'fast-check';
import { THE_MODEL } from '../../../src/store/port/workspace.ts';

export const THREADS = ['C1:B', 'C1:L', 'C1:A'] as const;
export const PEOPLE = ['U-ann', 'U-ben', 'U-cid', 'U-dot', 'U-eve'] as const;
export type Person = (typeof PEOPLE)[number];
export const TOOLS = ['refund_order', 'press_part'] as const;
export const KEPT_MS = 5_000;

export const thread = fc.constantFrom(...THREADS);
export const who = fc.constantFrom(...PEOPLE);
const people = fc.subarray([...PEOPLE]);
/** Which of the things there are at that moment; most often one to which the actor fits. */
export const pick = fc.nat({ max: 999 });
/** One to which it fits, where there is any. */
export const fitting = fc.nat({ max: 249 }).map((number) => 4 * number + 1);
/** Any that there is, whether it fits or not. */
export const any = fc.nat({ max: 249 }).map((number) => 4 * number);
export const duration = fc.constantFrom(-1, 0, 1_000, 1_000, 1_000_000, 1_000_000);
const far = fc.constantFrom(0, 1_000, 1_000_000, 1_000_000, 1_000_000, 1_000_000);
export const once = fc.constant({ twice: false });
export const mostly = fc.nat({ max: 9 }).map((die) => die > 0);
const often = fc.nat({ max: 3 }).map((die) => die > 0);

/** Mostly none; else two groups, whose quorums the policy's own is the sum of. */
const groups = fc.constantFrom(undefined, undefined, [1, 1], [2, 1]);
/** The approver groups that a person is in. */
const memberships = fc.constantFrom<readonly number[]>([1], [2], [1, 2], []);

export const plan = fc.record({
  groups,
  delegation: fc.boolean(),
  kind: fc.constantFrom('approval', 'approval', 'approval', 'question', 'form', 'callback'),
  requester: who,
  others: fc.subarray([...PEOPLE], { maxLength: 1 }),
  barred: fc.subarray([...PEOPLE], { maxLength: 1 }),
  views: fc.subarray(['thread', 'dm']),
  idempotent: fc.boolean(),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  unsigned: fc.nat({ max: 5 }).map((die) => die === 0),
  retryForMs: duration,
  elsewhere: fc.nat({ max: 5 }).map((die) => die === 0),
  /** Whether a step of a plan is asked by itself. */
  alone: fc.nat({ max: 3 }).map((die) => die === 0),
  policy: fc.record(
    {
      principals: people,
      resolvers: people,
      quorum: fc.constantFrom(1, 1, 2),
      vetoes: fc.constantFrom(1, 2),
      selfApproval: fc.boolean(),
      expiresInMs: far,
      startWithinMs: far,
      remindEveryMs: fc.constantFrom(1_000, 1_000_000),
      escalate: fc.record({ afterMs: duration, to: people }),
    },
    {
      requiredKeys: ['principals', 'resolvers', 'quorum', 'vetoes', 'selfApproval', 'expiresInMs'],
    },
  ),
});
export type RequestPlan = typeof plan extends fc.Arbitrary<infer Plan> ? Plan : never;

export function verb<Name extends string, Fields extends object>(
  name: Name,
  fields: { [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> },
): fc.Arbitrary<{ readonly verb: Name; readonly twice: boolean } & Fields> {
  return fc
    .tuple(mostly, fc.record<Fields>(fields))
    .map(([once, rest]) => ({ verb: name, twice: !once, ...rest }));
}

export const requests = fc.array(plan, { maxLength: 3, size: 'max' });
export const decision = fc.constantFrom('approve', 'approve', 'approve', 'reject');
export const state = fc.constantFrom('succeeded', 'failed', 'paused');
export const continuation = fc.constantFrom('succeeded', 'failed', 'paused', 'superseded');
/** The number of attempts that the person was shown; mostly absent. */
export const tries = fc.constantFrom(undefined, undefined, 1, 2);
export const verdict = fc.constantFrom('ran', 'did-not-run', 'run-again', 'run-again');
/** Mostly the same call, so that one is also started after its end. */
const effectRef = fc.constantFrom('call-1', 'call-1', 'call-1', 'call-1', 'call-2');
const effectEnd = fc.constantFrom('succeeded', 'failed', 'paused', 'unknown');
const file = fc.integer({ min: 1, max: 3 });
const limit = fc.integer({ min: 1, max: 4 });

export const grantId = fc.constantFrom('g-1', 'g-2', 'g-3');
/** Mostly none. */
const limited = {
  limitKeys: fc.constantFrom<readonly string[]>([], [], ['refunds'], ['parts', 'refunds']),
  amount: fc.nat({ max: 2 }),
  max: fc.constantFrom(undefined, 1, 2, 3),
};
const granted = { grant: fc.constantFrom(undefined, undefined, 'g-1', 'g-2', 'g-3') };

export const suspension = verb('suspend', {
  pick,
  readAll: mostly,
  fresh: often,
  /** Whether the first request is a plan of the others. */
  isPlan: fc.nat({ max: 3 }).map((die) => die === 0),
  requests,
  row: fc.boolean(),
});
/** A Run of another source; often one that takes the place of another. */
export const opening = verb('open', { pick, plan, isAgain: fc.boolean() });
export const start = verb('start', {
  ...{ pick, same: mostly, heartbeatTimeoutMs: duration, still: mostly, people, ...limited },
  moved: fc.nat({ max: 5 }).map((die) => die === 0),
  isCaller: fc.boolean(),
});

const scope = fc.constantFrom('*', THE_MODEL, ...TOOLS);
const freeze = verb('freeze', { scope, who });
const unfreeze = verb('unfreeze', {
  ...{ scope, who, eligible: mostly, still: mostly },
  quorum: fc.constantFrom(1, 1, 2),
  known: fc.constantFrom(undefined, undefined, true, false),
});

/** The approver in whose place a person votes; mostly nobody. */
const standsFor = fc.constantFrom(undefined, undefined, ...PEOPLE);
const delegate = verb('delegate', { who, to: who, far });
const endDelegation = verb('endDelegation', { who });

export const ending = {
  ...{ pick, who, own: fc.boolean(), isOperator: fc.boolean() },
  state: fc.constantFrom('withdrawn', 'withdrawn', 'superseded', 'failed', 'expired', 'expired'),
};

/** The places that a card gets later. */
const views = fc.subarray(['thread', 'dm', 'home']);

const notice = {
  ...{ pick, views, behind: fc.constantFrom(0, 0, 1) },
  timer: fc.constantFrom('remind', 'escalate', 'recover', 'ended'),
  quietMs: fc.constantFrom(undefined, undefined, 0, 1_000),
};

/** A request on a summary. */
const listed = fc.nat({ max: 4 });

export const command = fc.oneof(
  { weight: 3, arbitrary: verb('wait', { ms: fc.constantFrom(0, 1, 999, 1_000, KEPT_MS, 1_000_000) }) },
  { weight: 6, arbitrary: verb('again', { pick }) },
  { weight: 1, arbitrary: verb('compare', {}) },
  {
    weight: 5,
    arbitrary: verb('enqueue', {
      thread,
      item: fc.nat({ max: 20 }),
      onlyKnown: fc.boolean(),
      stopper: fc.option(who, { nil: undefined, freq: 2 }),
    }),
  },
  { weight: 7, arbitrary: verb('claimTurn', { thread, leaseMs: duration }) },
  {
    weight: 3,
    arbitrary: verb('enqueueAndClaim', {
      thread,
      item: fc.nat({ max: 20 }),
      onlyKnown: fc.boolean(),
      leaseMs: duration,
    }),
  },
  { weight: 1, arbitrary: verb('renewLease', { pick, leaseMs: duration }) },
  { weight: 1, arbitrary: verb('release', { pick }) },
  { weight: 4, arbitrary: verb('failTurn', { pick, mostFailures: fc.constantFrom(1, 1, 2, 3) }) },
  { weight: 4, arbitrary: verb('unquarantine', { thread }) },
  {
    weight: 7,
    arbitrary: verb('startEffect', {
      ...{ pick, ref: effectRef, logged: mostly, read: fc.boolean() },
      ...limited,
      ...granted,
    }),
  },
  { weight: 7, arbitrary: verb('finishEffect', { pick, ref: effectRef, same: mostly, end: effectEnd }) },
  { weight: 4, arbitrary: verb('stop', { thread, who }) },
  { weight: 1, arbitrary: verb('waitingIn', { thread }) },
  { weight: 1, arbitrary: verb('readThread', { thread }) },
  { weight: 3, arbitrary: verb('keepFile', { thread, file, size: fc.constantFrom(3, 30, 45) }) },
  { weight: 2, arbitrary: verb('readFiles', { thread }) },
  { weight: 1, arbitrary: verb('dropFile', { thread, file }) },
  { weight: 6, arbitrary: suspension },
  { weight: 4, arbitrary: opening },
  {
    weight: 9,
    arbitrary: verb('vote', {
      ...{ pick, who, decision, shown: mostly, eligible: mostly, groups: memberships, grants: fc.boolean() },
      standsFor,
      isRare: fc.nat({ max: 3 }).map((die) => die === 0),
    }),
  },
  {
    weight: 3,
    arbitrary: verb('answer', { pick, who, eligible: mostly, value: fc.constantFrom(0, '', 'b') }),
  },
  { weight: 6, arbitrary: verb('end', ending) },
  { weight: 6, arbitrary: start },
  {
    weight: 2,
    arbitrary: verb('heartbeat', {
      pick,
      heartbeatTimeoutMs: duration,
      progress: fc.constantFrom('', 'half'),
    }),
  },
  { weight: 4, arbitrary: verb('finish', { pick, state }) },
  { weight: 3, arbitrary: verb('finishAndClaim', { pick, state, leaseMs: duration }) },
  { weight: 3, arbitrary: verb('goOn', { pick, state: continuation, own: mostly, step: limit }) },
  {
    weight: 4,
    arbitrary: verb('voteAndStart', {
      pick,
      who,
      decision,
      same: mostly,
      still: mostly,
      heartbeatTimeoutMs: duration,
      groups: memberships,
      grants: fc.boolean(),
      standsFor,
      ...limited,
    }),
  },
  { weight: 5, arbitrary: verb('recover', { pick }) },
  { weight: 7, arbitrary: verb('notify', notice) },
  { weight: 4, arbitrary: verb('resolve', { pick, who, eligible: mostly, verdict, tries }) },
  { weight: 2, arbitrary: verb('purge', { pick }) },
  { weight: 2, arbitrary: verb('retire', { thread }) },
  { weight: 1, arbitrary: verb('enqueueOutbox', { thread, row: fc.nat({ max: 4 }) }) },
  { weight: 2, arbitrary: verb('holdOutbox', { thread, row: fc.nat({ max: 4 }), leaseMs: duration }) },
  { weight: 4, arbitrary: verb('claimOutbox', { leaseMs: duration, limit }) },
  {
    weight: 5,
    arbitrary: verb('doneOutbox', {
      pick,
      behind: fc.nat({ max: 1 }),
      againMs: fc.constantFrom(0, 0, 60_000),
    }),
  },
  { weight: 2, arbitrary: verb('retryOutbox', { pick, delayMs: duration, isUnsent: fc.boolean() }) },
  { weight: 3, arbitrary: verb('countCall', { thread, ref: effectRef, ...limited, ...granted }) },
  {
    weight: 2,
    arbitrary: verb('readTotals', { limitKeys: fc.constant<readonly string[]>(['parts', 'refunds']) }),
  },
  { weight: 1, arbitrary: verb('revokeGrant', { grant: grantId, who, eligible: often }) },
  { weight: 1, arbitrary: verb('listGrants', {}) },
  { weight: 2, arbitrary: delegate },
  { weight: 1, arbitrary: endDelegation },
  {
    weight: 3,
    arbitrary: verb('tell', {
      ...{ thread, listed, after: fc.nat({ max: 2 }), delayMs: fc.constantFrom(0, 1_000) },
      withinMs: fc.constantFrom(1_000, 1_000_000),
    }),
  },
  { weight: 3, arbitrary: verb('listInDigest', { thread, listed, delayMs: fc.constantFrom(0, 1_000) }) },
  { weight: 2, arbitrary: verb('readSummary', { thread }) },
  { weight: 1, arbitrary: freeze },
  { weight: 3, arbitrary: unfreeze },
  { weight: 2, arbitrary: verb('showFreeze', {}) },
  { weight: 1, arbitrary: verb('readFreezes', {}) },
  { weight: 3, arbitrary: verb('redraw', { pick, views }) },
  {
    weight: 2,
    arbitrary: verb('offerUndo', { pick: fitting, withinMs: fc.constantFrom(0, 1_000, 1_000_000) }),
  },
  {
    weight: 3,
    arbitrary: verb('noteUndo', {
      ...{ pick: fitting, who },
      step: fc.constantFrom('over', 'over', 'asked', 'linked', 'ended'),
    }),
  },
  { weight: 1, arbitrary: verb('due', { overdueMs: fc.constantFrom(0, 1_000), limit }) },
  { weight: 2, arbitrary: verb('spend', { thread, who, tokens: fc.nat({ max: 1_000 }) }) },
  { weight: 1, arbitrary: verb('usageOf', { thread, who }) },
  {
    weight: 4,
    arbitrary: verb('writeDocument', {
      thread,
      who,
      isRemoved: fc.nat({ max: 2 }).map((die) => die === 0),
      pick: fc.nat({ max: 3 }),
    }),
  },
  { weight: 1, arbitrary: verb('readDocument', { thread, who }) },
  { weight: 1, arbitrary: verb('listDocuments', { thread }) },
  { weight: 2, arbitrary: verb('claimExport', { who }) },
  { weight: 1, arbitrary: verb('releaseExport', { who }) },
  { weight: 2, arbitrary: verb('appendCheckpoint', { who, own: often, next: often }) },
  { weight: 1, arbitrary: verb('list', { who, people, limit, next: fc.boolean() }) },
);
export type Command = typeof command extends fc.Arbitrary<infer Any> ? Any : never;
