import fc from 'fast-check';
import {
  any,
  type Command,
  command,
  continuation,
  duration,
  ending,
  fitting,
  grantId,
  KEPT_MS,
  mostly,
  once,
  opening,
  PEOPLE,
  type Person,
  pick,
  plan,
  type RequestPlan,
  requests,
  start,
  state,
  suspension,
  THREADS,
  thread,
  tries,
  verb,
  verdict,
  who,
} from './commands.ts';

/** An end that is nobody's. */
const BOT = { who: 'U-ann', own: false, isOperator: false } as const;
/** A call without limits and without a grant. */
const FREE = { limitKeys: [], amount: 0, max: undefined, grant: undefined };

const round = fc
  .tuple(thread, fc.integer({ min: 100, max: 999 }), suspension, once)
  .map(([thread, item, suspend, calls]): Command[] => [
    { verb: 'enqueue', thread, item, onlyKnown: false, stopper: undefined, ...calls },
    { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
    { ...suspend, pick: 0 },
  ]);

/** A round in which a request is made that anybody may approve, alone; the first of a plan or the only one. */
function withOpenRequest(
  round: readonly Command[],
  [first, ...steps]: readonly [RequestPlan, ...RequestPlan[]],
  isPlan: boolean,
): Command[] {
  const policy = {
    ...{ principals: [...PEOPLE], resolvers: [...PEOPLE], quorum: 1 as const, vetoes: 1 as const },
    ...{ selfApproval: true, expiresInMs: 1_000_000 as const },
  };
  const open = { ...first, groups: undefined, delegation: false, barred: [], policy };
  const changes = { readAll: true, fresh: true, isPlan, requests: [open, ...steps] };
  return round.map((each) => (each.verb === 'suspend' ? { ...each, ...changes } : each));
}

/** A plan of two steps that is approved, and whose steps start, and end, in any order. */
const planned = fc
  .tuple(
    round,
    fc.tuple(plan, plan, plan),
    fc.array(
      fc.tuple(
        start,
        fc.constantFrom(1, 1, 2, 2, 2, 3),
        fc.constantFrom('succeeded', 'succeeded', 'failed', undefined),
      ),
      { minLength: 3, maxLength: 8, size: 'max' },
    ),
  )
  .map(([before, asked, starts]): Command[] => {
    return [
      ...withOpenRequest(before, asked, true),
      click(3, 'U-eve', 'approve', { twice: false }),
      ...starts.flatMap(([each, pick, end]): Command[] => [
        { ...each, pick, same: true, still: true, heartbeatTimeoutMs: 1_000_000, limitKeys: [] },
        ...(end === undefined ? [] : [{ verb: 'finish', pick: 1, state: end, twice: false } as const]),
      ]),
    ];
  });

const several = fc.shuffledSubarray([...PEOPLE], { minLength: 3, maxLength: 3 });

/** Calls while an action runs, mostly refused. */
const meanwhile: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    verb('end', { ...ending, pick: any }),
    verb('recover', { pick: any }),
    verb('resolve', { pick: any, who, eligible: mostly, verdict, tries }),
    verb('heartbeat', { pick: any, heartbeatTimeoutMs: duration, progress: fc.constantFrom('', 'half') }),
    start,
  ),
  { minLength: 1, maxLength: 4, size: 'max' },
);

function click(
  pick: number,
  who: Person,
  decision: 'approve' | 'reject',
  calls: { twice: boolean },
  standsFor?: Person,
): Command {
  // The first is in one group, the second in the other, the others in both.
  const groups = who === 'U-ann' ? [1] : who === 'U-ben' ? [2] : [1, 2];
  return {
    verb: 'vote',
    pick,
    who,
    decision,
    shown: true,
    eligible: true,
    groups,
    grants: pick % 2 === 0,
    standsFor,
    isRare: false,
    ...calls,
  };
}

/** Ends a stopped turn: it goes over to another process, starts nothing, and asks people. */
function stopped(thread: (typeof THREADS)[number], item: number, requests: RequestPlan[]): Command[] {
  const calls = { twice: item % 5 === 0 };
  const handedOver: Command[] = [
    { verb: 'enqueue', thread, item: item + 1_000, onlyKnown: true, stopper: undefined, ...calls },
    { verb: 'release', pick: 0, ...calls },
    { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
  ];
  return [
    ...(item % 2 === 0 ? handedOver : []),
    { verb: 'startEffect', pick: 0, ref: 'call-1', logged: true, read: false, ...FREE, ...calls },
    { verb: 'suspend', pick: 0, readAll: true, fresh: true, isPlan: false, requests, row: false, ...calls },
  ];
}

/** Messages are claimed, sent by one process or by two, and some of them change meanwhile. */
const sending = fc
  .tuple(thread, fc.nat({ max: 4 }), fc.nat({ max: 2 }), fc.constantFrom(0, 60_000), fc.boolean(), once)
  .map(([thread, listed, pick, againMs, isRace, calls]): Command[] => {
    const claim: Command = {
      verb: 'claimOutbox',
      leaseMs: isRace ? 0 : 1_000_000,
      limit: 20,
      ...calls,
    };
    const done: Command = { verb: 'doneOutbox', pick, behind: 0, againMs, ...calls };
    return [
      { verb: 'enqueueOutbox', thread, row: listed, ...calls },
      { verb: 'redraw', pick: 1, views: [], ...calls },
      { verb: 'listInDigest', thread, listed, delayMs: 0, ...calls },
      { verb: 'wait', ms: 1_000, ...calls },
      claim,
      ...(isRace ? [claim] : []),
      { ...done, behind: isRace ? 0 : listed % 2 },
      { ...done, pick: pick + 10 },
      { ...done, pick: pick + 20 },
      { ...done, pick: 7 + 10 * listed },
      { verb: 'retryOutbox', pick: 7 + 10 * pick, delayMs: 1_000, isUnsent: false, ...calls },
    ];
  });

/** A tool is frozen, calls of it are refused, and people lift the freeze. */
const freezing = fc
  .tuple(thread, fitting, several, start, fc.constantFrom(1, 2), fc.boolean(), once)
  .map(([thread, pick, people, start, quorum, isKnown, calls]): Command[] => {
    const [one = 'U-ann', two = 'U-ben', three = 'U-cid'] = people;
    const lift = { verb: 'unfreeze', scope: '*', eligible: true, still: true, quorum, ...calls } as const;
    return [
      { verb: 'enqueue', thread, item: 50, onlyKnown: false, stopper: undefined, ...calls },
      { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
      ...people.map((who) => click(pick, who, 'approve', calls)),
      { verb: 'freeze', scope: '*', who: one, ...calls },
      { verb: 'freeze', scope: '*', who: two, ...calls },
      { verb: 'showFreeze', ...calls },
      { verb: 'startEffect', pick: 0, ref: 'call-2', logged: true, read: false, ...FREE, ...calls },
      { ...start, pick, same: true, still: true, heartbeatTimeoutMs: 1_000_000 },
      { ...lift, who: one, known: false },
      { ...lift, who: three, known: undefined, eligible: false },
      { ...lift, who: one, known: isKnown ? true : undefined },
      { ...lift, who: two, known: undefined },
      { verb: 'showFreeze', ...calls },
    ];
  });

/** A Run that no thread made ends, another takes its place, and both are removed in time. */
const followed = fc
  .tuple(opening, start, state, fc.boolean(), fc.boolean(), once)
  .map(([open, start, end, isStarted, isSeen, calls]): Command[] => {
    const policy = {
      ...{ principals: [...PEOPLE], resolvers: [], quorum: 1 as const, vetoes: 1 as const },
      ...{ selfApproval: true, expiresInMs: 1_000_000 as const },
    };
    const plan = { ...open.plan, groups: undefined, delegation: false, barred: [], elsewhere: false, policy };
    const seen: Command = {
      ...{ verb: 'notify', timer: 'ended', pick: 1, quietMs: undefined, behind: 0, views: [], ...calls },
    };
    return [
      { ...open, plan, isAgain: false },
      ...(isStarted
        ? ([
            click(1, 'U-eve', 'approve', calls),
            { ...start, pick: 1, same: true, still: true, heartbeatTimeoutMs: 1_000_000, limitKeys: [] },
            { verb: 'finishAndClaim', pick: 1, state: end, leaseMs: 1_000_000, ...calls },
          ] satisfies Command[])
        : [click(1, 'U-eve', 'reject', calls)]),
      ...(isSeen ? [seen] : []),
      { ...open, pick: 1, isAgain: true },
      { verb: 'wait', ms: KEPT_MS, ...calls },
      ...[1, 2, 5, 6].map((pick): Command => ({ verb: 'purge', pick, ...calls })),
    ];
  });

/** Sequences that lead further into a request's life than random single commands. */
const passage = fc.oneof(
  round,
  sending,
  followed,
  freezing,
  fc.tuple(thread, fc.integer({ min: 100, max: 999 }), once).map(([thread, item, calls]): Command[] => [
    { verb: 'enqueue', thread, item, onlyKnown: false, stopper: undefined, ...calls },
    { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
    { verb: 'failTurn', pick: 0, mostFailures: 1, ...calls },
    { verb: 'unquarantine', thread, ...calls },
  ]),
  // Processes die with two threads, until one of the two is given up.
  fc
    .tuple(fc.integer({ min: 3, max: 6 }), fc.boolean(), once)
    .map(([deaths, isRenewed, calls]): Command[] => [
      ...THREADS.map(
        (thread): Command => ({
          verb: 'enqueue',
          ...{ thread, item: 300, onlyKnown: false, stopper: undefined },
          ...calls,
        }),
      ),
      ...Array.from({ length: deaths }, () => [
        ...THREADS.map((thread): Command => ({ verb: 'claimTurn', thread, leaseMs: 1_000, ...calls })),
        ...(isRenewed ? [{ verb: 'renewLease', pick: 0, leaseMs: 1_000, ...calls } as const] : []),
        { verb: 'wait', ms: 1_000, ...calls } as const,
      ]).flat(),
    ]),
  fc.tuple(thread, once).map(([thread, calls]): Command[] => [
    { verb: 'keepFile', thread, file: 1, size: 45, ...calls },
    { verb: 'keepFile', thread, file: 2, size: 45, ...calls },
    { verb: 'keepFile', thread, file: 3, size: 45, ...calls },
    { verb: 'readFiles', thread, ...calls },
  ]),
  fc.tuple(who, fc.boolean(), once).map(([who, next, calls]): Command[] => [
    { verb: 'claimExport', who, ...calls },
    { verb: 'appendCheckpoint', who, own: true, next, ...calls },
    { verb: 'appendCheckpoint', who, own: true, next: true, ...calls },
  ]),
  fc
    .tuple(fitting, who, fc.constantFrom(undefined, 1_000), once)
    .map(([pick, who, quietMs, calls]): Command[] => [
      { verb: 'answer', pick, who, eligible: false, value: 'b', ...calls },
      { verb: 'wait', ms: 1_000, ...calls },
      { verb: 'notify', timer: 'remind', pick, quietMs, behind: 0, views: [], ...calls },
      ...[0, 1, 2, 3].map(
        (): Command => ({ verb: 'list', who, people: [], limit: 2, next: false, ...calls }),
      ),
      { verb: 'answer', pick, who, eligible: true, value: 'b', ...calls },
    ]),
  fc
    .tuple(thread, fc.integer({ min: 100, max: 999 }), once, who, requests)
    .map(([thread, item, calls, who, plans]): Command[] => [
      { verb: 'enqueue', thread, item, onlyKnown: true, stopper: undefined, ...calls },
      { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
      { verb: 'stop', thread, who, ...calls },
      { verb: 'renewLease', pick: 0, leaseMs: 1_000_000, ...calls },
      ...stopped(
        thread,
        item,
        plans.map((plan, at) => (at === 0 ? { ...plan, requester: who } : plan)),
      ),
    ]),
  fc.tuple(thread, fc.integer({ min: 100, max: 998 }), once).map(([thread, item, calls]): Command[] => [
    { verb: 'enqueue', thread, item, onlyKnown: false, stopper: undefined, ...calls },
    { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
    { verb: 'startEffect', pick: 0, ref: 'call-1', logged: true, read: true, ...FREE, ...calls },
    { verb: 'release', pick: 0, ...calls },
    { verb: 'enqueue', thread, item: item + 1, onlyKnown: false, stopper: undefined, ...calls },
    { verb: 'readThread', thread, ...calls },
  ]),
  fc
    .tuple(thread, fc.integer({ min: 100, max: 998 }), once, who)
    .map(([thread, item, calls, who]): Command[] => [
      { verb: 'enqueue', thread, item, onlyKnown: false, stopper: undefined, ...calls },
      { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
      { verb: 'enqueue', thread, item: item + 1, onlyKnown: false, stopper: who, ...calls },
      { verb: 'renewLease', pick: 0, leaseMs: 1_000_000, ...calls },
    ]),
  fc.tuple(thread, fc.integer({ min: 100, max: 999 }), once).map(([thread, item, calls]): Command[] => [
    { verb: 'enqueue', thread, item, onlyKnown: false, stopper: undefined, ...calls },
    { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
    { verb: 'startEffect', pick: 0, ref: 'call-1', logged: true, read: false, ...FREE, ...calls },
    { verb: 'finishEffect', pick: 0, ref: 'call-1', same: true, end: 'succeeded', ...calls },
    { verb: 'startEffect', pick: 0, ref: 'call-1', logged: true, read: false, ...FREE, ...calls },
  ]),
  fc.tuple(thread, pick, once).map(([thread, other, calls]): Command[] => [
    { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
    {
      verb: 'suspend',
      pick: 0,
      readAll: true,
      fresh: true,
      isPlan: false,
      requests: [],
      row: false,
      ...calls,
    },
    { verb: 'wait', ms: KEPT_MS, ...calls },
    { verb: 'purge', pick: other, ...calls },
    { verb: 'retire', thread, ...calls },
  ]),
  fc
    .tuple(fitting, who, once)
    .map(([pick, who, calls]) => [
      { ...click(pick, who, 'approve', calls), shown: false },
      click(pick, who, 'reject', calls),
      click(pick, who, 'approve', calls),
    ]),
  // Calls of a turn run under a grant with one use, which is revoked.
  fc
    .tuple(round, plan, grantId, thread, who, once)
    .map(([before, first, grant, thread, who, calls]): Command[] => {
      const count: Command = { verb: 'countCall', thread, ref: 'call-2', ...FREE, grant, ...calls };
      return [
        ...withOpenRequest(before, [first], false),
        ...[2, 6, 14, 18].map((pick) => click(pick, 'U-eve', 'approve', calls)),
        count,
        count,
        { verb: 'revokeGrant', grant, who, eligible: false, ...calls },
        { verb: 'revokeGrant', grant, who, eligible: true, ...calls },
        count,
      ];
    }),
  // One call after another counts against a limit, and one of them fails.
  fc.tuple(thread, fc.integer({ min: 100, max: 999 }), once).map(([thread, item, calls]): Command[] => {
    const limited = { limitKeys: ['refunds'], amount: 2, max: 3, grant: undefined } as const;
    const begin = { verb: 'startEffect', pick: 0, logged: true, read: false, ...limited, ...calls } as const;
    return [
      { verb: 'enqueue', thread, item, onlyKnown: false, stopper: undefined, ...calls },
      { verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls },
      { ...begin, ref: 'call-1' },
      { ...begin, ref: 'call-2' },
      { verb: 'finishEffect', pick: 0, ref: 'call-1', same: true, end: 'failed', ...calls },
      { ...begin, ref: 'call-2' },
      { verb: 'readTotals', limitKeys: ['parts', 'refunds'], ...calls },
    ];
  }),
  // One person approves more requests than a limit allows them.
  fc
    .tuple(fc.array(fitting, { minLength: 3, maxLength: 5 }), who, once)
    .map(([picks, who, calls]): Command[] =>
      picks.map((pick) => ({ ...click(pick, who, 'approve', calls), isRare: true })),
    ),
  // One person votes for another, who then votes as well, and the delegation ends.
  fc
    .tuple(fitting, several, fc.boolean(), once)
    .map(([pick, [one = 'U-ann', two = 'U-ben', three = 'U-cid'], isEnded, calls]): Command[] => [
      { verb: 'delegate', who: one, to: two, far: 1_000_000, ...calls },
      ...(isEnded ? ([{ verb: 'endDelegation', who: one, ...calls }] satisfies Command[]) : []),
      click(pick, two, 'approve', calls, one),
      click(pick, one, 'approve', calls),
      click(pick, three, 'approve', calls, two),
    ]),
  fc
    .tuple(fitting, several, any, once)
    .map(([pick, people, other, calls]): Command[] => [
      ...people.map((who) => click(pick, who, 'approve', calls)),
      { verb: 'redraw', pick: other, views: ['home'], ...calls },
      { verb: 'redraw', pick: other, views: [], ...calls },
      { verb: 'end', state: 'failed', pick: other, ...BOT, ...calls },
    ]),
  fc
    .tuple(fitting, several, start, meanwhile, state, once)
    .map(([pick, people, start, others, state, calls]): Command[] => [
      ...people.map((who) => click(pick, who, 'approve', calls)),
      { ...start, pick, same: true, still: true, heartbeatTimeoutMs: 1_000_000 },
      ...others,
      { verb: 'finish', pick, state, ...calls },
      { verb: 'offerUndo', pick, withinMs: 1_000, ...calls },
      { verb: 'noteUndo', pick, who: 'U-ann', step: 'over', ...calls },
      { verb: 'redraw', pick: pick - 1, views: [], ...calls },
    ]),
  fc
    .tuple(fitting, several, start, continuation, once)
    .map(([pick, people, start, state, calls]): Command[] => [
      ...people.map((who) => click(pick, who, 'approve', calls)),
      { ...start, pick, same: true, still: true, heartbeatTimeoutMs: 1_000_000 },
      { verb: 'finish', pick, state: 'paused', ...calls },
      ...THREADS.map((thread): Command => ({ verb: 'claimTurn', thread, leaseMs: 1_000_000, ...calls })),
      { verb: 'goOn', pick, state: 'paused', own: true, step: 1, ...calls },
      { verb: 'goOn', pick, state, own: true, step: 2, ...calls },
      { verb: 'goOn', pick: pick - 1, state, own: true, step: 2, ...calls },
    ]),
  fc
    .tuple(fitting, start, who, verdict, fc.constantFrom(0, 1_000), once, tries)
    .map(([pick, start, who, last, ms, calls, tries]) =>
      (['run-again', last] as const).flatMap((verdict): Command[] => [
        { ...start, pick, same: true, still: true, heartbeatTimeoutMs: 0 },
        { verb: 'recover', pick, ...calls },
        {
          ...{ verb: 'notify', timer: 'recover', quietMs: undefined, views: ['home'] },
          ...{ pick, behind: ms === 0 ? 0 : 1, ...calls },
        },
        { verb: 'end', state: 'superseded', pick: pick - 1, ...BOT, ...calls },
        { ...start, pick: pick - 1, same: true, still: true, heartbeatTimeoutMs: 0 },
        { verb: 'resolve', pick, who, eligible: true, verdict, tries, ...calls },
        { verb: 'wait', ms, ...calls },
      ]),
    ),
);

/** Up to a hundred calls, some sent twice and some sent again when they are long out of date. */
export const sequences: fc.Arbitrary<Command[]> = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: round }, { weight: 1, arbitrary: planned }),
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: command.map((single) => [single]) },
        { weight: 1, arbitrary: passage },
      ),
      { maxLength: 100, size: 'max' },
    ),
  )
  .map(([first, others]) => [...first, ...others.flat()].slice(0, 100));
