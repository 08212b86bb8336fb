import { describe, expect, test } from 'vitest';
import { type HttpTemplate, httpProblems } from '../../../src/tools/http/http-definition.ts';
import { httpTool } from '../../../src/tools/http/http-tool.ts';

const inputSchema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    note: { type: 'string' },
    order: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
    free: { type: 'object' },
    one: { anyOf: [{ type: 'object' }, { type: 'null' }] },
  },
  required: ['id', 'order'],
};
const sound: HttpTemplate = { method: 'POST', url: 'https://api.example/{{input.id}}' };

describe('a mistake in a template is told with its place', () => {
  test.each<[string, Partial<HttpTemplate>, string, string]>([
    ['an unknown method', { method: 'TRACE' }, 'method', 'one of GET, POST'],
    ['another scheme', { url: 'ftp://api.example/' }, 'url', 'must look like'],
    ['no scheme', { url: '//api.example/' }, 'url', 'must look like'],
    ['a placeholder as scheme', { url: '{{input.id}}://api.example/' }, 'url', 'must look like'],
    ['a placeholder as host', { url: 'https://{{input.id}}/' }, 'url', 'may hold no placeholder'],
    ['a placeholder in the host', { url: 'https://{{input.id}}.example/' }, 'url', 'may hold no placeholder'],
    [
      'a placeholder that ends the host',
      { url: 'https://api.example{{input.id}}' },
      'url',
      'may hold no placeholder',
    ],
    ['a placeholder as port', { url: 'https://api.example:{{input.id}}/' }, 'url', 'may hold no placeholder'],
    [
      'a placeholder as user name',
      { url: 'https://{{input.id}}@api.example/' },
      'url',
      'may hold no placeholder',
    ],
    ['credentials', { url: 'https://ann:pw@api.example/' }, 'url', 'no user name or password'],
    ['a fragment', { url: 'https://api.example/#{{input.id}}' }, 'url', 'with no "#"'],
    ['a backslash', { url: 'https://api.example\\{{input.id}}' }, 'url', 'backslash'],
    ['a tabulator in the scheme', { url: 'ht\ttps://api.example/' }, 'url', 'control character'],
    ['a host that is none', { url: 'https://a b/' }, 'url', 'blank'],
    ['a port that is none', { url: 'https://api.example:99999/' }, 'url', 'not a host'],
    [
      'an optional input in the path',
      { url: 'https://api.example/{{input.note}}' },
      'url',
      'must require it',
    ],
    [
      'an unknown input in the path',
      { url: 'https://api.example/{{input.nope}}' },
      'url',
      'names no property',
    ],
    [
      'an unknown input in the URL query',
      { url: 'https://api.example/?a={{input.nope}}' },
      'url',
      'names no property',
    ],
    ['a broken placeholder', { url: 'https://api.example/{{id}}' }, 'url', 'is not a placeholder'],
    [
      'a placeholder in a header name',
      { headers: { 'X-{{input.id}}': 'a' } },
      'headers.X-{{input.id}}',
      'not the name',
    ],
    [
      'a header of the connection',
      { headers: { Host: 'evil.example' } },
      'headers.Host',
      'belongs to the connection',
    ],
    [
      'two requests in one',
      { headers: { 'Transfer-Encoding': 'chunked' } },
      'headers.Transfer-Encoding',
      'belongs',
    ],
    ['a header of two lines', { headers: { 'X-A': 'a\nb' } }, 'headers.X-A', 'one line'],
    [
      'a content type from outside',
      { headers: { 'content-type': '{{input.id}}' } },
      'headers.content-type',
      'no placeholder',
    ],
    ['the idempotency key', { headers: { 'idempotency-KEY': 'a' } }, 'headers.idempotency-KEY', 'by itself'],
    [
      'an unknown input in a header',
      { headers: { 'X-A': '{{input.nope}}' } },
      'headers.X-A',
      'names no property',
    ],
    [
      'a placeholder in a query name',
      { query: { '{{input.id}}': 'a' } },
      'query.{{input.id}}',
      'not in a name',
    ],
    [
      'an unknown input in a query list',
      { query: { a: ['{{input.nope}}'] } },
      'query.a',
      'names no property',
    ],
    ['a body of a GET', { method: 'GET', body: 'x' }, 'body', 'a GET has no body'],
    [
      'an unknown input deep in the body',
      { body: { a: [{ b: '{{input.nope}}' }] } },
      'body.a.0.b',
      'names no property',
    ],
    ['an unknown part of an input', { body: { a: '{{input.order.nope}}' } }, 'body.a', 'names no property'],
    ['a part of a text', { body: { a: '{{input.id.part}}' } }, 'body.a', 'names no property'],
    [
      'a placeholder in a name of the body',
      { body: { '{{input.id}}': 1 } },
      'body.{{input.id}}',
      'not in a name',
    ],
    [
      'JSON as text',
      { body: '{"a":"{{input.id}}"}', headers: { 'content-type': 'application/json' } },
      'body',
      'as a tree',
    ],
    ['a tree as XML', { body: {}, headers: { 'content-type': 'text/xml' } }, 'body', 'not as text/xml'],
    ['a tree as CSV', { body: {}, headers: { 'content-type': 'text/csv' } }, 'body', 'not as text/csv'],
    [
      'a value in CSV',
      { body: '{{input.id}}', headers: { 'content-type': 'text/csv' } },
      'body',
      'cannot be written safely',
    ],
  ])('%s', (_mistake, change, at, message) => {
    const problems = httpProblems({ ...sound, ...change }, inputSchema, { idempotent: true });
    expect(problems.map((problem) => problem.at.join('.'))).toEqual([at]);
    expect(problems[0]?.message).toContain(message);
  });

  test('and all of them at once', () => {
    const template = {
      method: 'GRAB',
      url: 'x',
      headers: { Host: 'a' },
      body: { a: '{{input.nope}}', b: '{{b}}' },
    };
    const problems = httpProblems(template, inputSchema);
    expect(problems.map(({ at }) => at.join('.'))).toEqual([
      'method',
      'url',
      'headers.Host',
      'body',
      'body.a',
      'body.b',
    ]);
    expect(() => httpTool({ ...template, name: 'grab', description: '', inputSchema })).toThrow(
      /^Tool "grab": method: .*; url: .*; body\.b: /,
    );
  });
});

test('what an input schema leaves open may be named', () => {
  const body = ['{{input.free.any}}', '{{input.tags.0.name}}', '{{input.one.any}}', '{{input.order.id}}'];
  const template = { ...sound, url: 'https://api.example/{{input.order.id}}?n={{input.note}}', body };
  expect(httpProblems(template, inputSchema)).toEqual([]);
});
