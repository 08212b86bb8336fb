import { setTimeout as sleep } from 'node:timers/promises';
import type { World } from '../world/start-world.ts';
import type { Cell } from './cell.ts';
import { type Strike, striking } from './strike.ts';

const rounds = { long: 50, short: 2 };
const world = { workers: 2 };

const killAndRestart: Strike = async ({ redis }) => {
  await redis.kill();
  await sleep(100 + Math.random() * 400);
  await redis.start();
};

const loseReplies: Strike = async ({ proxy }) => {
  const lost = proxy.lost;
  proxy.cutNext(10);
  for (let waited = 0; proxy.lost < lost + 10 && waited < 400; waited += 1) await sleep(25);
};

const slowDown: Strike = async ({ proxy }) => {
  proxy.slowDown(5_000);
  await sleep(1_000);
  proxy.slowDown(0);
};

/** Nothing can be written for a while; what is there can be read and removed. */
const fillUp: Strike = async ({ client }) => {
  await client.config('SET', 'maxmemory', '1mb');
  await sleep(300 + Math.random() * 700);
  await client.config('SET', 'maxmemory', '0');
};

const flushScripts: Strike = async ({ client }: World) => {
  await client.script('FLUSH');
};

/** Redis as it must not be, while it keeps what it acknowledged. */
export const REDIS_CELLS: readonly Cell[] = [
  { name: 'Redis killed and restarted', rounds, world, play: striking(killAndRestart) },
  { name: 'Redis: replies lost', rounds, world, play: striking(loseReplies) },
  { name: 'Redis slow by 5 s', rounds, world, play: striking(slowDown) },
  { name: 'Redis out of memory', rounds, world, play: striking(fillUp) },
  { name: 'Redis: scripts flushed', rounds, world, play: striking(flushScripts) },
];
