import { pino } from 'pino';
import { expect, test } from 'vitest';
import { OUTCOME_UNKNOWN } from '../../src/agent/calls/journal.ts';
import type { JsonObject } from '../../src/agent/json.ts';
import { userMessage } from '../../src/agent/messages.ts';
import { reasonTexts } from '../../src/bot/views/texts/reasons.ts';
import { admit, CHECKS } from '../../src/engine/admit.ts';
import type { EngineContext } from '../../src/engine/ports.ts';
import { readReason, writeReason } from '../../src/engine/reasons.ts';
import { answeredRun, approvedRun, digestOf, type Run, turnRun } from '../../src/engine/run.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { detailsFor, recordOf } from '../bot/views/cards/records.ts';
import { connectTestRedis } from '../support/redis.ts';
import { openTools } from '../tools/toolbox/support.ts';

const INPUT = { orderId: 'A-1001', amount: 12_000 };
const APPROVAL = { approval: { policy: 'default', rule: 'this tool: always' } };

const manifestText = (rest = '', allow = '') => `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: [U0ALICE001] }
${rest}
tools:
  refund_order:
    description: Refunds.
    effect: once
    input: { type: object, properties: { tip: { type: number } } }
    http: { method: POST, url: "https://shop.example/refunds" }
    approval: { policy: default }
${allow}`;

interface World {
  readonly manifest?: string;
  readonly isInactive?: boolean;
  readonly metadata?: JsonObject;
  readonly details?: JsonObject;
  readonly attempts?: number;
}

/** The Runs of one call on each of the three grounds, in a world that is as people approved it but for the changes. */
async function openWorld({ manifest = manifestText(), isInactive = false, ...changes }: World = {}) {
  const parsed = parseManifest(manifest, { file: 'test.yml', environment: {} });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  const redis = connectTestRedis();
  const context: EngineContext = {
    store: openRedisStore(redis),
    toolbox: await openTools(parsed.manifest),
    people: {
      mayAllAsk: async () => !isInactive,
      checkApprovers: async (_request, approvers) => ({
        stillEligible: approvers.map(({ who }) => who),
        evidence: {},
      }),
    },
    describeRefusal: (refusal) => reasonTexts(refusal).why,
    tellOfGrant: async () => {},
    logger: pino({ level: 'silent' }),
  };
  const { metadata = APPROVAL, details = {}, attempts = 0 } = changes;
  const { policy } = recordOf();
  const record = recordOf({
    state: 'approved',
    policy: { ...policy, quorum: 1 },
    attempts,
    details: {
      ...detailsFor(INPUT, { policy: { name: 'default', own: false }, ...details }),
      interrupt: {
        id: 'pause-1',
        toolRequest: { name: 'refund_order', ref: 'call-1', input: INPUT },
        metadata,
      },
    },
    votes: [{ who: 'U0ALICE001', decision: 'approve', at: 1 }],
  });
  const bound = await approvedRun(context, record);
  const request = { ...record, digest: digestOf(context, bound) ?? '' };
  const messages = [userMessage('Refund it', { user: request.requester, role: 'requester' })];
  const call = {
    toolRequest: { name: 'refund_order', ref: 'call-1', input: INPUT },
    idempotencyKey: 'key-1',
  };
  const runs: Readonly<Record<Run['basis'], Run>> = {
    approval: await approvedRun(context, request),
    answer: await answeredRun(context, request),
    rules: turnRun(context, request.threadId, { call, input: INPUT, messages, attempts }),
  };
  return { context, runs, request, close: () => redis.close() };
}

/** Says what the list makes of each Run. */
async function admitAll(world: World, isQuick = false) {
  const { context, runs, close } = await openWorld(world);
  const ends = await Promise.all(
    Object.entries(runs).map(async ([basis, run]) => {
      const admission = await admit(context, run, { isQuick });
      return [basis, admission.outcome === 'refused' ? admission.refusal.code : admission.outcome] as const;
    }),
  );
  await close();
  return Object.fromEntries(ends);
}

const ADMITTED = { approval: 'admitted', answer: 'admitted', rules: 'admitted' };

test('a Run in an unchanged world passes every check, with what its start needs', async () => {
  expect(await admitAll({})).toEqual(ADMITTED);
  const { context, runs, request, close } = await openWorld();
  expect(await admit(context, runs.approval)).toMatchObject({
    plan: { digest: request.digest, approvers: { stillEligible: ['U0ALICE001'] } },
  });
  await close();
});

test('a requester who is no longer active stops a Run on whatever ground', async () => {
  expect(await admitAll({ isInactive: true })).toEqual({
    approval: 'requester-inactive',
    answer: 'requester-inactive',
    rules: 'requester-inactive',
  });
});

test('a requester who may no longer use the tool stops a Run on whatever ground', async () => {
  const manifest = manifestText('', '    allow: { people: [U0SOMEONE] }\n');
  expect(await admitAll({ manifest })).toEqual({
    approval: 'not-allowed',
    answer: 'not-allowed',
    rules: 'not-allowed',
  });
});

test('a time without changes in the calendar stops every start of its tools, but no answer and no tool that only reads', async () => {
  const at = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 16).replace('T', ' ');
  const HOUR = 3_600_000;
  const calendar = (from: number, to: number, tools = '') =>
    manifestText(`freezes:\n  - { name: Black Friday, from: "${at(from)}", to: "${at(to)}"${tools} }`);
  // What people have approved goes on to the script, which holds it.
  const frozen = { approval: 'admitted', answer: 'admitted', rules: 'frozen' };
  expect(await admitAll({ manifest: calendar(-HOUR, HOUR) })).toEqual(frozen);
  expect(await admitAll({ manifest: calendar(-HOUR, HOUR, ', tools: ["refund_*"]') })).toEqual(frozen);
  expect(await admitAll({ manifest: calendar(-2 * HOUR, -HOUR) })).toEqual(ADMITTED);
  expect(await admitAll({ manifest: calendar(HOUR, 2 * HOUR) })).toEqual(ADMITTED);
  const reading = calendar(-HOUR, HOUR).replace('effect: once', 'effect: none');
  expect(await admitAll({ manifest: reading })).toEqual(ADMITTED);
});

test('what people approved is asked anew once anything of it has changed; a tool that is gone ends it', async () => {
  const { context, runs, request, close } = await openWorld();
  const other = { ...request, digest: 'of something else' };
  expect(await admit(context, await approvedRun(context, other))).toMatchObject({
    refusal: { code: 'changed', change: { what: 'tool' } },
  });
  expect(await admit(context, { ...runs.approval, entry: undefined } as Run)).toMatchObject({
    refusal: { code: 'no-tool', tool: 'refund_order' },
  });
  await close();
});

test('an amount that cannot be told is over the limit, unless those who approve that have approved it', async () => {
  const limits = (policy: string) =>
    manifestText(`limits:\n  refund_order: { sum: input.tip, max: 5, per: requester, window: 1d${policy} }`);
  expect(await admitAll({ manifest: limits('') })).toMatchObject({
    approval: 'over-limit',
    rules: 'over-limit',
  });
  expect(await admitAll({ manifest: limits(', policy: default') })).toMatchObject({
    approval: 'admitted',
    rules: 'over-limit',
  });
  // A call that ran without approval, and is tried again because a person says so, was approved by nobody.
  expect(
    await admitAll({ manifest: limits(', policy: default'), metadata: { [OUTCOME_UNKNOWN]: '' } }),
  ).toMatchObject({ approval: 'over-limit' });
});

test('a preview that is no longer true refuses the first start only, and a click leaves it to a worker', async () => {
  const current = { outcome: 'shown', before: 'a', after: 'b' };
  const details = { facets: { preview: { current } } };
  expect(await admitAll({ details })).toMatchObject({ approval: 'preview-changed', answer: 'admitted' });
  expect(await admitAll({ details }, true)).toMatchObject({ approval: 'slow' });
  expect(await admitAll({ details, attempts: 1 })).toMatchObject({ approval: 'admitted' });
  expect(await admitAll({ details, attempts: 1 }, true)).toMatchObject({ approval: 'admitted' });
});

test('the list names every ground of each check, and every code is written, read back and put into words', () => {
  expect(CHECKS.map(({ code, for: grounds }) => `${code}: ${grounds.join(', ')}`)).toEqual([
    'no-tool: approval, answer',
    'requester-inactive: approval, answer, rules',
    'not-allowed: approval, answer, rules',
    'frozen: approval, rules',
    'changed: approval, answer',
    'grant-revoked: answer',
    'preview-changed: approval',
    'over-limit: approval, rules',
    'unproven: approval',
    'quorum-lost: approval',
    'stopped: rules',
    'ungranted: rules',
    'stale-approval: approval',
    'held: approval',
  ]);
  for (const code of ['changed', 'quorum-lost', 'stale-approval'] as const)
    expect(reasonTexts(readReason(code) ?? { code: 'stopped' }).replaced).toMatch(/, so it .*\.$/);
  const edited = { code: 'edited', input: { amount: 1 }, by: 'U1' } as const;
  expect(readReason(writeReason(edited))).toEqual(edited);
  expect(readReason(writeReason({ code: 'not-allowed' }))).toEqual({ code: 'not-allowed' });
  expect([readReason(''), readReason('constructor'), readReason('7'), readReason('{"code":"no"}')]).toEqual(
    Array(4).fill(undefined),
  );
});
