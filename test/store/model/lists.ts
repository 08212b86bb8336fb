import { runIdOf } from '../../../src/store/port/keys.ts';
import type { NewRequest } from '../../../src/store/port/request-record.ts';
import type { PageOptions, RequestList } from '../../../src/store/port/values.ts';
import type { TimerKind } from '../../../src/store/port/work.ts';
import { expiryOf, isCovered, isSettled, type Request, type Verbs, type World } from './world.ts';

type ListVerbs = Pick<Verbs, 'list' | 'due'>;
type Timed = readonly [name: string, at: number | undefined];

/** For whom a request is listed, and under what time: every index follows from the requests alone. */
export const INDEXES = {
  waiting: (request: Request) => {
    const { state, principals, asked, createdAt } = request;
    const pending = isCovered(request) ? [] : principals;
    const people = state === 'pending' ? pending : state === 'unknown' ? asked.policy.resolvers : [];
    return { people, at: createdAt };
  },
  asked: (request: Request) => ({
    people: isCovered(request) ? [] : requestersOf(request.asked),
    at: request.createdAt,
  }),
  decided: (request: Request) => ({
    people:
      isSettled(request) && !isCovered(request)
        ? [...requestersOf(request.asked), request.by ?? ''].filter((who) => who !== '')
        : [],
    at: request.since,
  }),
} as const;

function requestersOf({ requester, requesters = [requester] }: NewRequest): readonly string[] {
  return requesters;
}

/** The timers and other work, derived from the states of requests and threads. */
export function timersOf({ requests, threads, toShow }: World): readonly Timed[] {
  const ofRequests = [...requests].flatMap(([id, request]): Timed[] => {
    if (request.state === 'started') return [[`recover|${id}`, request.recoverAt]];
    if (request.state === 'unknown') return [[`recover|${id}`, request.askAt]];
    if (isSettled(request))
      return [
        [`purge|${id}`, request.purgeAt],
        [`undo|${id}`, request.undo?.until],
        [`ended|${id}`, request.endedAt],
      ];
    if (request.state !== 'pending' || isCovered(request)) return [];
    const { remindAt, escalateAt } = request;
    return [
      [`expire|${id}`, expiryOf(request)],
      [`remind|${id}`, remindAt],
      [`escalate|${id}`, escalateAt],
    ];
  });
  return [
    ...ofRequests,
    ...runsOf({ requests }).map(([id, at]): Timed => [`run|${id}`, at]),
    ...[...threads].map(([id, { wakeAt }]): Timed => [`thread|${id}`, wakeAt]),
    ...[...threads].map(([id, { retireAt }]): Timed => [`retire|${id}`, retireAt]),
    ...[...toShow].map(([id, at]): Timed => [`freeze|${id}`, at]),
  ];
}

/** The approved actions that wait to run, and since when. */
export function runsOf({ requests }: Pick<World, 'requests'>): readonly Timed[] {
  return [...requests]
    .filter(
      ([, { state, asked, isWaiting }]) =>
        state === 'approved' && asked.steps === undefined && isWaiting !== true,
    )
    .map(([id, { since, runAt }]): Timed => [id, runAt ?? since]);
}

const OPEN_STATES = ['pending', 'approved', 'started', 'unknown'];

/** The index of open requests, with a number for each state. */
export function statesOf({ requests, threads }: World): readonly Timed[] {
  const asked = [...requests].map(([id, request]): Timed => {
    const { state } = request;
    const isListed = !(state === 'pending' && isCovered(request));
    return [id, isListed ? OPEN_STATES.indexOf(state) + 1 || undefined : undefined];
  });
  const calls = [...threads].flatMap(([threadId, { effects }]) =>
    [...effects].map(
      ([ref, { state }]): Timed => [
        runIdOf(threadId, ref),
        state === 'started' ? OPEN_STATES.indexOf(state) + 1 : undefined,
      ],
    ),
  );
  return [...asked, ...calls];
}

/** Everything due by a time, oldest first. */
export function upTo(latest: number, timed: readonly Timed[]): string[] {
  return timed
    .flatMap(([name, at]) => (at !== undefined && at <= latest ? [{ name, at }] : []))
    .sort((a, b) => a.at - b.at || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
}

/** The pages of App Home and the sweep's finds. */
export function listModel(world: World): ListVerbs {
  function list(name: RequestList, people: readonly string[], { limit, from }: PageOptions) {
    const index = name === 'pending' ? 'asked' : name;
    const entries = [...world.requests.values()]
      .map((request) => ({ ...INDEXES[index](request), id: request.asked.id }))
      .filter((entry) => entry.people.some((person) => people.includes(person)))
      .map(({ at, id }) => ({ id, position: `${at} ${id}` }))
      .filter(({ position }) => from === undefined || position < from)
      .sort((a, b) => (a.position < b.position ? 1 : -1));
    const shown = entries.slice(0, limit);
    return {
      requestIds: shown
        .map(({ id }) => id)
        .filter((id) => name !== 'pending' || world.request(id)?.state === 'pending'),
      next: entries.length > limit ? shown.at(-1)?.position : undefined,
    };
  }

  return {
    list,

    due({ overdueMs, limit }) {
      const due = (timed: readonly Timed[]) => upTo(world.now - overdueMs, timed).slice(0, limit);
      const work = due(timersOf(world)).map((name) => {
        const [kind = '', id = ''] = name.split('|');
        return { kind, id };
      });
      const ids = (wanted: string) => work.flatMap(({ kind, id }) => (kind === wanted ? [id] : []));
      return {
        threads: ids('thread'),
        runs: ids('run'),
        timers: work.flatMap(({ kind, id }) =>
          kind === 'thread' || kind === 'run' ? [] : [{ kind: kind as TimerKind, id }],
        ),
        hasOutbox: due([...world.outbox].map(([item, { at }]) => [item, at])).length > 0,
      };
    },
  };
}
