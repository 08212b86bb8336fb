import { createHash } from 'node:crypto';

/** Whether a call is a first one on record: of its person with this tool, of anybody with it for this target, and of both. */
export interface FirstTimes {
  readonly tool: boolean;
  /** Missing for a call without a target. */
  readonly target?: boolean | undefined;
  readonly pair?: boolean | undefined;
}

/** Returns the first times of a person; `undefined` if nobody can tell, and then no condition about them can be evaluated. */
export type FirstOf = (person: string) => FirstTimes | undefined;

/** A call as first times see it: the tool, what it touches, and whose words led to it. */
export interface FirstCall {
  readonly tool: string;
  readonly target: string | undefined;
  readonly people: readonly string[];
}

export const DEFAULT_FIRST_DAYS = 90;
const DAY_MS = 86_400_000;

/** One counter of calls that succeeded. */
interface Counter {
  readonly key: string;
  readonly windowMs: number;
}

/** Begins the names of all counters of first times; no limit of a manifest can have such a name. */
const FIRST = 'first ';

/** Names the counters of a call. A target is named by its digest: it may be long, or the name of a person. */
function countersOf({ tool, target, people }: FirstCall, days: number) {
  const windowMs = days * DAY_MS;
  const what =
    target === undefined ? undefined : createHash('sha256').update(target).digest('hex').slice(0, 32);
  const named = (...parts: readonly string[]): Counter => ({ key: `${FIRST}${parts.join(' ')}`, windowMs });
  return {
    target: what === undefined ? undefined : named(tool, what),
    ofPeople: [...new Set(people)].map((person) => ({
      person,
      tool: named(tool, '-', person),
      pair: what === undefined ? undefined : named(tool, what, person),
    })),
  };
}

/** Lists what a call counts once it has succeeded, for each of its requesters. */
export function countersOfDone(call: FirstCall, days: number): readonly Counter[] {
  const { target, ofPeople } = countersOf(call, days);
  return [target, ...ofPeople.flatMap(({ tool, pair }) => [tool, pair])].filter(
    (counter) => counter !== undefined,
  );
}

/** Tells whether the name of a counter is that of a person's first times. */
export function isFirstOf(key: string, person: string): boolean {
  return key.startsWith(FIRST) && key.endsWith(` ${person}`);
}

/** Reads the first times of everyone whose words led to a call, by person. */
export async function readFirstTimes(
  call: FirstCall,
  days: number,
  readTotals: (counters: readonly Counter[]) => Promise<readonly { readonly count: number }[]>,
): Promise<FirstFacts> {
  const { target, ofPeople } = countersOf(call, days);
  const counters = countersOfDone(call, days);
  const totals = await readTotals(counters);
  const found = new Map(counters.map(({ key }, index) => [key, totals[index]?.count ?? 0]));
  const isFirst = (counter: Counter | undefined) =>
    counter === undefined ? undefined : (found.get(counter.key) ?? 0) === 0;
  return Object.fromEntries(
    ofPeople.map(({ person, tool, pair }) => [
      person,
      {
        tool: isFirst(tool) ?? true,
        ...(target !== undefined && { target: isFirst(target), pair: isFirst(pair) }),
      },
    ]),
  );
}

/** Makes first times that are given, the same for everyone: those that are listed, and no other. */
export function firstTimesGiven(listed: readonly string[]): FirstOf {
  const [tool, target, pair] = ['tool', 'target', 'pair'].map((what) => listed.includes(what));
  return () => ({ tool: tool === true, target: target === true, pair: pair === true });
}

/** Leaves out of first times what a call without a target cannot have. */
export function withoutTarget(firstOf: FirstOf): FirstOf {
  return (person) => {
    const first = firstOf(person);
    return first && { tool: first.tool };
  };
}

/** The first times of a call by person, as they are kept with its request. */
export type FirstFacts = Readonly<Record<string, FirstTimes>>;

/** Makes the reader of kept facts; nobody can tell of somebody who is not in them. */
export function firstOfFacts(facts: FirstFacts | undefined): FirstOf | undefined {
  return facts && ((person) => (Object.hasOwn(facts, person) ? facts[person] : undefined));
}
