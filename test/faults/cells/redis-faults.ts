import { setTimeout as sleep } from 'node:timers/promises';
import { askRedis } from '../../../playground/redis/ask-redis.ts';
import type { Cell } from './cell.ts';
import { inTurn, type Strike, striking } from './strike.ts';

const killAndRestart: Strike = async ({ redis }) => {
  await redis.kill();
  await sleep(100 + Math.random() * 400);
  await redis.start();
};

const loseReplies: Strike = async ({ proxy }) => {
  const lost = proxy.lost;
  proxy.cutNext({ count: 10 });
  for (let waited = 0; proxy.lost < lost + 10 && waited < 400; waited += 1) await sleep(25);
};

const slowDown: Strike = async ({ proxy }) => {
  proxy.slowDown(5_000);
  await sleep(1_000);
  proxy.slowDown(0);
};

/** Nothing can be written for a while; what is there can be read and removed. */
const fillUp: Strike = async ({ redis }) => {
  const allow = (memory: string) =>
    askRedis(redis.url, (client) => client.config('SET', 'maxmemory', memory));
  await allow('1mb');
  await sleep(300 + Math.random() * 700);
  await allow('0');
};

const flushScripts: Strike = ({ redis }) => askRedis(redis.url, (client) => client.script('FLUSH'));

const promoteReplica: Strike = async ({ cluster }) => cluster?.promoteReplica();

/** Redis as it must not be, while it keeps what it acknowledged. */
const REDIS_STRIKES: Readonly<Record<string, Strike>> = {
  'Redis killed and restarted': killAndRestart,
  'Redis: replies lost': loseReplies,
  'Redis slow by 5 s': slowDown,
  'Redis out of memory': fillUp,
  'Redis: scripts flushed': flushScripts,
};

const promoted: Cell = {
  name: 'Redis Cluster: a replica promoted',
  rounds: { long: 50, short: 1 },
  world: { workers: 2, cluster: true },
  play: striking(promoteReplica),
};

export const REDIS_CELLS: readonly Cell[] = [
  ...Object.entries(REDIS_STRIKES).map(([name, strike]) => ({
    name,
    rounds: { long: 50, short: 2 },
    world: { workers: 2 },
    play: striking(strike),
  })),
  promoted,
];

export const REDIS_IN_TURN: readonly Cell[] = [inTurn('Redis: each fault in turn', REDIS_STRIKES), promoted];
