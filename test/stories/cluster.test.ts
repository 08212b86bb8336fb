import { Cluster } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { askRedis } from '../../playground/redis/ask-redis.ts';
import { verifyChain } from '../../src/store/record/chain-check.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { CAST, startStory } from './support.ts';
import { openWorkshop, workshopManifest } from './workshop.ts';

/** Two prefixes that a cluster of three nodes puts on different nodes. */
const PREFIXES = ['acme', 'umbrella'] as const;
const CALLS = ['stamp_part', 'press_part'] as const;

/** A cluster with a replica of each master, and a client of it. */
async function openCluster() {
  const cluster = await startRedisCluster(3, { withReplicas: true });
  const client = new Cluster([...cluster.nodes]);
  onTestFinished(async () => {
    client.disconnect();
    await cluster.stop();
  });
  return { cluster, client, urls: cluster.nodes.map(({ host, port }) => `redis://${host}:${port}`) };
}

/** Starts a workspace with a Slack, a model and two processes of the bot of its own; its record is on the cluster. */
async function openWorkspace(prefix: string, urls: readonly string[]) {
  const workshop = await openWorkshop();
  const story = await startStory({
    ...{ manifest: workshopManifest(), prefix, withoutBot: true },
    sweep: { everyMs: 200, overdueMs: 0 },
    replies: CALLS.flatMap((name) => [
      { calls: [workshop.call(name)] },
      { text: `Did ${name} at ${prefix}.` },
    ]),
  });
  const settings = { ...story.setup.settings, redis: { mode: 'cluster' as const, urls } };
  await story.startOwnBot({ settings });
  await story.startOwnBot({ settings });
  let round = 0;
  return {
    workshop,
    /** Has the next call asked for, approved and run. */
    async approveNext() {
      const name = CALLS[round] ?? '';
      round += 1;
      const thread = story.ask(`do ${name}`);
      await thread.click(CAST.alice, /Approval needed/, 'approve');
      await thread.shows(new RegExp(`Did ${name} at ${prefix}`));
    },
  };
}

/** The slots of the keys of each workspace, and the nodes that hold them as masters. */
async function placesOf(urls: readonly string[]) {
  const found = PREFIXES.map((prefix) => ({ prefix, slots: new Set<number>(), nodes: new Set<string>() }));
  const strangers: string[] = [];
  for (const url of urls)
    await askRedis(url, async (node) => {
      if ((await node.role())[0] !== 'master') return;
      for (const key of await node.keys('*')) {
        const place = found.find(({ prefix }) => key.startsWith(`{${prefix}}:`));
        if (place === undefined) strangers.push(key);
        place?.slots.add(await node.cluster('KEYSLOT', key));
        place?.nodes.add(url);
      }
    });
  return { found, strangers };
}

/** Tells whether a node has refused a command or a script with keys of two slots. */
const hasRefused = (url: string): Promise<boolean> =>
  askRedis(url, async (node) => (await node.info('errorstats')).includes('errorstat_CROSSSLOT'));

test('two workspaces on a Redis Cluster of three nodes work on different nodes, each in one slot, also after every node has failed over', async () => {
  const { cluster, client, urls } = await openCluster();
  const workspaces = await Promise.all(PREFIXES.map((prefix) => openWorkspace(prefix, urls)));

  await Promise.all(workspaces.map(({ approveNext }) => approveNext()));
  const first = await placesOf(urls);
  for (let promoted = 0; promoted < 3; promoted += 1) await cluster.promoteReplica();
  await Promise.all(workspaces.map(({ approveNext }) => approveNext()));
  const second = await placesOf(urls);

  for (const { found, strangers } of [first, second]) {
    expect(strangers).toEqual([]);
    for (const { slots, nodes } of found)
      expect({ slots: slots.size, nodes: nodes.size }).toEqual({ slots: 1, nodes: 1 });
    const [one, other] = found.map(({ nodes }) => [...nodes]);
    expect(one).not.toEqual(other);
  }
  // Each works on another node than before.
  expect(second.found.map(({ nodes }) => [...nodes])).not.toEqual(first.found.map(({ nodes }) => [...nodes]));
  expect(await Promise.all(urls.map(hasRefused))).not.toContain(true);
  for (const { workshop } of workspaces) await workshop.has(2, 'effects');
  for (const prefix of PREFIXES) {
    const store = openRedisStore({ client, prefix });
    expect((await verifyChain(store)).problems).toEqual([]);
    const started: string[] = [];
    for await (const { event, subject } of store.exportAudit())
      if (event === 'started') started.push(subject);
    expect(new Set(started).size).toBe(2);
  }
});
