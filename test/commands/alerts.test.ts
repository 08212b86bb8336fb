import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { ModelReply } from '../../playground/model/model-reply.ts';
import { findFreePort } from '../../playground/redis/find-free-port.ts';
import { OUTAGES } from '../../scripts/alerts.ts';
import { exportIn } from '../../src/audit/export-progress.ts';
import { fileMemory, Signer } from '../../src/audit/signer.ts';
import { readSigningKey } from '../../src/audit/signing-key.ts';
import { checkMemory, checkWork } from '../../src/commands/checks/check-services.ts';
import { describeFinding } from '../../src/commands/checks/finding.ts';
import { Keys } from '../../src/store/port/keys.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { plainArguments, startPrivateRedis } from '../store/private-redis.ts';
import { beginTurn, newThreadId } from '../store/support.ts';
import { nonEmpty } from '../support/non-empty.ts';
import { connectTestRedis } from '../support/redis.ts';
import { PING, surroundings } from './doctor-support.ts';
import { GOOD, run } from './support.ts';

const ROOT = new URL('../../', import.meta.url);

/** The doctor's lines, without the status. */
async function linesOf(environment: Readonly<Record<string, string>>, prefix?: string): Promise<string[]> {
  const { out } = await run(['doctor'], environment, prefix);
  return out.split('\n').map((line) => line.replace(/^(ok|warning|FAILED|not checked) +/, ''));
}

const nowhere = async () => `127.0.0.1:${await findFreePort()}`;

/** The doctor where something is missing or refuses. */
async function linesWith(changed: Readonly<Record<string, string>>, replies: ModelReply[] = [PING]) {
  return linesOf({ ...(await surroundings({ replies })), ...changed });
}

const NO_WORK = {
  requests: { pending: 0, approved: 0, started: 0, unknown: 0 },
  outbox: { waiting: 0, due: 0, oldestMs: 0, oldestWebhookMs: 0 },
  quarantinedThreads: 0,
  overdueTimers: 0,
};
const worded = (findings: ReturnType<typeof checkWork>) =>
  findings.map((finding) => `${finding.check}: ${describeFinding(finding)}`);

/** What the doctor says in each outage; of work that waits it is told the measures, because nobody waits ten minutes for them. */
const PLAYED: Readonly<Record<string, () => Promise<string[]>>> = {
  CountersignRecordUnreachable: async () => linesWith({ REDIS_URL: `redis://${await nowhere()}` }),
  CountersignSlackDisconnected: async () => linesWith({ SLACK_API_URL: `http://${await nowhere()}/api/` }),
  CountersignSlackTokenRefused: () => linesWith({ SLACK_BOT_TOKEN: 'xoxb-revoked' }),
  CountersignRecordNotWritable: async () => {
    const server = await startPrivateRedis(plainArguments);
    const admin = new Redis(server.url);
    onTestFinished(async () => {
      await admin.quit();
      await server.stop();
    });
    await admin.config('SET', 'maxmemory', '1');
    return linesWith({ REDIS_URL: server.url });
  },
  CountersignRedisFillsUp: async () =>
    worded([checkMemory({ usedBytes: 900_000, maxBytes: 1_000_000, evictionPolicy: 'noeviction' })]),
  CountersignWorkStuck: async () =>
    worded(checkWork({ ...NO_WORK, outbox: { ...NO_WORK.outbox, oldestMs: 660_000 } })),
  CountersignWebhooksNotDelivered: async () =>
    worded(checkWork({ ...NO_WORK, outbox: { ...NO_WORK.outbox, oldestWebhookMs: 660_000 } })),
  CountersignUnknownOutcome: async () =>
    worded(checkWork({ ...NO_WORK, requests: { ...NO_WORK.requests, unknown: 1 } })),
  CountersignThreadQuarantined: async () => {
    const { store, prefix } = record();
    const turn = await beginTurn(store, newThreadId());
    await store.release(turn, { mostFailures: 1, delayMs: 1, reason: 'broken', notices: [] });
    return linesOf(await surroundings(), prefix);
  },
  CountersignModelFailing: () => linesWith({}, [{ status: 500 }]),
  CountersignModelRefused: () => linesWith({}, [{ status: 401 }]),
  CountersignAuditNotSigned: async () => {
    const { store, prefix, client } = record();
    const environment = await surroundings();
    const key = await readSigningKey({ text: environment.AUDIT_KEY });
    const memory = fileMemory(environment.AUDIT_STATE_FILE);
    const log = { info() {}, warn() {} };
    await store.note('one', 'configured', 'U-ann', {});
    await exportIn(store).claim('test', 600_000);
    await new Signer({ store, key, memory, log, unsignedAfterMs: 300_000 }).sign('test', async () => true);
    await store.note('two', 'configured', 'U-ann', {});
    await client.del(new Keys(prefix).shared('audit'));
    return linesOf(environment, prefix);
  },
  CountersignAuditNotExported: async () =>
    linesOf(await surroundings({ manifest: `${GOOD}audit: { file: /none/audit.jsonl }\n` })),
  CountersignToolsMissing: async () => {
    const down = 'tools:\n  down: { mcp: { command: node, args: [-e, "process.exit(3)"] } }';
    return linesOf(await surroundings({ manifest: GOOD.replace('tools: {}', down) }));
  },
};

function record() {
  const redis = connectTestRedis();
  onTestFinished(() => redis.close());
  const { client, prefix } = redis;
  return { client, prefix, store: openRedisStore({ client, prefix }) };
}

/** The pattern of a text in which `…` stands for any other. */
const patternOf = (text: string) =>
  new RegExp(
    `^${text
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.+')}`,
    'm',
  );

const found = Object.entries(OUTAGES).flatMap(([alert, { doctor }]) =>
  doctor === undefined ? [] : [{ alert, doctor }],
);

test.each(nonEmpty(found))('in the outage of $alert the doctor says: $doctor', async ({ alert, doctor }) => {
  const lines = (await PLAYED[alert]?.()) ?? [];
  expect(lines.join('\n')).toMatch(patternOf(doctor));
});

test('a log line and a sentence for people on the page of alerts are those of the source', () => {
  const folder = new URL('src', ROOT).pathname;
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|lua)$/.test(name),
  );
  const sources = files.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
  for (const { log, people } of nonEmpty(Object.values(OUTAGES))) {
    // A row of the audit log is logged by its event.
    if (log !== undefined) expect(sources).toContain(log.replace(/^request unknown$/, '`request $'));
    for (const [, sentence = ''] of people.matchAll(/\*([^*…]+)…?\*/g))
      expect(sources).toContain(sentence.trim());
  }
});
