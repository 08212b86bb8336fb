import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startInstantModel } from '../support/instant-model.ts';
import type { CallFrame, CpuProfile, Holdings } from '../support/node-process.ts';
import { startPrivateRedis } from '../support/private-redis.ts';
import { residentBytesByKind } from '../support/process-usage.ts';
import type { Table } from '../support/table.ts';
import { bundleOnce, ourBot } from './bots.ts';
import type { SlackPeople } from './slack-people.ts';
import { openStage } from './stage.ts';

const ROWS = 10;
const SETTLE_MS = 5_000;
const MEGABYTE = 1024 * 1024;
const OURS = 'Countersign';
const NODE = "Node's own modules";
const NATIVE = 'Node, native';
const GARBAGE = 'garbage collection';
/** The part of the bench in the process, which starts the profile. */
const BENCH = 'the bench';

export interface ProfilePace {
  readonly warmUps: number;
  readonly actions: number;
}

/** Shows where the CPU of an action and the memory at rest go, by package: as shares, which other work on the machine does not change much. */
export async function measureProfile({ warmUps, actions }: ProfilePace): Promise<Table[]> {
  const redis = await startPrivateRedis();
  const model = await startInstantModel();
  const stage = await openStage(await ourBot());
  try {
    const bot = await stage.startBot({ redisUrl: redis.url, modelUrl: model.url });
    await sleep(SETTLE_MS);
    const memory = await tablesOfMemory(residentBytesByKind(bot.pid), await bot.holdings());
    await Promise.race([doActions(stage.people, warmUps), bot.failed]);
    await bot.startProfile();
    await Promise.race([doActions(stage.people, actions), bot.failed]);
    return [tableOfCpu(await bot.stopProfile(), actions), ...memory];
  } finally {
    await stage.stop();
    model.stop();
    await redis.stop();
  }
}

async function doActions(people: SlackPeople, actions: number): Promise<void> {
  for (let action = 0; action < actions; action += 1) await people.approve(await people.request());
  await people.untilQuiet();
}

/** The time of a package itself, and with that of Node where the package called it; the garbage collector has no caller. */
function tableOfCpu({ nodes, samples, timeDeltas }: CpuProfile, actions: number): Table {
  const packageAt = packagesByPlace();
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const isNode = (name: string) => [NODE, NATIVE, GARBAGE].includes(name);
  const nameOf = (id: number) => packageAt(frames.get(id));
  const causeOf = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at))
      if (!isNode(nameOf(at) ?? NODE)) return nameOf(at) ?? NODE;
    return nameOf(id) ?? NODE;
  };
  const [own, caused] = [new Map<string, number>(), new Map<string, number>()];
  samples.forEach((id, index) => {
    const [name, cause] = [nameOf(id), causeOf(id)];
    if (name === undefined || cause === BENCH) return;
    add(own, name, timeDeltas[index] ?? 0);
    add(caused, cause, timeDeltas[index] ?? 0);
  });
  const total = [...own.values()].reduce((sum, each) => sum + each, 0);
  const share = (part = 0) => `${((part / total) * 100).toFixed(1)} %`;
  return {
    title: `CPU of the bot by package, ${actions} actions, one at a time`,
    columns: ['', 'its own', 'with what it caused in Node'],
    rows: topOf(caused, own).map(([name, { first, second }]) => [name, share(second), share(first)]),
  };
}

/** The packages with the largest first figure, the others in one row. */
function topOf(first: ReadonlyMap<string, number>, second: ReadonlyMap<string, number>) {
  const names = [...new Set([...first.keys(), ...second.keys()])];
  const all = names
    .map((name) => [name, { first: first.get(name) ?? 0, second: second.get(name) ?? 0 }] as const)
    .sort(([, a], [, b]) => Math.max(b.first, b.second) - Math.max(a.first, a.second));
  const rest = all.slice(ROWS - 1);
  const sum = (pick: 'first' | 'second') => rest.reduce((total, [, each]) => total + each[pick], 0);
  return [
    ...all.slice(0, ROWS - 1),
    [`${rest.length} others`, { first: sum('first'), second: sum('second') }] as const,
  ];
}

async function tablesOfMemory(
  resident: ReadonlyMap<string, number>,
  { heap, external, scripts }: Holdings,
): Promise<Table[]> {
  const megabytes = (bytes = 0) => (bytes / MEGABYTE).toFixed(1);
  const total = [...resident.values()].reduce((sum, each) => sum + each, 0);
  const { outputs } = await bundleOnce();
  const loaded = new Set(scripts.flatMap((url) => /\/bin\/([^/]+)$/.exec(url)?.[1] ?? []));
  const [inLoaded, inAll] = [new Map<string, number>(), new Map<string, number>()];
  for (const [file, { inputs }] of Object.entries(outputs))
    for (const [source, { bytesInOutput }] of Object.entries(inputs)) {
      add(inAll, packageOf(source), bytesInOutput);
      if (loaded.has(file.split('/').at(-1) ?? '')) add(inLoaded, packageOf(source), bytesInOutput);
    }
  return [
    {
      title: 'Memory of the bot at rest',
      columns: ['', 'MB'],
      rows: [
        ...[...resident].map(([kind, bytes]) => [`resident: ${kind}`, megabytes(bytes)]),
        ['resident in all', megabytes(total)],
        ["V8's heap, after a collection", megabytes(heap.used_heap_size)],
        ['buffers of objects in the heap', megabytes(external)],
      ],
    },
    {
      title: `Code of the bundle by package, ${loaded.size} files loaded at rest`,
      columns: ['', 'loaded at rest, kB', 'in the bundle, kB'],
      rows: topOf(inLoaded, inAll).map(([name, { first, second }]) => [
        name,
        ...[first, second].map((bytes) => Math.round(bytes / 1024).toLocaleString('en')),
      ]),
    },
  ];
}

function add(sums: Map<string, number>, name: string, amount: number): void {
  sums.set(name, (sums.get(name) ?? 0) + amount);
}

/** Returns the package of a place in a profile; nothing for the time without work. */
function packagesByPlace(): (frame: CallFrame | undefined) => string | undefined {
  const maps = new Map<string, SourceMap>();
  const mapOf = (file: string): SourceMap => {
    const map = maps.get(file) ?? new SourceMap(JSON.parse(readFileSync(`${file}.map`, 'utf8')));
    maps.set(file, map);
    return map;
  };
  return (frame) => {
    if (frame === undefined || frame.functionName === '(idle)') return undefined;
    if (frame.functionName === '(garbage collector)') return GARBAGE;
    if (frame.url.startsWith('node:')) return NODE;
    if (!frame.url.startsWith('file:')) return NATIVE;
    const file = fileURLToPath(frame.url);
    if (!existsSync(`${file}.map`)) return BENCH;
    const entry = mapOf(file).findEntry(frame.lineNumber, frame.columnNumber);
    return 'originalSource' in entry ? packageOf(resolve(dirname(file), entry.originalSource)) : OURS;
  };
}

function packageOf(source: string): string {
  const [, name = OURS] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source) ?? [];
  return name;
}
