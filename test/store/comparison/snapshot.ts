import type { Redis } from 'ioredis';
import type { Keys } from '../../../src/store/port/keys.ts';
import type { Store } from '../../../src/store/port/store.ts';
import { INDEXES, statesOf, timersOf } from '../model/lists.ts';
import { expiryOf, isCovered, isSettled, type Request, votesFor, type World } from '../model/world.ts';

/** The scope of a snapshot: threads, and every request they ever had. */
export interface Sights {
  readonly threads: readonly string[];
  readonly requests: readonly string[];
}

/** All that Redis holds of these threads, these requests and the workspace. */
export async function redisSnapshot(client: Redis, keys: Keys, store: Store, sights: Sights) {
  const threads = await Promise.all(sights.threads.map((id) => threadInRedis(client, keys, id)));
  const requests = await Promise.all(sights.requests.map((id) => requestInRedis(store, id)));
  return {
    threads,
    shared: await sharedInRedis(client, keys),
    requests,
    checkpoints: await checkpointsIn(store),
  };
}

/** The same of the model. */
export function modelSnapshot(world: World, sights: Sights) {
  return {
    threads: sights.threads.map((id) => threadInModel(world, id)),
    shared: sharedInModel(world),
    requests: sights.requests.map((id) => {
      const request = world.request(id);
      return request === undefined ? 'unknown' : requestInModel(world, request);
    }),
    checkpoints: world.checkpoints,
  };
}

async function checkpointsIn(store: Store) {
  const checkpoints = [];
  for await (const checkpoint of store.readCheckpoints()) checkpoints.push(checkpoint);
  return checkpoints;
}

async function threadInRedis(client: Redis, keys: Keys, id: string) {
  const [thread = '', log = '', inbox = '', , round = ''] = keys.forScript(id);
  const [fields, messages, items, rounds] = await Promise.all([
    client.hgetall(thread),
    client.llen(log),
    client.lrange(inbox, 0, -1),
    client.hgetall(round),
  ]);
  const started = (fields.runs ?? '').split(' ').filter((runId) => runId !== '');
  const calls = await Promise.all(started.map((runId) => callInRedis(client, keys, runId)));
  const { owner, token, lease_until: until, committed, open = '0', claims = '0' } = fields;
  return {
    lease: owner === undefined ? 'free' : `${token} until ${until}`,
    claims: Number(claims),
    committed: committed ?? 'never',
    open: Number(open),
    messages,
    inbox: items.map((item) => JSON.parse(item)),
    round: rounds,
    runs: Object.fromEntries(calls),
  };
}

async function callInRedis(client: Redis, keys: Keys, runId: string) {
  const {
    ref = '',
    tool,
    state,
    attempt,
    attempts,
    first_start: first,
    part,
  } = await client.hgetall(keys.run(runId));
  return [ref, [tool, state, attempt, attempts, first, part].join(' ')] as const;
}

function threadInModel(world: World, id: string) {
  const thread = world.thread(id);
  const round = (thread?.round ?? []).map((requestId) => {
    const request = world.request(requestId);
    const ended = request !== undefined && isSettled(request);
    return [
      requestId.split('~')[1],
      ended
        ? [request.state, request.by, request.payload].join('\n')
        : request !== undefined && isCovered(request)
          ? 'step'
          : 'pending',
    ];
  });
  return {
    lease: thread?.lease === undefined ? 'free' : `${thread.lease.token} until ${thread.lease.until}`,
    claims: thread?.claims ?? 0,
    committed: thread?.committed ?? 'never',
    open: world.open(thread),
    messages: thread?.log.length ?? 0,
    inbox: thread?.inbox ?? [],
    round: Object.fromEntries(round),
    runs: Object.fromEntries(
      [...(thread?.effects ?? [])].map(([ref, { end = 'running', tool, run, runs, firstStart, part }]) => [
        ref,
        [tool, end, run, runs, firstStart, JSON.stringify(part)].join(' '),
      ]),
    ),
  };
}

async function sharedInRedis(client: Redis, keys: Keys) {
  const times = async (name: 'timers' | 'states' | 'quarantined' | 'outbox') =>
    pairs(await client.zrange(keys.shared(name), '0', '-1', 'WITHSCORES'));
  const members = (name: 'waiting' | 'asked' | 'decided' | 'sent') =>
    client.zrange(keys.shared(name), '0', '-1');
  const log = await client.xrange(keys.shared('audit'), '-', '+');
  const [suspect, until] = await client.hmget(keys.shared('head'), 'suspect', 'suspect_until');
  return {
    ...{
      waiting: await members('waiting'),
      asked: await members('asked'),
      decided: await members('decided'),
    },
    sent: (await members('sent')).sort(),
    timers: await times('timers'),
    states: await times('states'),
    quarantined: await times('quarantined'),
    outbox: await times('outbox'),
    rows: Object.keys(await client.hgetall(keys.shared('rows'))).sort(),
    suspect: suspect && { threadId: suspect, until: Number(until) },
    audit: log.map(([, [, t, , e, , s, , d]]) => [t, e, s, d].join(' ')),
  };
}

function sharedInModel(world: World) {
  const entries = (index: keyof typeof INDEXES) => {
    const all = [...world.requests.values()].flatMap((request) => {
      const { people, at } = INDEXES[index](request);
      return people.map((person) => `${person} ${at} ${request.asked.id}`);
    });
    return [...new Set(all)].sort();
  };
  const rows = [...world.outbox].flatMap(([item, { row, claim, tries, since }]) => [
    ...(row === undefined ? [] : [item.slice('row|'.length)]),
    ...(claim === undefined ? [] : [`claim|${item}`]),
    ...(tries === 0 ? [] : [`tries|${item}`]),
    ...(since === undefined ? [] : [`since|${item}`]),
  ]);
  return {
    ...{ waiting: entries('waiting'), asked: entries('asked'), decided: entries('decided') },
    timers: timed(timersOf(world)),
    states: timed(statesOf(world)),
    quarantined: timed([...world.threads].map(([id, { quarantinedAt }]) => [id, quarantinedAt])),
    sent: [...world.sent].map((item) => item.slice('row|'.length)).sort(),
    outbox: timed([...world.outbox].map(([item, { at }]) => [item, at])),
    rows: rows.sort(),
    suspect: world.suspect ?? null,
    audit: world.audited,
  };
}

async function requestInRedis(store: Store, id: string) {
  const loaded = await store.load(id);
  if (loaded.outcome !== 'found') return loaded.outcome;
  const { votes, views, ...record } = loaded.request;
  return { ...record, votes: votes.toSorted(byPerson), views };
}

const NO_EXECUTION = { idempotent: false, maxAttempts: 1, retryForMs: 0 };

/** Tells how far a step is, as its plan says. */
function howFar({ state = 'pending', payload = '' }: Partial<Request> = {}): string {
  return state === 'resolved' ? (payload.split('\n')[0] ?? '') : state;
}

function requestInModel(world: World, request: Request) {
  const { asked, createdAt, votes, views, drawn } = request;
  const { state, revision, principals, by, payload, attempts, attempt, progress } = request;
  const {
    id,
    kind,
    requester,
    requesters = [requester],
    barred = [],
    digest,
    details,
    policy,
    unsigned = false,
  } = asked;
  // A question is about no call, and a plan about those of its steps.
  const isCall = (kind === 'approval' || unsigned) && asked.steps === undefined;
  const execution = isCall ? asked.execution : NO_EXECUTION;
  return {
    ...{ id, kind, requester, requesters, barred, digest, details, policy, execution, createdAt },
    ...{ state, revision, principals, by, payload, attempts, attempt, progress },
    threadId: id.split('~')[0],
    expiresAt: expiryOf(request),
    decidedAt: request.decidedAt,
    settledAt: isSettled(request) ? request.since : undefined,
    trace: asked.trace,
    undo: request.undo && { ...request.undo.note, step: request.undo.step },
    ...(request.startedAt !== undefined && { startedAt: request.startedAt }),
    granted: request.granted ?? false,
    ...(request.redrawnFor !== undefined && { redrawnFor: request.redrawnFor }),
    ...('from' in asked && { from: asked.from }),
    ...(asked.step !== undefined && { step: asked.step }),
    ...(asked.steps !== undefined && {
      steps: asked.steps.map((step, index) => ({
        ...{ id: step.id, number: index + 1, digest: step.digest, alone: step.alone === true },
        ...{ state: howFar(world.request(step.id)), isChosen: true },
      })),
    }),
    approvals: votesFor(request, 'approve'),
    rejections: votesFor(request, 'reject'),
    votes: [...votes].map(([who, cast]) => ({ who, ...cast })).sort(byPerson),
    views: views.map((view) => {
      const { revision: seen = 0, postedAt } = drawn.get(view.id) ?? {};
      return { ...view, postedAt, drawn: seen };
    }),
  };
}

function byPerson(a: { readonly who: string }, b: { readonly who: string }): number {
  return a.who < b.who ? -1 : 1;
}

function pairs(flat: readonly string[]): Record<string, number> {
  const entries = flat.flatMap((name, at) => (at % 2 === 0 ? [[name, Number(flat[at + 1])]] : []));
  return Object.fromEntries(entries);
}

function timed(times: readonly (readonly [string, number | undefined])[]): Record<string, number> {
  return Object.fromEntries(times.flatMap(([name, at]) => (at === undefined ? [] : [[name, at]])));
}
