import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { expect, onTestFinished } from 'vitest';
import { CAST } from './support.ts';

/** A manifest whose tools get stuck when they are told to; `policy` adds to the one that signs them. */
export const workshopManifest = (policy = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [${CAST.alice}, ${CAST.bruno}], resolvers: [${CAST.admin}], notify: { direct_messages: false }${policy} }
tools:
  workshop: { module: ./test/stories/fixtures/workshop-tools.ts, approval: { policy: default } }
`;

/** A folder in which the workshop's tools leave what they did, and in which they can be held up; it is gone after the test. */
export async function openWorkshop() {
  const folder = await mkdtemp(join(tmpdir(), 'workshop-'));
  const file = (name: string) => join(folder, name);
  const linesOf = async (name: string) => {
    const text = await readFile(file(name), 'utf8').catch(() => '');
    return text.split('\n').filter((line) => line !== '');
  };
  // Nothing that is held up outlives the test.
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return {
    /** The call of one of the tools, as the model makes it. */
    call: (name: string) => ({ name, arguments: { folder } }),
    hold: (when: 'before' | 'after' | 'look') => writeFile(file(`hold-${when}`), ''),
    release: (when: 'before' | 'after' | 'look') => rm(file(`hold-${when}`), { force: true }),
    /** Waits until a tool has left so many lines there. */
    has: (lines: number, name: 'effects' | 'tries' | 'looks') =>
      expect.poll(() => linesOf(name)).toHaveLength(lines),
    keys: async (name: 'effects' | 'tries') => new Set(await linesOf(name)),
    linesOf,
  };
}

/** Workers that send no heartbeat, and attempts that are given up only by `giveUpAttempts`. */
export const SILENT_WORKERS = {
  timing: { heartbeatTimeoutMs: 3_600_000, heartbeatMs: 3_600_000 },
  sweep: { everyMs: 100, overdueMs: 0 },
} as const;

/** Lets the time of every running attempt be over, as if its worker had died long ago. */
export async function giveUpAttempts({ redis, prefix }: { readonly redis: Redis; readonly prefix: string }) {
  for (const key of await redis.keys(`{${prefix}}:timers`))
    for (const timer of await redis.zrange(key, '0', '-1'))
      if (timer.startsWith('recover|')) await redis.zadd(key, 'XX', 0, timer);
}
