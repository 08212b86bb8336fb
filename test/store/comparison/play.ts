import { isDeepStrictEqual } from 'node:util';
import type { Redis } from 'ioredis';
import { expect } from 'vitest';
import { toJson } from '../../../src/agent/json.ts';
import { Keys } from '../../../src/store/port/keys.ts';
import type { ClaimedTurn, OutboxItem } from '../../../src/store/port/values.ts';
import { verifyChain } from '../../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../../src/store/redis/redis-store.ts';
import { loadScripts } from '../../../src/store/redis/scripts.ts';
import { MOST_FILE_BYTES } from '../model/files.ts';
import { modelOf } from '../model/model.ts';
import { World } from '../model/world.ts';
import { resending } from '../support.ts';
import { type Call, callFor, type Findings } from './calls.ts';
import { type Command, KEPT_MS, THREADS } from './commands.ts';
import { modelSnapshot, redisSnapshot } from './snapshot.ts';

const CLOCK = /^local clock = .*\nlocal now = .*$/m;
/** The scripts as they are, but for their clock: it stands where the test has put it. */
const scripts = loadScripts((text) => {
  if (!CLOCK.test(text)) throw new Error('The scripts read their clock in another way than this test knows');
  return text.replace(CLOCK, "local now = tonumber(redis.call('HGET', K.head, 'clock'))");
});
const FIRST_MOMENT = 1_700_000_000_000;

/** The world of a sequence, and its report. */
export interface Stage {
  readonly client: Redis;
  readonly prefix: string;
  /** Whether the chains are walked at the end. */
  readonly verify: boolean;
  /** Told of every answer, as `verb outcome`. */
  readonly onAnswer: (answer: string) => void;
}

/** Plays commands on the store and on the model, and throws at the first difference, with all that led to it. */
export async function play(commands: readonly Command[], stage: Stage): Promise<void> {
  const sender = resending(stage.client);
  const retention = { requestMs: KEPT_MS, threadMs: KEPT_MS };
  const store = openRedisStore({
    mostFileBytes: MOST_FILE_BYTES,
    client: sender.client,
    prefix: stage.prefix,
    retention: () => retention,
    scripts,
  });
  const keys = new Keys(stage.prefix);
  const world = new World(KEPT_MS);
  const model = modelOf(world);
  const found: Findings = {
    world,
    calls: [],
    turns: [],
    items: [],
    requests: [],
    attempts: [],
    pages: [],
    step: 0,
  };
  const made: { readonly at: number; readonly call: Call; readonly twice: boolean }[] = [];
  const story = () =>
    made
      .map(
        ({ at, call, twice }) => `${at} ${twice ? 'twice ' : ''}${JSON.stringify([call.verb, ...call.args])}`,
      )
      .join('\n');

  async function setClock(now: number): Promise<void> {
    world.now = now;
    await stage.client.hset(keys.shared('head'), 'clock', now);
  }

  async function make(call: Call, twice: boolean): Promise<void> {
    sender.twice = twice;
    const real = await call.on(store);
    world.caller = ownerIn(real) ?? `caller-${found.step}`;
    if (twice) call.on(model);
    const foretold = call.on(model);
    made.push({ at: world.now, call, twice });
    if (!isDeepStrictEqual(comparable(real), comparable(foretold)))
      throw new Error(
        `${story()}\nsaid ${JSON.stringify(real)}\nbut should have said ${JSON.stringify(foretold)}`,
      );
    remember(real, found);
    stage.onAnswer(`${call.verb} ${outcomeOf(real)}`);
  }

  async function compare(): Promise<void> {
    const sights = { threads: THREADS, requests: found.requests };
    const real = await redisSnapshot(stage.client, keys, store, sights);
    const foretold = modelSnapshot(world, sights);
    // Told only where they differ: most of the test's time would go into the telling.
    if (!isDeepStrictEqual(real, foretold)) expect(real, story()).toEqual(foretold);
  }

  await setClock(FIRST_MOMENT);
  for (const [step, command] of commands.entries()) {
    found.step = step;
    if (command.verb === 'wait') await setClock(world.now + command.ms);
    if (command.verb === 'compare') await compare();
    const call = callFor(command, found);
    if (call === undefined) continue;
    await make(call, command.twice);
    found.calls.push(call);
  }
  await compare();
  if (!stage.verify) return;
  const { problems, rows } = await verifyChain(store);
  expect(problems, story()).toEqual([]);
  expect(rows).toBe(world.audited.length);
}

/** Remembers claimed and listed ids for later calls. */
function remember(said: unknown, { turns, items, pages }: Findings): void {
  if (Array.isArray(said)) items.push(...said.filter(isItem));
  else if (isItem(said)) items.push(said);
  else if (isGiven(said)) turns.push(said.turn);
  else if (isRecord(said) && typeof said.next === 'string') pages.push(said.next);
}

function isItem(said: unknown): said is OutboxItem {
  return isRecord(said) && said.item !== undefined;
}

function isGiven(said: unknown): said is { readonly turn: ClaimedTurn } {
  return isRecord(said) && isRecord(said.turn);
}

function outcomeOf(said: unknown): string {
  if (typeof said === 'string') return said;
  if (typeof said === 'number') return said === 0 ? 'nothing' : 'something';
  if (Array.isArray(said)) return said.length === 0 ? 'nothing' : 'something';
  if (!isRecord(said)) return 'silent';
  if (isItem(said)) return 'held';
  const isStopped = isGiven(said) && said.turn.isStopped === true;
  const more = [said.state, isStopped && 'stopped', said.withdrawn !== undefined && 'withdrawn'];
  return [said.outcome ?? 'page', ...more].filter((word) => word !== undefined && word !== false).join(' ');
}

function ownerIn(said: unknown): string | undefined {
  const first: unknown = Array.isArray(said) ? said[0] : said;
  return isItem(first) ? first.owner : undefined;
}

/** The requests of a round, and what became of them, come in no order. */
function comparable(said: unknown): unknown {
  if (Array.isArray(said) && !said.every(isItem)) return said.toSorted();
  if (isRecord(said) && Array.isArray(said.requestIds) && said.outcome === 'waiting')
    return toJson({ ...said, requestIds: said.requestIds.toSorted() });
  if (isRecord(said) && Array.isArray(said.withdrawn))
    return toJson({ ...said, withdrawn: said.withdrawn.map((each) => JSON.stringify(each)).sort() });
  if (isRecord(said) && Array.isArray(said.seen)) return toJson({ ...said, seen: said.seen.toSorted() });
  if (!isRecord(said) || !isRecord(said.turn) || !Array.isArray(said.turn.settled)) return toJson(said);
  const settled = said.turn.settled.map((entry) => JSON.stringify(entry)).sort();
  return toJson({ ...said, turn: { ...said.turn, settled } });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
