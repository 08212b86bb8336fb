import { existsSync } from 'node:fs';
import { deserialize } from 'node:v8';
import { pino } from 'pino';
import type { Settings } from '../../../src/settings.ts';
import { startBot } from '../../../src/start-bot.ts';
import type { Manifest } from '../../../src/tools/manifest/manifest.ts';
import { Secrets } from '../../../src/tools/secrets.ts';
import { changedRules, withOtherDeadlines } from './changed-rules.ts';
import { applyDefect } from './defects.ts';
import { installFailpoints } from './failpoints.ts';
import { Measure, type WorkerNews } from './fault-messages.ts';
import { PREFIX } from './prefix.ts';
import { TOOLS } from './tools.ts';

/** The settings of a worker; they come only from the world that starts it. */
export interface WorkerOrder {
  readonly settings: Settings;
  readonly manifest: Manifest;
  readonly folder: string;
  readonly timing: Readonly<Record<string, number>>;
  readonly sweep: { readonly everyMs: number; readonly overdueMs: number };
  readonly audit: { readonly everyMs: number; readonly checkpointEveryMs: number; readonly leaseMs: number };
  /** By how much this worker's clock is wrong. */
  readonly clockAheadMs: number;
}

const order: WorkerOrder = deserialize(Buffer.from(process.argv[2] ?? '', 'base64'));
if (order.clockAheadMs !== 0) {
  const now = Date.now;
  Date.now = () => now() + order.clockAheadMs;
}
Object.assign(globalThis, { countersignFaults: { TOOLS } });
installFailpoints(applyDefect(process.env.FAULTS_DEFECT));

const { settings, folder, timing, sweep, audit } = order;
const manifest = existsSync(changedRules(process.env.FAULTS_EFFECTS ?? ''))
  ? withOtherDeadlines(order.manifest)
  : order.manifest;
const secrets = new Secrets();
for (const secret of [settings.slack.botToken, settings.model.apiKey]) secrets.add(secret);
// As in main.ts.
const logger = pino({ level: settings.logLevel, hooks: { streamWrite: (line) => secrets.redact(line) } });
process.on('message', (message) => {
  if (!Measure.safeParse(message).success) return;
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const news: WorkerNews = { kind: 'memory', heapUsed, rss };
  process.send?.(news);
});
// A worker whose world is gone has nobody to work for.
process.on('disconnect', () => process.exit(0));
startBot({ settings, manifest, folder, secrets, logger, prefix: PREFIX, timing, sweep, audit }).then(
  (bot) => {
    const ready: WorkerNews = { kind: 'ready', port: bot.port };
    process.send?.(ready);
    process.once('SIGTERM', () => void bot.stop().then(() => process.exit(0)));
  },
  (err: unknown) => {
    logger.fatal({ err }, 'a worker could not start');
    process.exit(1);
  },
);
