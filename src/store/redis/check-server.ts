import { Cluster, type Redis } from 'ioredis';
import { RedisUnreachableError, reasonOf } from '../errors.ts';
import type { RedisClient } from './run-script.ts';

/** A setting of the server that endangers the record: an error prevents work, a risk can lose records. */
export interface ServerFinding {
  readonly severity: 'risk' | 'error';
  readonly setting: string;
  readonly message: string;
}

/** The memory of a server, in bytes; no `maxBytes` means that it has no limit. */
export interface ServerMemory {
  readonly usedBytes: number;
  readonly maxBytes: number | undefined;
  readonly evictionPolicy: string;
}

type Fields = ReadonlyMap<string, string>;

const OLDEST_VERSION = 7;
const SLOTS = 16_384;

/** Checks the server, or each master of a cluster, without changing anything. A refused look-up is a finding too. */
export async function checkServer(client: RedisClient): Promise<ServerFinding[]> {
  if (!(client instanceof Cluster)) return checkNode(client, 'Redis', false);
  const findings = client.nodes('master').map((node) => checkNode(node, addressOf(node), true));
  return [...(await checkSlots(client)), ...(await Promise.all(findings)).flat()];
}

/** Returns the clock of Redis in milliseconds; `undefined` if it may not be asked. */
export async function readClock(client: RedisClient): Promise<number | undefined> {
  const answer = await unlessRefused('Redis', () => client.time());
  const [seconds = Number.NaN, microseconds = 0] = (answer ?? []).map(Number);
  return Number.isNaN(seconds) ? undefined : seconds * 1_000 + microseconds / 1_000;
}

/** Reads the memory of the server, of a cluster that of its fullest master; `undefined` if it may not be asked. */
export async function readMemory(client: RedisClient): Promise<ServerMemory | undefined> {
  const nodes = client instanceof Cluster ? client.nodes('master') : [client];
  const read = await Promise.all(nodes.map((node) => unlessRefused('Redis', () => node.info('memory'))));
  const all = read.flatMap((text) => (text === undefined ? [] : [memoryIn(parseInfo(text))]));
  return all.sort((left, right) => fillOf(right) - fillOf(left))[0];
}

/** Returns how full a server is, from 0 to 1. */
export function fillOf({ usedBytes, maxBytes }: ServerMemory): number {
  return maxBytes === undefined ? 0 : usedBytes / maxBytes;
}

function memoryIn(info: Fields): ServerMemory {
  const max = Number(info.get('maxmemory') ?? 0);
  return {
    usedBytes: Number(info.get('used_memory') ?? 0),
    maxBytes: max === 0 ? undefined : max,
    evictionPolicy: info.get('maxmemory_policy') ?? 'unknown',
  };
}

async function checkNode(node: Redis, name: string, isInCluster: boolean): Promise<ServerFinding[]> {
  const info = await unlessRefused(name, () => node.info().then(parseInfo));
  const config = await unlessRefused(name, () => readConfig(node));
  return [
    ...(info === undefined ? [refused('INFO', name, 'its version, role and memory policy')] : []),
    ...(config === undefined
      ? [refused('CONFIG GET', name, 'when it takes snapshots and how often it flushes its log')]
      : []),
    ...checkVersion(info?.get('redis_version'), name),
    ...checkRole(info, name, isInCluster),
    ...checkEviction(config?.get('maxmemory-policy') ?? info?.get('maxmemory_policy'), name),
    ...checkPersistence(info, config, name),
    ...checkDisk(info, name),
  ];
}

function checkVersion(version: string | undefined, name: string): ServerFinding[] {
  if (version === undefined || Number.parseInt(version, 10) >= OLDEST_VERSION) return [];
  return [
    {
      severity: 'error',
      setting: 'version',
      message: `${name} is version ${version}, but ${OLDEST_VERSION} or newer is needed; upgrade it.`,
    },
  ];
}

function checkRole(info: Fields | undefined, name: string, isInCluster: boolean): ServerFinding[] {
  const findings: ServerFinding[] = [];
  if (info?.get('role') === 'slave' && info.get('slave_read_only') !== '0') {
    const message = `${name} is a replica and takes no writes; connect to its master, or through Sentinel.`;
    findings.push({ severity: 'error', setting: 'replica-read-only', message });
  }
  if (info?.get('redis_mode') === 'cluster' && !isInCluster) {
    const message = `${name} is a node of a cluster; set REDIS_MODE to cluster.`;
    findings.push({ severity: 'error', setting: 'cluster-enabled', message });
  }
  return findings;
}

function checkEviction(policy: string | undefined, name: string): ServerFinding[] {
  if (policy === undefined || policy === 'noeviction') return [];
  const message = `${name} has maxmemory-policy ${policy}, so pending requests may be evicted when its memory is full; set it to noeviction.`;
  return [{ severity: 'risk', setting: 'maxmemory-policy', message }];
}

function checkPersistence(
  info: Fields | undefined,
  config: Fields | undefined,
  name: string,
): ServerFinding[] {
  const log = config?.get('appendonly') ?? (info?.get('aof_enabled') === '1' ? 'yes' : 'no');
  if (info === undefined && config === undefined) return [];
  if (log === 'yes') return checkFlushing(config?.get('appendfsync'), name);
  const snapshots = config?.get('save');
  if (snapshots === '') {
    const message = `${name} keeps nothing on disk, so a restart loses every approval and the audit log; set appendonly to yes.`;
    return [{ severity: 'risk', setting: 'appendonly', message }];
  }
  const what = snapshots === undefined ? 'snapshots at the most' : 'snapshots only';
  const message = `${name} writes ${what}, so a crash loses the approvals since the last one; set appendonly to yes.`;
  return [{ severity: 'risk', setting: 'appendonly', message }];
}

function checkDisk(info: Fields | undefined, name: string): ServerFinding[] {
  const failing = ['aof_last_write_status', 'rdb_last_bgsave_status'].find(
    (field) => info?.get(field) === 'err',
  );
  if (failing === undefined) return [];
  const message = `${name} cannot write to its disk (${failing}), so it refuses or loses writes; free its disk and look at its log.`;
  return [{ severity: 'error', setting: failing, message }];
}

function checkFlushing(flush: string | undefined, name: string): ServerFinding[] {
  if (flush === 'no') {
    const message = `${name} leaves it to the system when its log reaches the disk, so a power failure can lose half a minute; set appendfsync to always or everysec.`;
    return [{ severity: 'risk', setting: 'appendfsync', message }];
  }
  if (flush === 'everysec') {
    const message = `${name} flushes its log once a second, so a power failure can lose up to a second of acknowledged writes; set appendfsync to always if that is too much.`;
    return [{ severity: 'risk', setting: 'appendfsync', message }];
  }
  return [];
}

async function checkSlots(cluster: Cluster): Promise<ServerFinding[]> {
  const text = await unlessRefused('the cluster', () => cluster.cluster('INFO'));
  if (text === undefined) return [refused('CLUSTER INFO', 'Redis', 'whether all slots are served')];
  const served = Number(parseInfo(text).get('cluster_slots_ok'));
  if (served === SLOTS) return [];
  const message = `The cluster serves ${served} of ${SLOTS} slots, so part of the record cannot be reached; bring its masters back or assign the slots.`;
  return [{ severity: 'error', setting: 'cluster-slots', message }];
}

function refused(command: string, name: string, unseen: string): ServerFinding {
  const message = `${name} does not let us use ${command}, so we cannot see ${unseen}; look at it where the server is managed, or allow the command.`;
  return { severity: 'risk', setting: command, message };
}

/** Returns `undefined` for a command that is disabled, renamed or forbidden; any other failure is an outage and throws. */
async function unlessRefused<ScriptReply>(
  where: string,
  ask: () => Promise<ScriptReply>,
): Promise<ScriptReply | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof Error && /^(NOPERM|ERR)\b/.test(error.message)) return undefined;
    if (error instanceof RedisUnreachableError) throw error;
    // The nodes of a cluster are connections of ioredis's own, whose errors may hold what was sent.
    throw new RedisUnreachableError(where, reasonOf(error));
  }
}

async function readConfig(node: Redis): Promise<Fields> {
  const names = ['maxmemory-policy', 'appendonly', 'appendfsync', 'save'];
  const values = await Promise.all(names.map((name) => node.config('GET', name)));
  return new Map(values.flatMap((answer) => pairsIn(answer)));
}

function pairsIn(answer: unknown): [string, string][] {
  const flat = Array.isArray(answer) ? answer.map(String) : [];
  const [name, value] = flat;
  return name === undefined || value === undefined ? [] : [[name, value]];
}

function parseInfo(text: string): Fields {
  const lines = text.split(/\r?\n/).filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

function addressOf({ options: { host, port } }: Redis): string {
  return `${host}:${port}`;
}
