import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { CAST, CHANNELS } from '../../playground/slack/default-cast.ts';
import { startInstantModel } from '../support/instant-model.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { quantile } from '../support/quantiles.ts';
import { REFUND_TOOL } from '../support/refund.ts';
import type { Table } from '../support/table.ts';
import { ourBot } from './bots.ts';
import { openStage } from './stage.ts';

const KEY = `bench${'k'.repeat(40)}`;
const MANIFEST = `
callers:
  bench:
    owner: ${CAST.bruno}
    identity: { key: "\${BENCH_CALLER_KEY}" }
    channel: ${CHANNELS.general}
    tools: ["*"]
    limits: { pending: 100000, per_hour: 100000 }
`;
const Asked = z.object({ id: z.string() });
/** Requests that are sent at the same time while the many are made. */
const AT_ONCE = 10;

interface Probe {
  readonly askMs: number;
  readonly readMs: number;
}

/** Measures how long the door takes for one more request when none waits for people, and when many do. */
export async function measureDoor({
  waiting,
  probes,
}: {
  readonly waiting: number;
  readonly probes: number;
}): Promise<Table> {
  const redis = await startPrivateRedis();
  const model = await startInstantModel();
  const stage = await openStage(await ourBot());
  try {
    const port = await findFreePort();
    const caller = { more: MANIFEST, environment: { BENCH_CALLER_KEY: KEY } };
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url, port, ...caller });
    const measure = async () => {
      await probe(port, probes);
      const idle = await probe(port, probes);
      for (let made = 0; made < waiting; made += AT_ONCE)
        await Promise.all(Array.from({ length: Math.min(AT_ONCE, waiting - made) }, () => ask(port)));
      await stage.people.untilQuiet();
      return [idle, await probe(port, probes)] as const;
    };
    const [idle, busy] = await Promise.race([measure(), bot.failed]);
    return {
      title: `The door with ${waiting.toLocaleString('en')} requests of callers that wait for people`,
      columns: ['', 'none waits', `${waiting.toLocaleString('en')} wait`, 'ratio'],
      rows: [
        rowOf('ask, p50 ms', [idle, busy], ({ askMs }) => askMs, 0.5),
        rowOf('ask, p95 ms', [idle, busy], ({ askMs }) => askMs, 0.95),
        rowOf('read, p50 ms', [idle, busy], ({ readMs }) => readMs, 0.5),
        rowOf('read, p95 ms', [idle, busy], ({ readMs }) => readMs, 0.95),
      ],
    };
  } finally {
    await stage.stop();
    model.stop();
    await redis.stop();
  }
}

function rowOf(
  name: string,
  sides: readonly (readonly Probe[])[],
  pick: (probe: Probe) => number,
  share: number,
): string[] {
  const [idle = Number.NaN, busy = Number.NaN] = sides.map((side) => quantile(side.map(pick), share));
  return [name, idle.toFixed(1), busy.toFixed(1), (busy / idle).toFixed(2)];
}

/** Asks, reads and withdraws, one request after the other. */
async function probe(port: number, times: number): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (let time = 0; time < times; time += 1) {
    const began = performance.now();
    const id = await ask(port);
    const asked = performance.now();
    await send(port, 'GET', `/v1/runs/${id}`);
    probes.push({ askMs: asked - began, readMs: performance.now() - asked });
    await send(port, 'DELETE', `/v1/runs/${id}`);
  }
  return probes;
}

async function ask(port: number): Promise<string> {
  const input = { order: randomUUID(), amount: 100, reason: 'bench' };
  return Asked.parse(await send(port, 'POST', '/v1/runs', { tool: REFUND_TOOL.name, input })).id;
}

async function send(port: number, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}
