import { connect } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { openRedisStore } from '../../src/store/redis/redis-store.ts';
import { KEYS, startCalling } from './calling.ts';
import { PLACES } from './support.ts';

const RUN = { tool: 'refund_order', input: { orderId: 'A-1001', amount: 500 } };
const GOOD = { authorization: `Bearer ${KEYS.pipeline}`, 'content-type': 'application/json' };

interface Hostile {
  readonly what: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const b64 = (text: string) => Buffer.from(text).toString('base64url');
const post = JSON.stringify(RUN);

/** Proofs that belong to nobody. */
const PROOFS: readonly string[] = [
  '',
  'Bearer',
  'Bearer ',
  `Basic ${b64(`user:${KEYS.pipeline}`)}`,
  `bearer  ${KEYS.pipeline}`,
  `Token ${KEYS.pipeline}`,
  KEYS.pipeline,
  `Bearer ${KEYS.pipeline} ${KEYS.pipeline}`,
  `Bearer ${KEYS.pipeline}, Bearer ${KEYS.other}`,
  `Bearer ${KEYS.pipeline}x`,
  `Bearer ${KEYS.pipeline.slice(0, -1)}`,
  `Bearer ${KEYS.pipeline.toUpperCase()}`,
  `Bearer "${KEYS.pipeline}"`,
  `Bearer ${b64(KEYS.pipeline)}`,
  `Bearer ${'0'.repeat(64)}`,
  `Bearer ${'A'.repeat(9_000)}`,
  'Bearer release-pipeline',
  'Bearer caller:release-pipeline',
  `Bearer \${PIPELINE_KEY}`,
  'Bearer null',
  'Bearer undefined',
  'Bearer [object Object]',
  'Bearer ../../etc/passwd',
  "Bearer ' OR 1=1 --",
  'Bearer %00',
  `Bearer ${b64('{"alg":"none"}')}.${b64('{"iss":"x","repository":"acme/api"}')}.`,
  `Bearer ${b64('{"alg":"none"}')}.${b64('{"iss":"x"}')}.AA`,
  `Bearer ${b64('{"alg":"HS256"}')}.${b64('{"iss":"https://token.actions.githubusercontent.com"}')}.AAAA`,
  `Bearer ${b64('{')}.${b64('{')}.AAAA`,
  'Bearer a.b.c',
  'Bearer ..',
  'Bearer a.b.c.d.e',
];

const RUN_ID = `${PLACES.general}-${'a'.repeat(32)}`;

/** Addresses at which nothing is. */
const PATHS: readonly string[] = [
  '/v1/',
  '/v1//runs',
  '/v1/runs/',
  '/v1/runs/../runs/x',
  '/v1/runs/%2e%2e/x',
  '/v1/runs/x/y',
  `/v1/runs/${RUN_ID}`,
  `/v1/runs/${RUN_ID.toLowerCase()}`,
  `/v1/runs/${RUN_ID}%00`,
  `/v1/runs/${RUN_ID}~abc`,
  `/v1/runs/${PLACES.general}:caller.other-job.${'a'.repeat(32)}`,
  `/v1/runs/${PLACES.general}-${'a'.repeat(31)}g`,
  '/v1/runs/*',
  '/v1/runs/{id}',
  '/v1/runs/__proto__',
  '/v1/runs/constructor',
  `/v1/runs/${'a'.repeat(3_000)}`,
  '/v1/runs/%F0%9F%92%A9',
  '/v1/runs/%ff',
  '/v1/RUNS',
  '/v1/tools/x',
  '/v1/admin',
  '/v1/asks/x',
  '/v1/.env',
  '/v1/openapi.json/x',
  '/v1/runs;a=b',
];

/** Bodies that are no request. */
const BODIES: readonly string[] = [
  '',
  ' ',
  'null',
  'true',
  '1',
  '"text"',
  '[]',
  '{}',
  '{"tool":1}',
  '{"tool":""}',
  '{"tool":"refund_order","input":null}',
  '{"tool":"refund_order","input":[]}',
  '{"tool":"refund_order","input":"x"}',
  '{"tool":"refund_order","input":{}}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":-1}}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":1.5}}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":12345678901234567890}}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":"500"}}',
  '{"tool":"refund_order","input":{"orderId":"","amount":500}}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"caller":"other-job"}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"owner":"U0ALICE002"}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"approved":true}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"on_behalf_of":"U0ALICE002"}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"link":"javascript:alert(1)"}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"link":"http://ci.example.com/"}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"link":"https://ci.example.com.evil.example/"}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"link":"https://ci.example.com:8443/"}',
  `{"tool":"refund_order","input":{"orderId":"A-1001","amount":500},"explanation":"${'x'.repeat(3_001)}"}`,
  '{"tool":"REFUND_ORDER","input":{"orderId":"A-1001","amount":500}}',
  '{"tool":"refund_order ","input":{"orderId":"A-1001","amount":500}}',
  '{"tool":"__proto__","input":{}}',
  '{"tool":"constructor","input":{}}',
  '{"tool":"apply_manifest","input":{"from":"a","to":"b","diff":"c"}}',
  '{"tool":"ask_question","input":{"question":"?"}}',
  '{"tool":"complete_task","input":{"outcome":"done","summary":"x"}}',
  '{"tool":"refund_order","input":{"orderId":"A-1001","amount":500}',
  "{'tool':'refund_order'}",
  '{"tool":"refund_order",}',
  '\u0000',
  `{"tool":"refund_order","input":${'{"a":'.repeat(200)}1${'}'.repeat(200)}}`,
  '['.repeat(100_000),
];

const KEYS_FOR_ONCE = [' ', 'a b', 'x'.repeat(256), 'ä', 'a\tb'];
const TYPES = [
  '',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/json',
  'application/jsonx',
];
const METHODS = ['PUT', 'PATCH', 'OPTIONS', 'DELETE', 'HEAD', 'TRACE'];

const attacks: readonly Hostile[] = [
  ...PROOFS.flatMap((authorization): Hostile[] =>
    [
      { what: 'proof', method: 'POST', path: '/v1/runs', body: post },
      { what: 'proof', method: 'GET', path: `/v1/runs/${RUN_ID}` },
      { what: 'proof', method: 'GET', path: '/v1/tools' },
    ].map((attack) => ({
      ...attack,
      headers: { 'content-type': 'application/json', ...(authorization !== '' && { authorization }) },
    })),
  ),
  ...PATHS.flatMap((path): Hostile[] => [
    { what: 'path', method: 'GET', path, headers: GOOD },
    { what: 'path', method: 'DELETE', path, headers: GOOD },
  ]),
  ...BODIES.map((body): Hostile => ({ what: 'body', method: 'POST', path: '/v1/runs', headers: GOOD, body })),
  ...KEYS_FOR_ONCE.map(
    (key): Hostile => ({
      what: 'key',
      method: 'POST',
      path: '/v1/runs',
      headers: { ...GOOD, 'idempotency-key': key },
      body: post,
    }),
  ),
  ...TYPES.map(
    (type): Hostile => ({
      what: 'type',
      method: 'POST',
      path: '/v1/runs',
      headers: { authorization: GOOD.authorization, ...(type !== '' && { 'content-type': type }) },
      body: post,
    }),
  ),
  ...METHODS.flatMap((method): Hostile[] => [
    { what: 'method', method, path: '/v1/runs', headers: GOOD },
    { what: 'method', method, path: '/v1/tools', headers: GOOD },
  ]),
];

/** Sends a request as it is, byte for byte, and returns the status and the text of the answer. */
function sendRaw(port: number, { method = 'GET', path = '/', headers = {}, body }: Hostile) {
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    'connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]),
  ];
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`),
    );
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text });
    });
  });
}

test(`of ${attacks.length} hostile requests none is let in, and no secret is in an answer, a log line, a card or the audit log`, async () => {
  expect(attacks.length).toBeGreaterThanOrEqual(200);
  const lines: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const door = await startCalling();
  const bot = await door.startOwnBot({ logger: pino({ level: 'trace' }, stream) });
  onTestFinished(() => bot.stop());
  const answers: string[] = [];
  for (const attack of attacks) {
    const { status, text } = await sendRaw(bot.port, attack);
    answers.push(text);
    const sent = `${attack.what} ${attack.method} ${attack.path} ${JSON.stringify(attack.headers)} ${attack.body?.slice(0, 200)}`;
    expect(status, `${sent}\n${text}`).toBeGreaterThanOrEqual(400);
    expect(status, `${sent}\n${text}`).toBeLessThan(500);
  }
  const tooLong = await sendRaw(bot.port, {
    what: 'body',
    method: 'POST',
    path: '/v1/runs',
    headers: GOOD,
    body: `{"tool":"refund_order","input":{"orderId":"${'x'.repeat(1_000_001)}"}}`,
  });
  expect(tooLong.status).toBe(413);
  const rows: string[] = [];
  for await (const row of openRedisStore({ client: door.redis, prefix: door.prefix }).exportAudit())
    rows.push(`${row.event} ${row.detail} ${row.body}`);
  expect(rows.filter((row) => row.startsWith('caller-refused'))).not.toEqual([]);
  expect(rows.length).toBeLessThan(20);
  expect(rows.join('\n')).not.toMatch(/asked|effect-started/);
  expect(await door.refunded()).toBe(0);
  expect(door.workspace.messagesIn(PLACES.general)).toEqual([]);
  const seen = [...answers, ...lines, ...rows].join('\n');
  for (const key of Object.values(KEYS)) expect(seen).not.toContain(key);
  expect(seen).not.toMatch(/ at \/|node:internal/);
  // And the door still works.
  const small = await door.refund(500);
  expect((await door.end(small.body.id)).body.status).toBe('succeeded');
});
