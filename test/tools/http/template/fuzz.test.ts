import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type JsonObject, type JsonValue, toJson } from '../../../../src/agent/json.ts';
import { HttpError } from '../../../../src/tools/errors.ts';
import { addressKind } from '../../../../src/tools/http/guard/allowed-hosts.ts';
import { httpTool } from '../../../../src/tools/http/http-tool.ts';
import { fillUrl, parseUrlTemplate } from '../../../../src/tools/http/template.ts';
import { type RecordingServer, startRecordingServer } from '../recording-server.ts';
import { runTool } from '../run-tool.ts';

let server: RecordingServer;
beforeAll(async () => {
  server = await startRecordingServer();
});
afterAll(() => server.stop());

// Letters that mean something to a URL, a header or a body, far more often than chance would give them.
const piece = fc.constantFrom(
  ...[
    '/',
    '\\',
    '?',
    '#',
    '&',
    '=',
    '@',
    ':',
    '.',
    '..',
    '%',
    '%2e',
    '%2f',
    '\r',
    '\n',
    '\0',
    '\t',
    ' ',
    '"',
    '<',
  ],
  ...[
    '//evil.example',
    'http://',
    '127.0.0.1',
    '{{input.b}}',
    '\r\nHost: evil.example\r\n\r\n',
    '。',
    '\ud800',
    '\u202e',
  ],
);
const nasty = fc.array(fc.oneof(piece, fc.string()), { maxLength: 6 }).map((parts) => parts.join(''));
const value: fc.Arbitrary<JsonValue> = fc.oneof(nasty, fc.jsonValue().map(toJson));
const input = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { noNullPrototype: true });

const properties = { a: {}, b: {}, c: {} };
const places = {
  url: '/fixed/{{input.a}}/x{{input.b}}y?p={{input.c}}&{{input.a}}=1',
  query: { q: '{{input.a}}', r: 'x{{input.b}}y', s: ['{{input.c}}', '{{input.a}}'] },
};

test('no input changes the scheme, the host, the port or the number of segments of a URL', () => {
  const template = parseUrlTemplate(`https://api.example:8443${places.url}`, places.query);
  if (typeof template === 'string') throw new Error(template);
  fc.assert(
    fc.property(input, (given) => {
      let url: URL;
      try {
        url = fillUrl(template, given);
      } catch (error) {
        expect(error).toBeInstanceOf(HttpError);
        return;
      }
      expect(url.origin).toBe('https://api.example:8443');
      expect(url.username + url.password + url.hash).toBe('');
      expect(url.pathname.split('/')).toHaveLength(4);
      expect(url.pathname).toMatch(/^\/fixed\/[^/]+\/x[^/]*y$/);
      expect(new Set(url.searchParams.keys())).toEqual(
        new Set(
          [...url.searchParams.keys()].filter((name) => ['p', 'q', 'r', 's', String(given.a)].includes(name)),
        ),
      );
    }),
    { numRuns: 1500 },
  );
});

test('no input sends a request to another host, or more than one, or with a header of its own', async () => {
  const asked = new Set<string>();
  const tool = httpTool({
    name: 'fuzzed',
    description: '',
    inputSchema: { type: 'object', properties, required: ['a', 'b'] },
    method: 'POST',
    ...places,
    url: `http://target.example:${server.port}${places.url}`,
    headers: { 'X-A': '{{input.a}}', 'X-B': 'b {{input.b}}' },
    body: { whole: '{{input.a}}', part: 'x{{input.b}}', list: ['{{input.c}}'] },
    allowPrivate: ['target.example', 'evil.example', '127.0.0.1'],
    lookup: async (hostname) => {
      asked.add(hostname);
      return ['127.0.0.1'];
    },
  });
  const known = [
    'x-a',
    'x-b',
    'host',
    'connection',
    'content-type',
    'content-length',
    'user-agent',
    'accept',
  ];
  const alsoSent = ['accept-language', 'accept-encoding', 'sec-fetch-mode'];
  let sent = 0;
  const required = fc.tuple(nasty, nasty, fc.option(value, { nil: undefined }));
  await fc.assert(
    fc.asyncProperty(required, async ([a, b, c]) => {
      const given: JsonObject = { a, b, ...(c !== undefined && { c }) };
      const before = server.requests.length;
      const outcome = await runTool(tool, given).catch((error: unknown) => error);
      if (outcome instanceof HttpError) {
        expect(outcome.code).toBe('invalid-input');
        expect(server.requests.length).toBe(before);
        return;
      }
      expect(outcome).toBe('reached');
      expect(server.requests.length).toBe(before + 1);
      const request = server.requests[before];
      sent += 1;
      expect(request?.headers.host).toBe(`target.example:${server.port}`);
      expect(
        Object.keys(request?.headers ?? {}).filter((name) => ![...known, ...alsoSent].includes(name)),
      ).toEqual([]);
      expect(JSON.parse(request?.body ?? '')).toEqual({
        whole: a,
        part: `x${b}`,
        list: c === undefined ? [] : [toJson(c)],
      });
    }),
    { numRuns: 200 },
  );
  expect([...asked]).toEqual(['target.example']);
  expect(sent).toBeGreaterThan(0);
});

test('no IPv4 address is public in one spelling and private in another', () => {
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), fc.constantFrom('10.0.0.1', '169.254.169.254', '8.8.8.8')), (address) => {
      const kind = addressKind(address);
      expect(addressKind(`::ffff:${address}`)).toBe(kind);
      expect(addressKind(`64:ff9b::${address}`)).toBe(kind);
      expect(addressKind(`::${address}`)).not.toBe('public');
      expect(addressKind(`::ffff:0:${address}`)).not.toBe('public');
    }),
  );
});
