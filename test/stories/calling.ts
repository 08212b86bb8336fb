import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { MESSAGE_VERSION } from '../../src/agent/messages.ts';
import type { RunningBot } from '../../src/start-bot.ts';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { parseManifest } from '../../src/tools/manifest/parse.ts';
import { withBuiltTools } from '../support/build-module.ts';
import { CAST, MANIFEST, PLACES, type StoryOptions, startStory } from './support.ts';

/** The keys of the two callers. */
export const KEYS = { pipeline: `pipeline${'k'.repeat(40)}`, other: `other${'k'.repeat(40)}` };
export const ENVIRONMENT = { PIPELINE_KEY: KEYS.pipeline, OTHER_KEY: KEYS.other };

/** The callers of the stories: one that may refund and delete, and one that may only refund. */
export const CALLERS = `
callers:
  release-pipeline:
    owner: ${CAST.requester}
    identity: { key: "\${PIPELINE_KEY}" }
    channel: ${PLACES.general}
    tools: [refund_*, delete_customer, read_order]
    ask: [release]
    links: [ci.example.com]
    limits: { pending: 5, per_hour: 30 }
  other-job:
    owner: ${CAST.admin}
    identity: { key: "\${OTHER_KEY}" }
    channel: ${PLACES.general}
    tools: [refund_order]
`;

const RELEASE = `policies:
  release: { approvers: [${CAST.alice}, ${CAST.bruno}], resolvers: [${CAST.admin}], notify: { direct_messages: false } }`;

export const WITH_CALLERS = `${MANIFEST.replace('agent: {', `agent: { admins: [${CAST.admin}],`).replace('policies:', RELEASE)}${CALLERS}`;

const Answer = z.looseObject({
  id: z.string().default(''),
  status: z.union([z.string(), z.number()]).default(''),
});

/** An answer of the door. */
export interface DoorReply {
  readonly code: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown> & z.infer<typeof Answer>;
}

interface Sent {
  readonly key?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The timing of a bot whose turns fail soon. */
export const FAILING = { leaseMs: 3_000, renewMs: 50 };

/** Adds a call without a result to the thread of a caller's request; no turn can go on from it. */
export async function breakThread({ redis, prefix }: Pick<Calling, 'redis' | 'prefix'>): Promise<void> {
  const content = [{ toolRequest: { name: 'lost', ref: 'lost', input: {} }, idempotencyKey: 'lost' }];
  const [log = ''] = await redis.keys(`{${prefix}}:log:*:caller.*`);
  await redis.rpush(log, JSON.stringify({ v: MESSAGE_VERSION, role: 'model', content }));
}

/** Starts a bot with callers, and speaks to its door over a real socket. */
export async function startCalling({
  auditKey,
  webhookGiveUpMs,
  ...options
}: StoryOptions & { readonly auditKey?: string; readonly webhookGiveUpMs?: number } = {}) {
  const given = { manifest: WITH_CALLERS, environment: ENVIRONMENT, ...options };
  const story = await startStory({ ...given, withoutBot: true });
  const { settings } = story.setup;
  const changes = {
    ...(auditKey !== undefined && { settings: { ...settings, auditKey: { text: auditKey } } }),
    ...(webhookGiveUpMs !== undefined && { webhookGiveUpMs }),
  };
  let bot = await story.startOwnBot(changes);

  const send = async (method: string, path: string, sent: Sent = {}): Promise<DoorReply> => {
    const { key = KEYS.pipeline, body, headers } = sent;
    const response = await fetch(`http://127.0.0.1:${bot.port}${path}`, {
      method,
      headers: {
        ...(key !== '' && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return {
      code: response.status,
      headers: response.headers,
      body: Answer.parse(await response.json()),
    };
  };
  const refund = (amount: number, sent: Sent & { readonly more?: object } = {}) =>
    send('POST', '/v1/runs', {
      ...sent,
      body: { tool: 'refund_order', input: { orderId: 'A-1001', amount }, ...sent.more },
    });
  /** Waits for the end of a run. */
  const end = (id: string) => send('GET', `/v1/runs/${id}?wait=60`);
  const place = story.placeIn(PLACES.general);
  const refunded = async () => (await story.ledger.order('A-1001'))?.refunded ?? 0;
  const events = async (): Promise<string[]> => {
    const found: string[] = [];
    const store = openRedisStore({ client: story.redis, prefix: story.prefix });
    for await (const { event } of store.exportAudit()) found.push(event);
    return found;
  };
  /** Rejects by the modal, with a reason. */
  const reject = async (who: string, words: RegExp, reason: string) => {
    await place.click(who, words, 'reject');
    const modal = await story.modalFor(who, /You're about to reject/);
    await story.workspace.as(who).submit(modal.id, { reason });
  };
  /** Activates another manifest in the running bot. */
  const replaceManifest = async (text: string): Promise<void> => {
    const parsed = parseManifest(await withBuiltTools(text), { file: 'story.yml', environment: ENVIRONMENT });
    if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
    await bot.toolbox.replace(parsed.manifest);
  };
  /** Stops the bot and starts another one on the same record. */
  const restart = async (): Promise<RunningBot> => {
    await bot.stop();
    bot = await story.startOwnBot(changes);
    return bot;
  };
  return {
    ...story,
    send,
    refund,
    end,
    place,
    refunded,
    events,
    reject,
    replaceManifest,
    restart,
    bot: () => bot,
  };
}

export type Calling = Awaited<ReturnType<typeof startCalling>>;

/** Starts an issuer of tokens, and returns how its tokens are made. */
export async function startIssuer() {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] };
  const server = createServer((request, response) => {
    const isMetadata = request.url === '/.well-known/openid-configuration';
    response.end(JSON.stringify(isMetadata ? { issuer: url(), jwks_uri: `${url()}/keys` } : keys));
  });
  const url = () => {
    const address = server.address();
    return typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '';
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const token = (
    claims: Record<string, unknown> = {},
    {
      key = privateKey,
      audience = 'countersign',
      issued = 'now' as string,
      expires = '5m' as string | number,
      issuer = url(),
      jti = randomUUID() as string,
    } = {},
  ) =>
    new SignJWT({ repository: 'acme/api', ...claims })
      .setProtectedHeader({ alg: 'ES256', kid: 'one' })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt(issued === 'now' ? undefined : issued)
      .setExpirationTime(expires)
      .setJti(jti)
      .sign(key);
  return { url: url(), token };
}
