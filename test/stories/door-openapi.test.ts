import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type Document, OpenAPIClientAxios } from 'openapi-client-axios';
import { expect, test } from 'vitest';
import { nonEmpty } from '../support/non-empty.ts';
import { KEYS, startCalling } from './calling.ts';
import { CAST } from './support.ts';

const ACTION = { policy: 'release', title: 'Release 12', command: 'make release' };

/** Starts a bot and reads its document, as anybody can. */
async function startWithDocument() {
  const door = await startCalling();
  const url = `http://127.0.0.1:${door.bot().port}/v1/openapi.json`;
  const response = await fetch(url);
  expect(response.status).toBe(200);
  const document: Document = JSON.parse(await response.text());
  return { door, document, url };
}

test('the document of the door is valid OpenAPI 3.1 with an id and refusals for each operation', async () => {
  const { document } = await startWithDocument();
  const validator = new Validator();
  expect(await validator.validate({ ...document })).toEqual({ valid: true });
  expect(validator.version).toBe('3.1');
  expect(document.servers).toEqual([{ url: '/' }]);
  const operations = nonEmpty(Object.values(document.paths ?? {})).flatMap((path) => [
    ...(path?.get === undefined ? [] : [path.get]),
    ...(path?.post === undefined ? [] : [path.post]),
    ...(path?.delete === undefined ? [] : [path.delete]),
  ]);
  const ids = operations.map(({ operationId }) => operationId);
  expect(ids.sort()).toEqual([
    'createAsk',
    'createRun',
    'listTools',
    'readAsk',
    'readRun',
    'reportAsk',
    'startAsk',
    'withdrawAsk',
    'withdrawRun',
  ]);
  for (const { responses } of nonEmpty(operations)) expect(responses).toHaveProperty('401');
});

test('the document says what the door accepts: one of command, files and diff, and which keys', async () => {
  const { document, door } = await startWithDocument();
  const fits = new Ajv2020({ validateFormats: false }).compile({
    ...document.components?.schemas?.AskRequest,
  });
  const { command, ...nothing } = ACTION;
  const files = [{ path: 'plan.bin', sha256: 'a'.repeat(64) }];
  for (const named of [{ command }, { files }, { diff: '+ a' }, { command, files }])
    expect(fits({ ...nothing, ...named })).toBe(true);
  expect(fits(nothing)).toBe(false);
  expect(await door.send('POST', '/v1/asks', { body: nothing })).toMatchObject({ code: 422 });
  const parameters = document.paths?.['/v1/asks']?.post?.parameters;
  expect(parameters).toEqual([
    expect.objectContaining({
      name: 'Idempotency-Key',
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    }),
  ]);
});

test('a client made from the document alone makes a whole ask', async () => {
  const { door, document, url } = await startWithDocument();
  const [server = { url: '' }] = document.servers ?? [];
  const client = await new OpenAPIClientAxios({
    definition: document,
    axiosConfigDefaults: {
      baseURL: new URL(server.url, url).href,
      headers: { authorization: `Bearer ${KEYS.pipeline}` },
      validateStatus: () => true,
    },
  }).init();
  const call = async (name: string, id?: string, body?: object, more = {}) => {
    const operation = client[name];
    if (typeof operation !== 'function') throw new Error(`the document has no ${name}`);
    const { status, data } = await operation(id === undefined ? {} : { id, ...more }, body);
    return { status, data };
  };
  expect(await call('listTools')).toMatchObject({ status: 200 });
  const asked = await call('createAsk', undefined, ACTION);
  expect(asked).toMatchObject({ status: 202, data: { action: ACTION } });
  const { id } = asked.data;
  expect(await call('startAsk', id)).toMatchObject({ status: 409, data: { code: 'not-approved' } });
  await door.place.click(CAST.alice, /Approval needed/, 'approve');
  expect(await call('readAsk', id, undefined, { wait: 60 })).toMatchObject({ data: { status: 'approved' } });
  expect(await call('startAsk', id)).toMatchObject({ status: 200, data: { status: 'running' } });
  const reported = await call('reportAsk', id, { outcome: 'succeeded' });
  expect(reported).toMatchObject({ status: 200, data: { status: 'succeeded' } });
  expect(await call('withdrawAsk', id)).toMatchObject({ status: 409, data: { code: 'too-late' } });
});
