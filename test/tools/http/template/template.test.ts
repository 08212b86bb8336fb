import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../../src/agent/json.ts';
import { selectValue } from '../../../../src/tools/http/read-response.ts';
import {
  bodyFormat,
  fillBody,
  fillHeaders,
  fillUrl,
  parseUrlTemplate,
  placeholdersOf,
  type QueryValue,
} from '../../../../src/tools/http/template.ts';

function urlOf(url: string, input: JsonObject, query: Record<string, QueryValue> = {}): string {
  const template = parseUrlTemplate(url, query);
  if (typeof template === 'string') throw new Error(template);
  return fillUrl(template, input).href;
}

function bodyOf(body: JsonValue, input: JsonObject, contentType?: string): string | undefined {
  const format = bodyFormat(contentType, body);
  if (format === undefined) throw new Error(`no format for ${contentType}`);
  return fillBody(body, format, input);
}

describe('a value in the path', () => {
  test.each([
    ['a slash', 'a/b', 'a%2Fb'],
    ['a query', 'a?b=c', 'a%3Fb%3Dc'],
    ['a fragment', 'a#b', 'a%23b'],
    ['a percent sign', '%2e%2e', '%252e%252e'],
    ['a backslash', 'a\\b', 'a%5Cb'],
    ['an at sign', '@evil.example', '%40evil.example'],
    ['a host', '//evil.example/', '%2F%2Fevil.example%2F'],
    ['a line break', 'a\r\nb', 'a%0D%0Ab'],
    ['a tabulator', 'a\tb', 'a%09b'],
    ['a matrix parameter', 'a;b=c', 'a%3Bb%3Dc'],
    ['letters of every kind', 'ü€😀', '%C3%BC%E2%82%AC%F0%9F%98%80'],
    ['a number', 12, '12'],
    ['zero', 0, '0'],
    ['false', false, 'false'],
  ])('cannot leave its segment: %s', (_kind, id, written) => {
    expect(urlOf('https://api.example/orders/{{input.id}}/items', { id })).toBe(
      `https://api.example/orders/${written}/items`,
    );
  });

  test.each(['', '.', '..', '../admin', 'a/../b', '..\\admin', './x', 'x/..'])('cannot climb: "%s"', (id) => {
    expect(() => urlOf('https://api.example/orders/{{input.id}}', { id })).toThrow(
      '"id" is in the path of a URL and may not be empty, "." or ".."; nothing was sent.',
    );
  });

  test.each([
    ['/.{{input.id}}/x', '.'],
    ['/.{{input.id}}/x', ''],
    ['/%2e{{input.id}}%2E/x', ''],
    ['/%2e{{input.id}}/x', '.'],
    ['/{{input.id}}{{input.id}}/x', '.'],
  ])('cannot become a step upwards together with what stands beside it: %s', (path, id) => {
    expect(() => urlOf(`https://api.example/a${path}`, { id })).toThrow('nothing was sent');
  });

  test.each([[undefined], [null], [['a']], [{ a: 1 }]])('must be one word: %j', (id) => {
    expect(() => urlOf('https://api.example/orders/{{input.id}}', id === undefined ? {} : { id })).toThrow(
      'nothing was sent',
    );
  });

  test('that is half a character is refused', () => {
    expect(() => urlOf('https://api.example/{{input.id}}', { id: '\ud800' })).toThrow(
      'contains an invalid Unicode character',
    );
  });
});

describe('a value in the query', () => {
  test('cannot open another pair, in the URL or in the table', () => {
    const input = { term: 'a&admin=1#x =+' };
    const written = 'a%26admin%3D1%23x%20%3D%2B';
    expect(urlOf('https://api.example/find?q={{input.term}}', input)).toBe(
      `https://api.example/find?q=${written}`,
    );
    expect(urlOf('https://api.example/find', input, { q: 'x{{input.term}}' })).toBe(
      `https://api.example/find?q=x${written}`,
    );
  });

  test('that was not given leaves its pair out, and only that', () => {
    const query = { a: '{{input.a}}', b: 'is {{input.b}}', c: 3, d: true };
    expect(urlOf('https://api.example/?x={{input.a}}&y=1', { b: 'here', a: null }, query)).toBe(
      'https://api.example/?y=1&b=is%20here&c=3&d=true',
    );
  });

  test('is kept when it is empty, zero or false', () => {
    const query = { a: '{{input.a}}', b: '{{input.b}}', c: '{{input.c}}' };
    expect(urlOf('https://api.example/', { a: '', b: 0, c: false }, query)).toBe(
      'https://api.example/?a=&b=0&c=false',
    );
  });

  test('is repeated for each entry of a list', () => {
    expect(urlOf('https://api.example/', { tags: ['a', 'b&c', 3] }, { tag: '{{input.tags}}' })).toBe(
      'https://api.example/?tag=a&tag=b%26c&tag=3',
    );
    expect(() => urlOf('https://api.example/', { tags: [{}] }, { tag: '{{input.tags}}' })).toThrow(
      'nothing was sent',
    );
  });

  test('stands beside names and constants that are encoded as well', () => {
    expect(urlOf('https://api.example', {}, { 'a&b': 'c&d', list: ['1', 2] })).toBe(
      'https://api.example/?a%26b=c%26d&list=1&list=2',
    );
  });
});

describe('a value in a header', () => {
  test.each(['a\r\nX-Admin: 1', 'a\nb', 'a\rb', 'a\0b', 'a\u007fb', 'a\u001bb', 'a\n', '€', '\u2028'])(
    'is refused when it is not one plain line: %j',
    (note) => {
      expect(() => fillHeaders({ 'X-Note': 'says {{input.note}}' }, { note })).toThrow(
        '"note" is in the header X-Note and may hold no line break',
      );
    },
  );

  test('is written as it is, and left out with its header when it was not given', () => {
    const templates = { 'X-A': '{{input.a}}', 'X-B': 'b {{input.b}}', 'X-C': 'c' };
    expect([...fillHeaders(templates, { a: 0 })]).toEqual([
      ['x-a', '0'],
      ['x-c', 'c'],
    ]);
  });
});

describe('a value in a JSON body', () => {
  test.each([[0], [''], [false], [null], [12.5], ['text'], [['a', 1]], [{ deep: [{ er: null }] }]])(
    'keeps its type where it stands alone: %j',
    (value) => {
      expect(bodyOf({ it: '{{input.value}}' }, { value })).toBe(JSON.stringify({ it: value }));
    },
  );

  test('cannot end the text it stands in', () => {
    const body = bodyOf({ note: 'Says: {{input.note}}' }, { note: '", "admin": true, "x": "' });
    expect(JSON.parse(body ?? '')).toEqual({ note: 'Says: ", "admin": true, "x": "' });
  });

  test('is not itself read as a template', () => {
    expect(bodyOf({ note: '{{input.note}}' }, { note: '{{input.secret}}', secret: 's' })).toBe(
      '{"note":"{{input.secret}}"}',
    );
    expect(
      urlOf('https://api.example/{{input.note}}', { note: '{{input.secret}}', secret: 's' }),
    ).not.toContain('/s');
  });

  test('that was not given leaves its entry out, in objects, lists and texts', () => {
    const tree = {
      a: '{{input.a}}',
      b: ['{{input.a}}', 1, 'x{{input.a}}'],
      c: { d: '{{input.a}}' },
      e: null,
    };
    expect(bodyOf(tree, {})).toBe('{"b":[1],"c":{},"e":null}');
    expect(bodyOf('{{input.a}}', {}, 'application/json')).toBeUndefined();
  });

  test('is found only among what was given, never among what every object has', () => {
    expect(
      bodyOf({ a: '{{input.constructor}}', b: '{{input.x.length}}', c: '{{input.__proto__}}' }, { x: [1] }),
    ).toBe('{}');
  });

  test('may stand under any name', () => {
    const tree = JSON.parse('{"__proto__": "{{input.a}}"}');
    expect(bodyOf(tree, { a: 1 })).toBe('{"__proto__":1}');
  });
});

describe('a value in a text body', () => {
  test('is written as form fields are', () => {
    const type = 'application/x-www-form-urlencoded; charset=utf-8';
    expect(bodyOf('a={{input.a}}&b={{input.b}}&c=1', { a: 'x&admin=1' }, type)).toBe('a=x%26admin%3D1&c=1');
    expect(bodyOf({ a: '{{input.a}}', b: '{{input.b}}', n: [1, 2] }, { a: 'x&y=1' }, type)).toBe(
      'a=x%26y%3D1&n=1&n=2',
    );
    expect(() => bodyOf({ a: '{{input.a}}' }, { a: {} }, type)).toThrow('The form field "a"');
  });

  test.each(['text/xml', 'application/xml', 'application/soap+xml', 'text/html'])(
    'cannot open markup in %s',
    (type) => {
      expect(bodyOf('<a b="{{input.x}}">{{input.x}}</a>', { x: `"'><x>&]]>` }, type)).toBe(
        '<a b="&quot;&#39;&gt;&lt;x&gt;&amp;]]&gt;">&quot;&#39;&gt;&lt;x&gt;&amp;]]&gt;</a>',
      );
    },
  );

  test('is written as it is into plain text, and as nothing when it was not given', () => {
    expect(bodyOf('{{input.a}} & {{input.b}}!', { a: '<x>' })).toBe('<x> & !');
  });

  test.each(['multipart/form-data', 'text/csv', 'application/graphql', 'application/octet-stream'])(
    'of %s is not attempted',
    (type) => {
      expect(bodyFormat(type, '{{input.a}}')).toBeUndefined();
    },
  );
});

describe('placeholdersOf', () => {
  test('lists every input of a template once, however deep', () => {
    const tree = {
      a: '{{input.x}} {{ input.order.id }}',
      b: [{ c: '{{input.x}}' }, 1, null],
      d: '{{input.list.0}}',
    };
    expect(placeholdersOf(tree)).toEqual([['x'], ['order', 'id'], ['list', '0']]);
  });

  test.each([
    '{{x}}',
    '{{ inputs.x }}',
    '{{input}}',
    '{{input.}}',
    '{{input.x',
    '{{input..x}}',
    '{{input.x y}}',
  ])('takes nothing else in double braces: %s', (text) => {
    expect(() => placeholdersOf(text)).toThrow('is not a placeholder; write {{input.name}}');
  });
});

describe('select', () => {
  const answer = { data: { items: [{ id: 0 }, { id: null }], 'a/b': { '~': 1 } }, 'x.y': 2 };

  test.each<[string, JsonValue | undefined]>([
    ['', answer],
    ['data.items.0.id', 0],
    ['data.items.1.id', null],
    ['/data/items/0', { id: 0 }],
    ['/data/a~1b/~0', 1],
    ['/x.y', 2],
    ['data.items.2', undefined],
    ['data.items.length', undefined],
    ['data.items.-1', undefined],
    ['constructor', undefined],
    ['/__proto__', undefined],
    ['data..items', undefined],
  ])('"%s"', (select, expected) => {
    expect(selectValue(answer, select)).toEqual(expected);
  });
});
