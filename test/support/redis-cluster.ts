import { copyFileSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { thisMachine } from '../../playground/install/machine.ts';
import { askRedis } from '../../playground/redis/ask-redis.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { launchWatchdog, type WatchedServer } from '../../playground/redis/launch-watchdog.ts';
import { obtainServer } from '../../playground/redis/obtain-server.ts';
import { PATIENCE_MS } from './patience.ts';

const SLOTS = 16_384;
const TRIES = 3;

export interface ClusterNode {
  readonly host: string;
  readonly port: number;
}

/** A Redis Cluster in which every slot has an owner; it ends with `stop`, or with this process however that ends. */
export interface RedisCluster {
  readonly nodes: readonly ClusterNode[];
  /** Lets one replica after the other take its master's place, one with each call and without a loss; resolves when it has. */
  promoteReplica(): Promise<void>;
  stop(): Promise<void>;
}

interface Member extends ClusterNode {
  readonly url: string;
  readonly busPort: number;
  readonly watched: WatchedServer;
}

/** Starts a cluster of masters on free loopback ports, each with a replica or with a snapshot of its own where that is asked for. */
export async function startRedisCluster(
  size = 3,
  {
    withReplicas = false,
    snapshots = [],
  }: { readonly withReplicas?: boolean; readonly snapshots?: readonly string[] } = {},
): Promise<RedisCluster> {
  const server = await obtainServer(process.env, thisMachine(), () => {});
  for (let triesLeft = TRIES - 1; ; triesLeft -= 1) {
    const members: Member[] = [];
    const replicas: Member[] = [];
    for (let index = 0; index < size; index += 1) members.push(await launchMember(server, snapshots[index]));
    if (withReplicas) for (let index = 0; index < size; index += 1) replicas.push(await launchMember(server));
    const all = [...members, ...replicas];
    const stop = async () => {
      await Promise.all(all.map(({ watched }) => watched.stop()));
    };
    try {
      await formCluster(members);
      await addReplicas(members, replicas);
      let turn = 0;
      const promoteReplica = async () => {
        const pair = [members[turn % size], replicas[turn % size]];
        turn += 1;
        await promote(pair.filter((member) => member !== undefined));
      };
      return { nodes: all.map(({ host, port }) => ({ host, port })), promoteReplica, stop };
    } catch (error) {
      await stop();
      // A port that was free a moment ago may be taken by now.
      if (triesLeft === 0) throw error;
    }
  }
}

async function launchMember(server: string, snapshot?: string): Promise<Member> {
  const [port, busPort] = [await findFreePort(), await findFreePort()];
  const url = `redis://127.0.0.1:${port}`;
  const dataFolder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-cluster-')));
  if (snapshot !== undefined) copyFileSync(snapshot, join(dataFolder, 'dump.rdb'));
  const serverArguments = [
    ...['--port', String(port), '--cluster-port', String(busPort), '--bind', '127.0.0.1'],
    ...['--dir', dataFolder, '--daemonize', 'no', '--save', '', '--appendonly', 'no'],
    ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'],
  ];
  const watched = launchWatchdog(
    {
      server,
      url,
      serverArguments,
      dataFolder,
      removeDataFolder: true,
      logFile: join(dataFolder, 'server.log'),
      lockFile: join(dataFolder, 'server.lock'),
    },
    process.env,
  );
  return { host: '127.0.0.1', port, busPort, url, watched };
}

async function formCluster(members: readonly Member[]): Promise<void> {
  for (const [index, { url }] of members.entries()) {
    const first = Math.ceil((index * SLOTS) / members.length);
    const last = Math.ceil(((index + 1) * SLOTS) / members.length) - 1;
    await until(`the server at ${url} answers`, () => call(url, 'PING'));
    await call(url, 'CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1));
    for (const [from, to] of await withoutOwned(url, first, last))
      await call(url, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to));
  }
  for (const { url } of members.slice(1)) {
    for (const { host, port, busPort } of members.slice(0, 1))
      await call(url, 'CLUSTER', 'MEET', host, String(port), String(busPort));
  }
  for (const { url } of members) {
    await until(`the server at ${url} knows the whole cluster`, async () => {
      const state = await call(url, 'CLUSTER', 'INFO');
      if (!state.includes('cluster_state:ok')) throw new Error(state);
      if (!state.includes(`cluster_known_nodes:${members.length}`)) throw new Error(state);
    });
  }
}

/** Lists the parts of a range of slots that a server does not own yet; one with a snapshot owns the slots of its keys. */
async function withoutOwned(url: string, first: number, last: number): Promise<[number, number][]> {
  const owned = await askRedis(url, (client) => client.cluster('SLOTS'));
  const parts: [number, number][] = [];
  let from = first;
  for (const [start, end] of owned.toSorted(([one], [other]) => one - other)) {
    if (from < start) parts.push([from, start - 1]);
    from = end + 1;
  }
  return from > last ? parts : [...parts, [from, last]];
}

async function addReplicas(masters: readonly Member[], replicas: readonly Member[]): Promise<void> {
  for (const [index, { url }] of replicas.entries()) {
    const [first] = masters;
    const master = masters[index];
    if (first === undefined || master === undefined) return;
    await until(`the server at ${url} answers`, () => call(url, 'PING'));
    await call(url, 'CLUSTER', 'MEET', first.host, String(first.port), String(first.busPort));
    const masterId = await call(master.url, 'CLUSTER', 'MYID');
    await until(`the server at ${url} follows`, () => call(url, 'CLUSTER', 'REPLICATE', masterId));
    await until(`the server at ${url} has caught up`, () => isLinked(url));
  }
}

async function promote(members: readonly Member[]): Promise<void> {
  for (const { url } of members) {
    if (!(await call(url, 'ROLE')).startsWith('slave')) continue;
    await until(`the replica at ${url} has caught up`, () => isLinked(url));
    // Redis gives a takeover up after five seconds, and says so to nobody.
    await until(`the replica at ${url} is a master`, async () => {
      await call(url, 'CLUSTER', 'FAILOVER').catch(() => {});
      for (let waited = 0; waited < 60; waited += 1) {
        if ((await call(url, 'ROLE')).startsWith('master')) return;
        await sleep(100);
      }
      throw new Error('it follows still');
    });
    return;
  }
}

async function isLinked(url: string): Promise<void> {
  const state = await call(url, 'INFO', 'replication');
  if (!state.includes('master_link_status:up')) throw new Error(state);
}

async function call(url: string, command: string, ...args: string[]): Promise<string> {
  return String(await askRedis(url, (client) => client.call(command, ...args)));
}

async function until(what: string, check: () => Promise<unknown>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`It did not happen in time that ${what}`, { cause: error });
      await sleep(25);
    }
  }
}
