import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createKeyPair } from '../../src/audit/signing-key.ts';
import type { RedisSettings } from '../../src/store/redis/redis-settings.ts';
import { linesOf } from '../audit/support.ts';
import { newFolder, type Ran, run, writeKey, writeManifest } from '../commands/support.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { startRedisCluster } from '../support/redis-cluster.ts';
import { CAST, MANIFEST, startStory } from './support.ts';

/** A Redis of the test's own, or the masters of a Cluster. */
interface Server {
  readonly mode: Extract<RedisSettings['mode'], 'single' | 'cluster'>;
  readonly urls: readonly string[];
  stop(): Promise<void>;
}

/** Starts a Redis, with the snapshot of each of its servers where there is one. */
type Start = (snapshots?: readonly string[]) => Promise<Server>;

const startSingle: Start = async ([snapshot] = []) => {
  const { url, stop } = await startPrivateRedis((place) => {
    if (snapshot !== undefined) copyFileSync(snapshot, join(place.folder, 'dump.rdb'));
    return plainArguments(place);
  });
  return { mode: 'single', urls: [url], stop };
};

const startCluster: Start = async (snapshots = []) => {
  const { nodes, stop } = await startRedisCluster(3, { snapshots });
  return { mode: 'cluster', urls: nodes.map(({ host, port }) => `redis://${host}:${port}`), stop };
};

const servers = [
  ['one server', startSingle],
  ['a Redis Cluster', startCluster],
] as const;

/** The manifest of the story, with a file for the log and an admin. */
const manifestIn = (file: string) =>
  `${MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}],`)}audit: { file: ${file} }\n`;

const refund = (amount: number) => ({
  calls: [{ name: 'refund_order', arguments: { orderId: 'A-1001', amount, reason: 'x' } }],
});

/** A bot with an audit key on a Redis that can be backed up as docs/operate.md says, and replaced by its backup. */
async function openDrill(start: Start) {
  const folder = newFolder();
  const prefix = `drill-${randomUUID()}`;
  const exported = join(folder, 'audit.jsonl');
  const stateFile = join(folder, 'signer.state');
  const { privatePem, publicPem } = createKeyPair();
  const keyFile = writeKey(folder, 'private.pem', privatePem);
  const publicKeyFile = writeKey(folder, 'public.pem', publicPem);
  const manifest = manifestIn(exported);
  const manifestFile = writeManifest(manifest, folder);
  const story = await startStory({
    ...{ manifest, prefix, withoutBot: true },
    replies: [10_100, 10_200, 10_300, 10_400, 10_500].flatMap((amount) => [
      refund(amount),
      { text: `Refunded ${amount}.` },
    ]),
  });
  let server = await start();
  onTestFinished(() => server.stop());
  const startBot = () => {
    const { mode, urls } = server;
    const settings = {
      ...story.setup.settings,
      ...{ redis: { mode, urls }, auditKey: { file: keyFile }, auditStateFile: stateFile },
    };
    return story.startOwnBot({ settings, audit: { everyMs: 20, checkpointEveryMs: 0, leaseMs: 1_000 } });
  };
  let bot = await startBot();
  const command = (...argv: string[]): Promise<Ran> =>
    run(
      argv,
      {
        REDIS_URL: server.urls.join(','),
        REDIS_MODE: server.mode,
        AUDIT_KEY_FILE: keyFile,
        AUDIT_STATE_FILE: stateFile,
        MANIFEST: manifestFile,
      },
      prefix,
    );
  return {
    ...{ story, folder, exported, stateFile, publicKeyFile, command },
    startBot: async () => {
      bot = await startBot();
    },
    stopBot: () => bot.stop(),
    ready: async () => {
      const response = await fetch(`http://127.0.0.1:${bot.port}/ready`);
      return { code: response.status, body: await response.json() };
    },
    /** Backs up each server with the command of docs/operate.md. */
    backUp: () =>
      Promise.all(
        server.urls.map(async (url, index) => {
          const file = join(folder, `backup-${index}.rdb`);
          await promisify(execFile)('redis-cli', ['-u', url, '--rdb', file]);
          return file;
        }),
      ),
    /** Ends the Redis and starts a new one with the snapshots. */
    restore: async (snapshots: readonly string[]) => {
      await server.stop();
      server = await start(snapshots);
    },
  };
}

test.each(servers)(
  'a backup of %s is restored as docs/operate.md says: it is told, what is missing is named, and the log is signed on',
  async (_name, start) => {
    const drill = await openDrill(start);
    const { story, command, exported, stateFile, publicKeyFile } = drill;
    const approved = async (amount: number) => {
      const thread = story.ask(`refund ${amount} cents`);
      await thread.click(CAST.alice, /Approval needed/, 'approve');
      await thread.shows(new RegExp(`Refunded ${amount}\\.`));
    };
    await approved(10_100);
    const waiting = story.ask('refund 10200 cents');
    await waiting.shows(/Approval needed/);
    await expect.poll(async () => (await command('audit', 'verify')).out).toMatch(/^ok/);
    const snapshots = await drill.backUp();

    // What happens after the backup.
    await waiting.click(CAST.bruno, /Approval needed/, 'approve');
    await waiting.shows(/Refunded 10200\./);
    await approved(10_300);
    await story.deliveredAll();
    await drill.stopBot();
    expect(await command('audit', 'verify', '--against', exported)).toMatchObject({ code: 0 });
    await drill.restore(snapshots);

    await drill.startBot();
    await story.directly(CAST.admin).shows(/audit log isn't signed any more[\s\S]*If you restored a backup/);
    expect(await drill.ready()).toMatchObject({ body: { not_signed: 'older-copy' } });
    const doctor = await command('doctor', '--json');
    expect(JSON.parse(doctor.out).findings).toContainEqual(
      expect.objectContaining({
        ...{ check: 'audit key', status: 'failed' },
        fix: expect.stringContaining('if you restored a backup'),
      }),
    );
    // What is done nevertheless goes into no log of before.
    await approved(10_400);
    const missing = await command('audit', 'verify', '--against', exported);
    expect(missing.code).toBe(1);
    expect(missing.error.match(/^missing in Redis: .*(?=; the last)/gm)).toEqual([
      expect.stringMatching(/10200.*: voted, approved, started, succeeded$/),
      expect.stringMatching(/10300.*: asked, voted, approved, started, succeeded$/),
    ]);

    await drill.stopBot();
    renameSync(exported, `${exported}.old`);
    renameSync(stateFile, `${stateFile}.old`);
    await drill.startBot();
    await expect.poll(async () => (await drill.ready()).body).not.toHaveProperty('not_signed');
    await approved(10_500);
    await story.deliveredAll();
    await drill.stopBot();
    expect(await command('audit', 'verify', '--against', exported)).toMatchObject({ code: 0, error: '' });
    const present = await command(
      ...['audit', 'verify', '--file', exported, '--key', publicKeyFile],
      ...['--partial', '--json'],
    );
    expect(JSON.parse(present.out)).toMatchObject({ ok: true, problems: [] });
    const events = linesOf(exported).map(({ event, body }) => `${event} ${JSON.stringify(body)}`);
    for (const amount of [10_400, 10_500])
      expect(events).toContainEqual(expect.stringMatching(new RegExp(`^asked .*${amount}`)));
    // The kept export proves what happened after the backup.
    const kept = await command(
      ...['audit', 'verify', '--file', `${exported}.old`, '--key', publicKeyFile, '--json'],
    );
    expect(JSON.parse(kept.out)).toMatchObject({ ok: true, problems: [] });
  },
);
